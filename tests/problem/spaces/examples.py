"""Small example spaces, each with its rules said a second time in plain Python.

The second telling follows the words of the paper (appendix C) and looks at no matrix: it tries
every way to hand arms to workers, every way to book visits, every walk.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest

from sequoia.errors import InfeasibleDecision, TooLarge
from sequoia.problem.rules import Floor, Lock, Rules
from sequoia.problem.spaces import (
    ActionSpace,
    Assignment,
    Budget,
    Custom,
    Rota,
    Schedule,
    Team,
    Walk,
    with_rules,
)
from sequoia.problem.system import LinearSystem
from sequoia.solvers import Highs, Status

Chosen = frozenset[int]
Accepts = Callable[[Chosen], bool]


@dataclass(frozen=True)
class Example:
    """A space and, said independently, which sets of columns it allows."""

    name: str
    space: ActionSpace
    accepts: Accepts

    @cached_property
    def feasible(self) -> set[Chosen]:
        return {chosen for chosen in every_set(self.space.n_actions) if self.accepts(chosen)}

    @cached_property
    def maximal(self) -> set[Chosen]:
        return {a for a in self.feasible if not any(a < b for b in self.feasible)}


def every_set(size: int) -> list[Chosen]:
    return [frozenset(c) for k in range(size + 1) for c in combinations(range(size), k)]


def chosen_of(action) -> Chosen:
    return frozenset(np.flatnonzero(action).tolist())


def action_of(chosen: Chosen, size: int) -> np.ndarray:
    action = np.zeros(size, dtype=np.int8)
    action[list(chosen)] = 1
    return action


# The rules in words.


def within_budget(costs: Sequence[float], limit: float) -> Accepts:
    return lambda chosen: sum(costs[j] for j in chosen) <= limit


def can_be_assigned(costs: Sequence[float], capacities: Sequence[float]) -> Accepts:
    """Some way to give each chosen arm to one worker keeps every worker within capacity."""

    def accepts(chosen: Chosen) -> bool:
        for workers in product(range(len(capacities)), repeat=len(chosen)):
            patterns = [0.0] * len(capacities)
            for arm, worker in zip(chosen, workers, strict=True):
                patterns[worker] += costs[arm]
            if all(load <= room for load, room in zip(patterns, capacities, strict=True)):
                return True
        return False

    return accepts


def can_be_booked(worker_slots, arm_slots, limit: int, visits: int, distinct: bool) -> Accepts:
    """Some way to book all visits uses each worker at most once per slot."""

    @cache
    def book(arms: tuple[int, ...], free: frozenset[tuple[int, int]]) -> bool:
        if not arms:
            return True
        suitable = [(worker, slot) for worker, slot in free if arm_slots[arms[0]][slot]]
        return any(
            book(arms[1:], free - set(team))
            for team in combinations(suitable, visits)
            if not distinct or len({worker for worker, _ in team}) == visits
        )

    everything = frozenset(
        (i, k) for i, slots in enumerate(worker_slots) for k, is_open in enumerate(slots) if is_open
    )
    return lambda chosen: len(chosen) <= limit and book(tuple(sorted(chosen)), everything)


def can_be_rostered(
    minutes,
    arm_slots,
    lengths,
    visits,
    may_visit,
    limit,
    distinct: bool,
    in_a_row: int | None,
    locks: Sequence[tuple[int | None, int | None, int]] = (),
) -> Accepts:
    """Some way to book all visits keeps minutes, workers who may come, rests and locks.

    A lock is a worker, a slot and an arm; ``None`` stands for any.
    """
    workers, n_slots = len(minutes), len(minutes[0]) if len(minutes) else 0

    def rests(booked: tuple[tuple[int, int, int], ...]) -> bool:
        if in_a_row is None:
            return True
        busy = {(worker, slot) for worker, slot, _ in booked}
        return not any(
            all((worker, first + step) in busy for step in range(in_a_row + 1))
            for worker in range(workers)
            for first in range(n_slots - in_a_row)
        )

    def keeps(booked: tuple[tuple[int, int, int], ...]) -> bool:
        return all(
            any(worker in (None, i) and slot in (None, k) and arm == j for i, k, j in booked)
            for worker, slot, arm in locks
        )

    @cache
    def book(arms: tuple[int, ...], booked: tuple[tuple[int, int, int], ...]) -> bool:
        if not arms:
            return rests(booked) and keeps(booked)
        arm = arms[0]
        used: dict[tuple[int, int], float] = {}
        for worker, slot, other in booked:
            used[worker, slot] = used.get((worker, slot), 0) + lengths[other]
        suitable = [
            (worker, slot)
            for worker in range(workers)
            for slot in range(n_slots)
            if may_visit[worker][arm]
            and arm_slots[arm][slot]
            and used.get((worker, slot), 0) + lengths[arm] <= minutes[worker][slot]
        ]
        return any(
            book(arms[1:], tuple(sorted((*booked, *((i, k, arm) for i, k in team)))))
            for team in combinations(suitable, visits[arm])
            if not distinct or len({worker for worker, _ in team}) == visits[arm]
        )

    return lambda chosen: len(chosen) <= limit and book(tuple(sorted(chosen)), ())


def sets_of_closed_walks(neighbours, source, length: int) -> set[frozenset]:
    """Return what each closed walk of at most ``length`` steps visits, by breadth-first search.

    ``neighbours`` maps a node to its neighbours and the steps to each.
    """
    seen = {(source, frozenset([source]), 0)}
    frontier = list(seen)
    while frontier:
        following = set()
        for node, visited, steps in frontier:
            for other, takes in neighbours[node].items():
                state = (other, visited | {other}, steps + takes)
                if state[2] <= length and state not in seen:
                    following.add(state)
        seen |= following
        frontier = list(following)
    return {visited for node, visited, _ in seen if node == source}


def neighbours_of(size: int, edges, lengths) -> dict[int, dict[int, int]]:
    neighbours: dict[int, dict[int, int]] = {node: {} for node in range(size)}
    for (a, b), takes in zip(edges, lengths, strict=True):
        neighbours[a][b] = neighbours[b][a] = takes
    return neighbours


def can_be_walked(size, edges, lengths, source, length, limit) -> Accepts:
    """Some closed walk of at most ``length`` steps visits everything that is chosen."""
    visited = sets_of_closed_walks(neighbours_of(size, edges, lengths), source, length)
    return lambda chosen: len(chosen) <= limit and any(chosen <= nodes for nodes in visited)


def can_be_toured(
    travel, service, depots, limits, barred=(), chain=(), begins=None, windows=None
) -> Accepts:
    """Some way to hand arms to walkers, and some order of each, keeps everybody's minutes.

    Ways round about are found by trying all orders of places in between. Some pairs of walker and
    arm may be barred, and the arms of a chain have to follow each other. Serving an arm begins
    within its window; whoever comes too early waits.
    """
    size = len(travel)
    begins = begins or [480] * len(limits)
    windows = windows or [(0, 9_999)] * len(service)

    @cache
    def way(a: int, b: int) -> float:
        others = [place for place in range(size) if place not in (a, b)]
        return min(
            sum(travel[x][y] for x, y in pairwise([a, *via, b]))
            for k in range(len(others) + 1)
            for via in permutations(others, k)
        )

    @cache
    def fits(walker: int, arms: frozenset[int]) -> bool:
        depot = depots[walker]
        return not arms or any(
            back(walker, depot, order) <= begins[walker] + limits[walker]
            and not any((walker, arm) in barred for arm in order)
            and follows(order)
            for order in permutations(arms)
        )

    def back(walker: int, depot: int, order: tuple[int, ...]) -> float:
        now, here = begins[walker], depot
        for arm in order:
            now = max(now + (way(here, arm) if here != arm else 0), windows[arm][0])
            if now > windows[arm][1]:
                return float("inf")
            now, here = now + service[arm], arm
        return now + (way(here, depot) if here != depot else 0)

    def follows(order: tuple[int, ...]) -> bool:
        pairs = set(pairwise(order))
        return not set(chain) & set(order) or all(pair in pairs for pair in pairwise(chain))

    def accepts(chosen: Chosen) -> bool:
        arms = sorted(chosen)
        return chosen.issuperset(chain) and any(
            all(
                fits(walker, frozenset(a for a, w in zip(arms, who, strict=True) if w == walker))
                for walker in range(len(limits))
            )
            for who in product(range(len(limits)), repeat=len(arms))
        )

    return accepts


def rules_hold(
    groups: Mapping[str, Sequence[int]],
    shares: Mapping[str, Fraction],
    counts: Mapping[str, int],
    must: Sequence[int],
    never: Sequence[int],
    at_most_one: Sequence[Sequence[int]],
) -> Accepts:
    def accepts(chosen: Chosen) -> bool:
        inside = {name: len(chosen.intersection(members)) for name, members in groups.items()}
        return (
            all(inside[name] >= share * len(chosen) for name, share in shares.items())
            and all(inside[name] >= count for name, count in counts.items())
            and chosen.issuperset(must)
            and chosen.isdisjoint(never)
            and all(len(chosen.intersection(several)) <= 1 for several in at_most_one)
        )

    return accepts


# A space together with its words.


def budget(name: str, costs, limit) -> Example:
    return Example(name, Budget(costs, limit), within_budget(costs, limit))


def assignment(name: str, costs, capacities) -> Example:
    return Example(name, Assignment(costs, capacities), can_be_assigned(costs, capacities))


def slots(*open_slots: str) -> np.ndarray:
    """Read rows such as ``"x.x"``, an x for an open slot."""
    return np.array([[c == "x" for c in row] for row in open_slots], dtype=np.bool_)


def schedule(name, worker_slots, arm_slots, limit, visits=2, distinct=False) -> Example:
    return Example(
        name,
        Schedule(worker_slots, arm_slots, limit, visits, distinct),
        can_be_booked(worker_slots.tolist(), arm_slots.tolist(), limit, visits, distinct),
    )


def rota(
    name,
    minutes,
    arm_slots,
    lengths,
    visits=1,
    may_visit=None,
    limit=None,
    distinct=False,
    in_a_row=None,
) -> Example:
    space = Rota(minutes, arm_slots, lengths, visits, may_visit, limit, distinct, in_a_row)
    return Example(
        name,
        space,
        can_be_rostered(
            space.minutes.tolist(),
            space.arm_slots.tolist(),
            space.lengths.tolist(),
            space.visits.tolist(),
            space.may_visit.tolist(),
            space.limit,
            distinct,
            in_a_row,
        ),
    )


def path(name, edges, source, length, limit, lengths=None, size=None) -> Example:
    size = size or max(map(max, edges)) + 1
    names = None if size is None else [f"node {i}" for i in range(size)]
    takes = [1] * len(edges) if lengths is None else lengths
    return Example(
        name,
        Walk(edges, source, length, limit, lengths, names),
        can_be_walked(size, edges, takes, source, length, limit),
    )


def team(name, travel, service, depots, limits, begins=None, windows=None) -> Example:
    return Example(
        name,
        Team(travel, service, depots, limits, begins=begins, windows=windows),
        can_be_toured(travel, service, depots, limits, begins=begins, windows=windows),
    )


def custom(name, matrix, lower, upper, n_actions: int) -> Example:
    """Rows that a user writes; the words try every plan, number by number."""
    n_plan = len(matrix[0]) - n_actions

    def accepts(chosen: Chosen) -> bool:
        action = tuple(int(i in chosen) for i in range(n_actions))
        return any(
            all(
                low <= sum(c * x for c, x in zip(row, action + plan, strict=True)) <= high
                for row, low, high in zip(matrix, lower, upper, strict=True)
            )
            for plan in product((0, 1), repeat=n_plan)
        )

    names = [f"item {i}" for i in range(n_actions)]
    plan_names = [f"plan {i}" for i in range(n_plan)]
    space = Custom(np.array(matrix, dtype=float), lower, upper, names, plan_names)
    return Example(name, space, accepts)


def kits(name, contents: Sequence[Sequence[int]], n_items: int, limit: int) -> Example:
    """An item may be used when a kit that holds it is opened; at most ``limit`` kits are."""
    n_kits = len(contents)
    rows = [[0] * n_items + [1] * n_kits]
    for item in range(n_items):
        rows.append(
            [int(i == item) for i in range(n_items)] + [-int(item in kit) for kit in contents]
        )
    space = Custom(
        np.array(rows, dtype=float),
        np.full(len(rows), -np.inf),
        np.array([limit] + [0] * n_items, dtype=float),
        [f"item {i}" for i in range(n_items)],
        [f"kit {i}" for i in range(n_kits)],
    )

    def accepts(chosen: Chosen) -> bool:
        return any(
            chosen <= set().union(*opened)
            for k in range(limit + 1)
            for opened in combinations(contents, k)
        )

    return Example(name, space, accepts)


def ruled(
    name: str,
    example: Example,
    groups: Mapping[str, Sequence[int]] | None = None,
    shares: Mapping[str, Fraction] | None = None,
    counts: Mapping[str, int] | None = None,
    must: Sequence[int] = (),
    never: Sequence[int] = (),
    at_most_one: Sequence[Sequence[int]] = (),
    absent: Sequence[str] = (),
    present: Example | None = None,
) -> Example:
    """``example`` under rules; ``present`` says which space is left when some are absent."""
    names = example.space.names
    groups, shares, counts = groups or {}, shares or {}, counts or {}
    rules = Rules(
        groups={group: [names[i] for i in members] for group, members in groups.items()},
        floors=[
            *(Floor(group, share=float(share)) for group, share in shares.items()),
            *(Floor(group, count=count) for group, count in counts.items()),
        ],
        must=[names[i] for i in must],
        never=[names[i] for i in never],
        at_most_one=[[names[i] for i in several] for several in at_most_one],
        absent=absent,
    )
    base = present or example
    holds = rules_hold(groups, shares, counts, must, never, at_most_one)
    return Example(
        name,
        with_rules(example.space, rules),
        lambda chosen: holds(chosen) and base.accepts(chosen),
    )


def locked(name: str, example: Example, rules: Rules, words: Accepts) -> Example:
    """``example`` with settled visits, other hours or orders, said again in ``words``."""
    return Example(name, with_rules(example.space, rules), words)


def rostered(space: Rota, locks, minutes=None) -> Accepts:
    """Say a rota again, with locks and perhaps other minutes."""
    return can_be_rostered(
        space.minutes.tolist() if minutes is None else minutes,
        space.arm_slots.tolist(),
        space.lengths.tolist(),
        space.visits.tolist(),
        space.may_visit.tolist(),
        space.limit,
        space.distinct_workers,
        space.most_in_a_row,
        locks,
    )


def as_rota(space: Schedule) -> Rota:
    """Return the same as a rota whose visits take whole slots."""
    return Rota(
        space.worker_slots,
        space.arm_slots,
        np.ones(space.n_actions),
        space.visits,
        limit=space.limit,
        distinct_workers=space.distinct_workers,
    )


# What every space has to show.


def accepted_by(system: LinearSystem) -> set[Chosen]:
    """Return the actions for which the solver finds the other columns."""
    return {c for c in every_set(system.n_actions) if is_accepted(system, c)}


def is_accepted(system: LinearSystem, chosen: Chosen) -> bool:
    action = action_of(chosen, system.n_actions)
    if system.n_columns == system.n_actions:
        left = system.matrix.toarray() @ action
        return bool(np.all((left >= system.lower - 1e-6) & (left <= system.upper + 1e-6)))
    status = Highs().solve(system.program(np.zeros(system.n_actions), fixed=action)).status
    assert status in (Status.OPTIMAL, Status.INFEASIBLE)
    return status is Status.OPTIMAL


def check_feasible_set(example: Example) -> None:
    """Both forms, ``allows``, ``enumerate`` and ``certify`` agree with the words."""
    space = example.space
    assert accepted_by(space.system) == example.feasible
    if space.compact is not space.system:
        assert accepted_by(space.compact) == example.feasible
    check_questions(example)


def check_questions(example: Example) -> None:
    """``allows``, ``enumerate`` and ``certify`` agree with the words."""
    space, feasible = example.space, example.feasible
    sets = every_set(space.n_actions)
    actions = np.array([action_of(c, space.n_actions) for c in sets], dtype=np.int8)
    assert {c for c, fine in zip(sets, space.contains(actions), strict=True) if fine} == feasible
    # Rules sift the actions of the base, which may be many more.
    listed = space.enumerate(cap=max(2, len(feasible)) if space.base is space else len(sets))
    assert len(listed) == len(feasible)
    assert {chosen_of(action) for action in listed} == feasible
    if frozenset() in feasible:
        assert not listed[0].any()
    if len(feasible) > 1:
        with pytest.raises(TooLarge, match="more than"):
            space.enumerate(cap=len(feasible) - 1)
    for chosen, action in zip(sets, actions, strict=True):
        if chosen in feasible:
            decision = space.certify(action)
            assert chosen_of(decision.action) == chosen
            assert space.system.violations(decision) == []
        else:
            with pytest.raises(InfeasibleDecision):
                space.certify(action)


def check_growth(example: Example, decision) -> list:
    """Each extension adds its column, keeps the rest and satisfies the system; return them."""
    space = example.space
    extensions = space.extensions(decision)
    assert (
        len(extensions)
        == len(extensions.columns)
        == len(extensions.priority)
        == len(extensions.costs)
    )
    grown = [extensions[index] for index in range(len(extensions))]
    for column, extended in zip(extensions.columns.tolist(), grown, strict=True):
        assert decision.action[column] == 0
        assert chosen_of(extended.action) == chosen_of(decision.action) | {column}
        assert space.system.violations(extended) == []
        assert chosen_of(extended.action) in example.feasible
    with pytest.raises(IndexError):
        extensions[len(extensions)]
    return grown


# The list.

_COSTS = [2, 3, 4, 2, 6, 3]
_TWO_OF_FIVE = slots("xx...", ".xx..", "..xx.", "...xx", "x...x", "xx...")
_THREE_OF_FIVE = slots("xxx..", "..xxx", "x.x.x")
_TWELVE = slots("x..x..x....x", ".x..x..x....", "..x..x..x.x.")
_ARMS_OF_TWELVE = slots(
    "xx..........", "..xx........", "x...x.......", ".....xx.....", "...........x", "............"
)
_KITE = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (1, 5)]
_TAKES = [1, 2, 4, 1, 1, 3]

_budget = budget("budget", [1, 2, 2.5, 0, 3, 1], 4.5)
_assignment = assignment("assignment", _COSTS, [4, 6, 7])
_schedule = schedule("schedule", _THREE_OF_FIVE, _TWO_OF_FIVE, 4)
_distinct = schedule("schedule, distinct workers", _THREE_OF_FIVE, _TWO_OF_FIVE, 4, 2, True)
_many_slots = schedule("schedule, many slots", _TWELVE, _ARMS_OF_TWELVE, 3)
_path = path("path", _KITE, 0, 6, 4)
_long_edges = path("path, long edges", _KITE, 0, 8, 3, _TAKES)
_rota = rota(
    "rota",
    [[60, 0, 90], [0, 75, 60]],
    slots("x.x", ".xx", "xx.", "..x", ".x.", "x.x"),
    [30, 45, 30, 60, 45, 30],
    may_visit=slots("xxx.xx", ".xxxx."),
)
_FAR = float("inf")
_ONE_WAY = [
    [0, 2, 9, 4, 7],
    [3, 0, 5, 8, 2],
    [9, 4, 0, 3, 6],
    [2, 7, 5, 0, 3],
    [6, 3, 4, 2, 0],
]
_RING = [
    [0, 2, _FAR, _FAR, _FAR, 3],
    [2, 0, 4, _FAR, _FAR, _FAR],
    [_FAR, 1, 0, 2, _FAR, _FAR],
    [_FAR, _FAR, 2, 0, 5, _FAR],
    [_FAR, _FAR, _FAR, 1, 0, 2],
    [1, _FAR, _FAR, _FAR, 2, 0],
]
_several = rota(
    "rota, several visits",
    [[60, 60], [45, 0], [0, 30]],
    slots("xx", "x.", ".x", "xx"),
    [30, 15, 30, 20],
    [2, 1, 1, 3],
)
_team = team("team", _ONE_WAY, [2, 3, 1, 2], [4, 4], [12, 16])
_kits = kits("kits", [[0, 1], [1, 2, 3], [3, 4], [0, 5]], 6, 2)
_bound_together = custom(
    "custom, not down-closed",
    # Item 1 needs item 0; items 2 and 3 go together; one to three items, weighted, in all.
    [[-1, 1, 0, 0, 0], [0, 0, 1, -1, 0], [1, 1, 1, 1, 2]],
    [-np.inf, 0, 1],
    [0, 0, 3],
    5,
)

_PLAIN_TOUR = (_ONE_WAY, [2, 3, 1, 2], [4, 4], [12, 20])
_locked_tours = can_be_toured(_ONE_WAY, [2, 3, 1, 2], [4, 4], [12, 16], barred={(1, 2)})

EXAMPLES = [
    _budget,
    budget("budget, one of everything", [1] * 5, 2),
    budget("budget, nothing to spend", [1, 0, 2], 0),
    _assignment,
    assignment("assignment, equal workers", [2, 2, 3, 3, 3, 5], [5, 5, 0]),
    assignment("assignment, one worker", _COSTS, [8]),
    _schedule,
    schedule("schedule, one visit", _THREE_OF_FIVE[:2], _TWO_OF_FIVE, 6, 1),
    schedule("schedule, three visits", _THREE_OF_FIVE, slots("xxx..", ".xxx.", "..xxx"), 3, 3),
    _distinct,
    schedule("schedule, distinct, one visit", _THREE_OF_FIVE[:2], _TWO_OF_FIVE[:5], 3, 1, True),
    schedule(
        "schedule, distinct, three", _THREE_OF_FIVE, slots("xxx..", "xxxxx", "x.x.x"), 3, 3, True
    ),
    # Both arms at once need the one booking of four that leaves the other arm its own slot.
    schedule("schedule, tight", slots("xxxx"), slots("xxx.", "xx.x"), 2),
    schedule(
        "schedule, tight, distinct",
        slots("x...", ".x..", "..x.", "...x"),
        slots("xxx.", "xx.x"),
        2,
        2,
        True,
    ),
    _many_slots,
    schedule("schedule, many slots, one visit", _TWELVE[:1], _ARMS_OF_TWELVE, 6, 1),
    schedule("schedule, many slots, distinct", _TWELVE, _ARMS_OF_TWELVE, 3, 2, True),
    _rota,
    rota("rota, one slot", [[7], [4]], slots("x", "x", "x", "x", "x"), [2, 3, 4, 2, 6]),
    rota("rota, whole slots", [[1, 1], [1, 0]], slots("xx", "x.", ".x", "xx"), [1] * 4, limit=2),
    _several,
    rota(
        "rota, different workers",
        [[60, 60], [45, 30]],
        slots("xx", "x.", "xx", ".x"),
        [30, 15, 30, 20],
        [2, 1, 2, 1],
        distinct=True,
    ),
    rota(
        "rota, rests",
        [[30, 30, 30, 30], [30, 0, 30, 30]],
        slots("xx..", ".xx.", "..xx", "x..x", ".x.x"),
        [15, 30, 15, 30, 15],
        may_visit=slots("xxxx.", "..xxx"),
        in_a_row=2,
    ),
    rota(
        "rota, a slot off after each",
        [[20, 40, 20]],
        slots("xx.", ".xx", "x.x", "xxx"),
        [20, 20, 10, 10],
        [1, 1, 2, 1],
        in_a_row=1,
        limit=3,
    ),
    rota("rota, nobody at work", [[0, 0]], slots("xx", "x."), [10, 20]),
    _team,
    team("team, two depots on a ring", _RING, [2, 1, 3, 1, 2, 1], [0, 3], [14, 11]),
    team("team, one walker", _ONE_WAY, [2, 3, 1, 2, 4], [2], [17]),
    team(
        "team, windows and shifts",
        _ONE_WAY,
        [2, 3, 1, 2],
        [4, 4],
        [12, 20],
        [540, 545],
        [(0, 547), (550, 560), (541, 9_999), (548, 549)],
    ),
    team("team, nobody has time", _ONE_WAY, [2, 3, 1], [3, 4], [0, 3]),
    _path,
    path("path, unreachable node", [(0, 1), (1, 2), (3, 4)], 1, 4, 3, size=6),
    _long_edges,
    path("path, too short to leave", [(0, 1), (1, 2)], 0, 1, 2),
    _kits,
    _bound_together,
    ruled("budget, must and never", _budget, must=[2], never=[1]),
    ruled(
        "budget, share",
        budget("", [1] * 6, 4),
        groups={"old": [0, 1]},
        shares={"old": Fraction(2, 5)},
    ),
    ruled(
        "assignment, floors",
        _assignment,
        groups={"old": [0, 4, 5], "new": [1, 2]},
        shares={"new": Fraction(1, 3)},
        counts={"old": 1},
    ),
    ruled(
        "assignment, one worker off",
        _assignment,
        absent=["worker 1"],
        present=assignment("", _COSTS, [4, 7]),
        at_most_one=[[0, 3]],
    ),
    ruled("schedule, one of each", _schedule, at_most_one=[[0, 1], [2, 3]], never=[5]),
    ruled(
        "schedule, one worker off",
        _schedule,
        absent=["worker 0"],
        present=schedule("", _THREE_OF_FIVE[1:], _TWO_OF_FIVE, 4),
    ),
    ruled(
        "distinct schedule, one worker off",
        _distinct,
        absent=["worker 2"],
        present=schedule("", _THREE_OF_FIVE[:2], _TWO_OF_FIVE, 4, 2, True),
        must=[2],
    ),
    ruled(
        "rota, one worker off",
        _rota,
        absent=["worker 1"],
        present=rota(
            "",
            [[60, 0, 90]],
            slots("x.x", ".xx", "xx.", "..x", ".x.", "x.x"),
            [30, 45, 30, 60, 45, 30],
            may_visit=slots("xxx.xx"),
        ),
        at_most_one=[[0, 5]],
    ),
    ruled("rota, must", _rota, must=[2, 3], never=[0]),
    ruled(
        "team, one walker off",
        _team,
        absent=["walker 1"],
        present=team("", _ONE_WAY, [2, 3, 1, 2], [4], [12]),
        at_most_one=[[0, 2]],
    ),
    ruled("team, must", _team, must=[1], never=[3]),
    ruled("many slots, count", _many_slots, groups={"late": [3, 4]}, counts={"late": 1}),
    ruled("path, must", _path, must=[3], at_most_one=[[0, 2, 1]]),
    ruled(
        "long edges, share",
        _long_edges,
        groups={"far": [3, 4, 5]},
        shares={"far": Fraction(1, 2)},
    ),
    ruled("kits, never and must", _kits, must=[1], never=[0]),
    ruled("custom, never", _bound_together, never=[0]),
    ruled("custom, count", _bound_together, groups={"few": [1, 2]}, counts={"few": 1}),
    locked(
        "assignment, a worker locked to an arm",
        _assignment,
        Rules(locks=[Lock("arm 0", "worker 1")], hours={"worker 2": 3}),
        rostered(
            Rota([[4], [6], [7]], np.ones((6, 1), dtype=bool), _COSTS),
            [(1, None, 0)],
            [[4], [6], [3]],
        ),
    ),
    locked(
        "assignment, several visits locked",
        _assignment,
        Rules(locks=[Lock("arm 0", "worker 1"), Lock("arm 3", "worker 1"), Lock("arm 4")]),
        rostered(
            Rota([[4], [6], [7]], np.ones((6, 1), dtype=bool), _COSTS),
            [(1, None, 0), (1, None, 3), (None, None, 4)],
        ),
    ),
    locked(
        "schedule, locked visits",
        _distinct,
        Rules(locks=[Lock("arm 1", "worker 0"), Lock("arm 3", slot="slot 4")]),
        rostered(as_rota(_distinct.space), [(0, None, 1), (None, 4, 3)]),
    ),
    locked(
        "rota, a locked visit",
        _rota,
        Rules(locks=[Lock("arm 5", "worker 0", "slot 2")], hours={"worker 1": 1.5}),
        rostered(_rota.space, [(0, 2, 5)], [[60, 0, 90], [0, 75, 15]]),
    ),
    locked(
        "rota, one of several visits locked",
        _several,
        Rules(locks=[Lock("arm 0", "worker 1")], hours={"worker 2": 1}),
        rostered(_several.space, [(1, None, 0)], [[60, 60], [45, 0], [0, 60]]),
    ),
    locked(
        "team, a walker locked to an arm",
        _team,
        Rules(locks=[Lock("arm 2", "walker 0")]),
        lambda chosen: 2 in chosen and _locked_tours(chosen),
    ),
    locked(
        "team, arms that follow each other",
        _team,
        Rules(orders=[["arm 3", "arm 0"]], hours={"walker 1": 0.3}),
        can_be_toured(_ONE_WAY, [2, 3, 1, 2], [4, 4], [12, 18], chain=(3, 0)),
    ),
    *(
        locked(
            f"team, arms that follow each other, {words}",
            team("", *_PLAIN_TOUR, windows=windows),
            Rules(orders=[["arm 3", "arm 0"]]),
            can_be_toured(*_PLAIN_TOUR, chain=(3, 0), windows=windows),
        )
        for words, windows in (
            ("with a wait in between", [(490, 492), (0, 999), (0, 999), (0, 483)]),
            ("the first until some time", [(0, 999), (0, 490), (485, 999), (0, 484)]),
        )
    ),
]
