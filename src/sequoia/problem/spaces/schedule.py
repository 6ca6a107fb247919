"""Workers and arms with open slots: the bipartite matching of the paper."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.errors import ProblemError
from sequoia.problem.names import between, checked_names, count, index_of, say
from sequoia.problem.spaces.base import ActionSpace, Extensions, Task
from sequoia.problem.system import Decision, LinearSystem, Rows
from sequoia.problem.tables import TableSet, table
from sequoia.sizes import MOST_COLUMNS, MOST_VISITS, require_at_most
from sequoia.validation import ActionArray, BoolArray, IntArray, frozen, set_fields, whole

_MAX_SLOTS_FOR_SUBSETS = 10


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Schedule(ActionSpace):
    """Each acted-on arm gets ``visits`` visits in slots that suit both sides.

    Attributes
    ----------
    worker_slots
        Which slots each worker has open, ``(W, K)``; a worker does one visit per slot.
    arm_slots
        Which slots suit each arm, ``(J, K)``.
    limit
        At most so many arms are acted on.
    visits
        How many visits an arm needs to count as acted on.
    distinct_workers
        Whether the visits to one arm must be made by different workers. The paper's program lets
        one worker come twice; its baselines do not.

    Examples
    --------
    >>> from sequoia import Schedule
    >>> suits = [[True, False], [True, True]]
    >>> slots = Schedule([[True, True]], suits, 2, visits=1, names=['Ada', 'Ben'])
    >>> slots.describe(slots.certify([1, 1]))
    ['slot 0: worker 0 visits Ada', 'slot 1: worker 0 visits Ben']
    """

    kind = "schedule"
    worker_slots: BoolArray
    arm_slots: BoolArray
    limit: int
    visits: int
    distinct_workers: bool
    names: Sequence[str]
    worker_names: Sequence[str]
    slot_names: Sequence[str]

    def __init__(
        self,
        worker_slots: ArrayLike,
        arm_slots: ArrayLike,
        limit: int,
        visits: int = 2,
        distinct_workers: bool = False,
        names: Sequence[str] | None = None,
        worker_names: Sequence[str] | None = None,
        slot_names: Sequence[str] | None = None,
    ) -> None:
        workers = frozen("schedule.worker_slots", worker_slots, np.bool_, (None, None))
        n_slots = workers.shape[1]
        arms = frozen("schedule.arm_slots", arm_slots, np.bool_, (None, n_slots))
        meetings = float(workers.sum(axis=0) @ arms.sum(axis=0))
        require_at_most("schedule", meetings, "meetings of worker, arm and slot", MOST_COLUMNS)
        set_fields(
            self,
            worker_slots=workers,
            arm_slots=arms,
            limit=whole("schedule.limit", limit, 0),
            visits=whole("schedule.visits", visits, 1, MOST_VISITS),
            distinct_workers=distinct_workers,
            names=checked_names("schedule.names", names, "arm", len(arms)),
            worker_names=checked_names(
                "schedule.worker_names", worker_names, "worker", len(workers)
            ),
            slot_names=checked_names("schedule.slot_names", slot_names, "slot", n_slots),
        )
        if {"name"} & set(self.slot_names):
            raise ProblemError('schedule.slot_names has a slot called "name"; choose another word.')

    @cached_property
    def _triples(self) -> tuple[IntArray, IntArray, IntArray]:
        """Worker, arm and slot of each plan column: both sides are open."""
        both = self.worker_slots[:, None, :] & self.arm_slots[None, :, :]
        workers, arms, slots = np.nonzero(both)
        return workers, arms, slots

    @cached_property
    def system(self) -> LinearSystem:
        """One plan column per worker, arm and common slot (appendix C)."""
        workers, arms, slots = self._triples
        size = len(workers)
        n_arms, n_slots = self.arm_slots.shape
        one_arm = sparse.eye_array(n_arms)
        of_arm = _incidence(arms, n_arms)
        busy, turn = np.unique(workers * n_slots + slots, return_inverse=True)
        say_triple = [
            f"{self.slot_names[k]}: {self.worker_names[i]} visits {self.names[j]}"
            for i, j, k in zip(workers, arms, slots, strict=True)
        ]
        blocks = [
            Rows.at_most(
                sparse.hstack([np.ones((1, n_arms)), csr_array((1, size))]),
                self.limit,
                ["number of arms"],
            ),
            Rows.at_most(
                sparse.hstack([csr_array((len(busy), n_arms)), _incidence(turn, len(busy))]),
                1.0,
                [
                    f"{self.worker_names[b // n_slots]} in {self.slot_names[b % n_slots]}"
                    for b in busy
                ],
            ),
            Rows.at_most(
                sparse.hstack([csr_array((n_arms, n_arms)), of_arm]),
                self.visits,
                [f"at most {count(self.visits, 'visit')} to {arm}" for arm in self.names],
            ),
            Rows.at_most(
                sparse.hstack([self.visits * one_arm, -of_arm]),
                0.0,
                [f"{arm} needs {count(self.visits, 'visit')}" for arm in self.names],
            ),
            Rows.at_most(
                sparse.hstack([-of_arm.T, sparse.eye_array(size)]),
                0.0,
                [f"{triple} only if acted on" for triple in say_triple],
            ),
        ]
        if self.distinct_workers:
            pairs, pair = np.unique(workers * n_arms + arms, return_inverse=True)
            blocks.append(
                Rows.at_most(
                    sparse.hstack([csr_array((len(pairs), n_arms)), _incidence(pair, len(pairs))]),
                    1.0,
                    [
                        f"{self.worker_names[p // n_arms]} visits {self.names[p % n_arms]} once"
                        for p in pairs
                    ],
                )
            )
        return LinearSystem.from_rows(blocks, n_arms, [*self.names, *say_triple])

    @cached_property
    def compact(self) -> LinearSystem:
        """The same set without naming workers.

        Workers open in a slot are interchangeable, so only their number matters. With few slots,
        the set is described in the action columns alone (Hall's condition): for every set of
        slots, the arms that can only be seen there need no more visits than there are openings.
        With many slots, visits flow from slots to groups of arms with the same open slots.
        Where workers must differ, visits flow from arms through pairs of arm and worker to pairs
        of worker and slot; of a flow, whole actions have whole plans, so plans need not be asked
        to be whole.
        """
        if self.distinct_workers:
            return self._distinct
        openings = self.worker_slots.sum(axis=0)
        everyone = Rows.at_most(np.ones((1, self.n_actions)), self.limit, ["number of arms"])
        if len(openings) <= _MAX_SLOTS_FOR_SUBSETS:
            return LinearSystem.from_rows(
                [everyone, self._hall_rows(openings)], self.n_actions, self.names
            )
        groups, group = np.unique(self.arm_slots, axis=0, return_inverse=True)
        owner, slot = np.nonzero(groups)
        members = _incidence(group.reshape(-1), len(groups))
        everyone = Rows.at_most(
            sparse.hstack([everyone.matrix, csr_array((1, len(owner)))]),
            self.limit,
            everyone.names,
        )
        needs = Rows.equal(
            sparse.hstack([self.visits * members, -_incidence(owner, len(groups))]),
            0.0,
            [f"visits to arm group {g}" for g in range(len(groups))],
        )
        supply = Rows.at_most(
            sparse.hstack(
                [csr_array((len(openings), self.n_actions)), _incidence(slot, len(openings))]
            ),
            openings,
            [f"openings in {name}" for name in self.slot_names],
        )
        flows = [
            f"visits to arm group {g} in {self.slot_names[k]}"
            for g, k in zip(owner.tolist(), slot.tolist(), strict=True)
        ]
        is_action = np.arange(self.n_actions + len(flows)) < self.n_actions
        return LinearSystem.from_rows(
            [everyone, needs, supply],
            self.n_actions,
            [*self.names, *flows],
            column_upper=np.concatenate([np.ones(self.n_actions), openings[slot]]),
            is_integer=is_action,
        )

    @cached_property
    def _distinct(self) -> LinearSystem:
        """The rows of the flow alone; that nobody else is visited follows from the needs."""
        workers, arms, slots = self._triples
        size, (n_arms, n_slots) = len(workers), self.arm_slots.shape
        rows = {
            "in": (workers * n_slots + slots, self.slot_names, n_slots),
            "visits": (workers * n_arms + arms, self.names, n_arms),
        }
        everyone = sparse.hstack([np.ones((1, n_arms)), csr_array((1, size))])
        needs = sparse.hstack([self.visits * sparse.eye_array(n_arms), -_incidence(arms, n_arms)])
        blocks = [
            Rows.at_most(everyone, self.limit, ["number of arms"]),
            Rows.equal(needs, 0.0, [f"visits to {name}" for name in self.names]),
        ]
        for verb, (pair, others, n_others) in rows.items():
            known, row = np.unique(pair, return_inverse=True)
            names = [
                f"{self.worker_names[p // n_others]} {verb} {others[p % n_others]} once"
                for p in known.tolist()
            ]
            use = sparse.hstack([csr_array((len(known), n_arms)), _incidence(row, len(known))])
            blocks.append(Rows.at_most(use, 1.0, names))
        is_action = np.arange(n_arms + size) < n_arms
        columns = self.system.column_names
        return LinearSystem.from_rows(blocks, n_arms, columns, is_integer=is_action)

    def _hall_rows(self, openings: IntArray) -> Rows:
        rows, limits, names = [], [], []
        n_slots = len(openings)
        for bits in range(2**n_slots):
            slots = (bits >> np.arange(n_slots)) & 1 == 1
            inside = ~(self.arm_slots & ~slots).any(axis=1)
            if not np.array_equal(self.arm_slots[inside].any(axis=0), slots) or not inside.any():
                continue  # a smaller set of slots says the same, or more
            rows.append(inside.astype(np.float64))
            limits.append(int(openings[slots].sum()) // self.visits)
            where = say(self.slot_names[k] for k in np.flatnonzero(slots).tolist())
            names.append(f"arms that can only be seen in {where}")
        matrix = np.array(rows).reshape(len(rows), self.n_actions)
        return Rows.at_most(matrix, np.array(limits, dtype=np.float64), names)

    def contains(self, actions: ArrayLike) -> BoolArray:
        """Say for each action, ``(B, N)``, whether it can be booked.

        Arms with the same open slots are interchangeable, so of all choices with as many of each
        kind of arm, one is tried.
        """
        actions = np.asarray(actions, dtype=np.int8)
        if self.compact.n_columns == self.n_actions:
            return super().contains(actions)
        counts = actions.astype(np.int64) @ self._kinds
        _, first, which = np.unique(counts, axis=0, return_index=True, return_inverse=True)
        is_possible: BoolArray = super().contains(actions[first])[which.reshape(-1)]
        return is_possible

    @cached_property
    def _kinds(self) -> IntArray:
        """The set of open slots of each arm, ``(J, G)``."""
        groups, group = np.unique(self.arm_slots, axis=0, return_inverse=True)
        return np.eye(len(groups), dtype=np.int64)[group.reshape(-1)]

    def _plan(self, action: ActionArray) -> ActionArray | None:
        chosen = np.flatnonzero(action)
        if len(chosen) > self.limit:
            return None
        openings = self.worker_slots.sum(axis=0)
        # Then the flow is not asked for: its capacities would not fit into its 32 bits.
        if self.visits * len(chosen) > openings.sum():
            return None
        return (self._by_worker if self.distinct_workers else self._by_slot)(chosen, openings)

    def _by_slot(self, chosen: IntArray, openings: IntArray) -> ActionArray | None:
        """Let visits flow from arms to slots; who comes does not matter."""
        from scipy.sparse.csgraph import maximum_flow

        n_slots = self.arm_slots.shape[1]
        arms = 1 + np.arange(len(chosen))
        slots = 1 + len(chosen) + np.arange(n_slots)
        sink = 1 + len(chosen) + n_slots
        capacity = np.zeros((sink + 1, sink + 1), dtype=np.int32)
        capacity[0, arms] = self.visits
        capacity[np.ix_(arms, slots)] = self.visits * self.arm_slots[chosen]
        capacity[slots, sink] = openings
        result = maximum_flow(csr_array(capacity), 0, sink)
        if result.flow_value < self.visits * len(chosen):
            return None
        flow = result.flow.toarray()[np.ix_(arms, slots)]
        booked = np.zeros((len(self.worker_slots), *self.arm_slots.shape), dtype=np.bool_)
        for slot in range(n_slots):
            visited = np.repeat(chosen, np.maximum(flow[:, slot], 0))
            free = np.flatnonzero(self.worker_slots[:, slot])
            booked[free[: len(visited)], visited, slot] = True
        return self._columns(booked)

    def _by_worker(self, chosen: IntArray, openings: IntArray) -> ActionArray | None:
        """Let visits flow from arms through (arm, worker) to (worker, slot), each at most once."""
        from scipy.sparse.csgraph import maximum_flow

        workers, arms, slots = self._triples
        places = np.flatnonzero(np.isin(arms, chosen))
        n_arms, n_slots = self.arm_slots.shape
        pairs, pair = np.unique(workers[places] * n_arms + arms[places], return_inverse=True)
        turns, turn = np.unique(workers[places] * n_slots + slots[places], return_inverse=True)
        # Nodes: the source, arms, pairs of worker and arm, pairs of worker and slot, the sink.
        arm = 1 + np.arange(len(chosen))
        pair_node = 1 + len(chosen) + np.arange(len(pairs))
        turn_node = 1 + len(chosen) + len(pairs) + np.arange(len(turns))
        sink = 1 + len(chosen) + len(pairs) + len(turns)
        tails = [np.zeros(len(chosen)), arm[np.searchsorted(chosen, pairs % n_arms)]]
        tails += [pair_node[pair], turn_node]
        heads = [arm, pair_node, turn_node[turn], np.full(len(turns), sink)]
        capacity = np.ones(sum(map(len, heads)), dtype=np.int32)
        capacity[: len(chosen)] = self.visits
        edges = (np.concatenate(tails).astype(np.int32), np.concatenate(heads).astype(np.int32))
        result = maximum_flow(csr_array((capacity, edges), shape=(sink + 1, sink + 1)), 0, sink)
        if result.flow_value < self.visits * len(chosen):
            return None
        plan = np.zeros(len(workers), dtype=np.int8)
        plan[places] = result.flow.toarray()[pair_node[pair], turn_node[turn]] > 0
        return plan

    def _columns(self, booked: BoolArray) -> ActionArray:
        return booked[self._triples].astype(np.int8)

    def booked(self, decision: Decision) -> BoolArray:
        """Return who visits whom when, ``(W, J, K)``."""
        result = np.zeros((len(self.worker_slots), *self.arm_slots.shape), dtype=np.bool_)
        result[self._triples] = decision.plan == 1
        return result

    def _choose(self, pairs: IntArray) -> IntArray | None:
        """Return the first (worker, slot) pairs, ``(visits, 2)``, that make up the visits."""
        if self.distinct_workers:
            pairs = pairs[np.sort(np.unique(pairs[:, 0], return_index=True)[1])]
        return pairs[: self.visits] if len(pairs) >= self.visits else None

    def sample(self, rng: np.random.Generator) -> Decision:
        """Arms in random order; each takes random free visits that suit it, if it can."""
        free = self.worker_slots.copy()
        booked = np.zeros((len(free), *self.arm_slots.shape), dtype=np.bool_)
        action = np.zeros(self.n_actions, dtype=np.int8)
        left = self.limit
        for arm in rng.permutation(self.n_actions).tolist():
            if left == 0:
                break
            pairs = self._choose(rng.permutation(np.argwhere(free & self.arm_slots[arm])))
            if pairs is not None:
                workers, slots = pairs.T
                free[workers, slots] = False
                booked[workers, arm, slots] = True
                action[arm] = 1
                left -= 1
        return Decision(action, self._columns(booked))

    def extensions(self, decision: Decision) -> Extensions:
        """A leading worker and helpers visit one more arm.

        Leaders come in descending order of open slots.
        """
        booked = self.booked(decision)
        free = self.worker_slots & ~booked.any(axis=1)
        chances = free.astype(np.int64) @ self.arm_slots.T.astype(np.int64)
        enough = (np.minimum(chances, 1) if self.distinct_workers else chances).sum(axis=0)
        addable = (decision.action == 0) & (enough >= self.visits)
        addable &= decision.action.sum() < self.limit
        leaders, arms = np.nonzero((chances > 0) & addable)
        rank = np.empty(len(free), dtype=np.int64)
        rank[np.argsort(-self.worker_slots.sum(axis=1), kind="stable")] = np.arange(len(free))

        def extend(index: int) -> Decision:
            leader, arm = leaders[index], arms[index]
            pairs = np.argwhere(free & self.arm_slots[arm])
            lead = np.argmax(pairs[:, 0] == leader)
            chosen = self._choose(np.concatenate([pairs[[lead]], np.delete(pairs, lead, axis=0)]))
            assert chosen is not None
            grown = booked.copy()
            grown[chosen[:, 0], arm, chosen[:, 1]] = True
            action = decision.action.copy()
            action[arm] = 1
            return Decision(action, self._columns(grown))

        return Extensions(arms, rank[leaders], np.ones(len(arms)), extend)

    def describe(self, decision: Decision) -> list[str]:
        """One line per slot and arm."""
        booked = self.booked(decision)
        lines = []
        for slot, arm in np.argwhere(booked.any(axis=0).T):
            workers = np.flatnonzero(booked[:, arm, slot]).tolist()
            who = " and ".join(self.worker_names[i] for i in workers)
            verb = "visits" if len(workers) == 1 else "visit"
            lines.append(f"{self.slot_names[slot]}: {who} {verb} {self.names[arm]}")
        return lines or ["Nobody visits anyone"]

    def tasks(self, decision: Decision) -> list[Task]:
        """One task per visit, slot by slot."""
        booked = self.booked(decision).transpose(2, 0, 1)
        return [
            Task(self.worker_names[worker], self.slot_names[slot], self.names[arm], "visit")
            for slot, worker, arm in np.argwhere(booked).tolist()
        ]

    def summary(self) -> str:
        """Say the open slots and the visits."""
        workers, slots = self.worker_slots.shape
        who = " by different workers" if self.distinct_workers else ""
        return (
            f"schedule: {count(workers, 'worker')} with {between(self.worker_slots.sum(axis=1))} "
            f"of {slots} slots open, arms with {between(self.arm_slots.sum(axis=1))}; "
            f"{count(self.visits, 'visit')} to an arm{who}, at most {count(self.limit, 'arm')}"
        )

    def _with_hours(self, where: str, hours: Mapping[str, float]) -> "Schedule":
        """Count slots as hours: the first open ones are kept; more than these cannot be had."""
        slots = self.worker_slots.copy()
        for name, given in hours.items():
            worker = index_of(where, self.worker_names, name)
            usual = int(slots[worker].sum())
            if given != int(given) or given > usual:
                raise ProblemError(
                    f"{where} gives {name} {given:g} hours; in a schedule a slot counts as an "
                    f"hour, so a whole number up to {usual} is wanted."
                )
            slots[worker, np.flatnonzero(slots[worker])[int(given) :]] = False
        return replace(self, worker_slots=slots)

    def usual_hours(self, worker: str) -> float:
        """Return how many slots a worker has open."""
        return float(self.worker_slots[index_of("hours", self.worker_names, worker)].sum())

    def half_day(self, worker: str) -> float:
        """Return half of the open slots, a whole number."""
        return float(self.usual_hours(worker) // 2)

    def visit_columns(self, arm: int, worker: int | None, slot: int | None) -> IntArray:
        """Return the visits that may be meant."""
        workers, arms, slots = self._triples
        fits = (arms == arm) & (True if worker is None else workers == worker)
        columns = np.flatnonzero(fits & (True if slot is None else slots == slot))
        return self.n_actions + columns

    def to_tables(self) -> TableSet:
        """Options and tables of this space."""
        names = list(self.slot_names)
        arms = dict(zip(names, self.arm_slots.T, strict=True))
        workers = dict(zip(names, self.worker_slots.T, strict=True))
        return TableSet(
            {
                "limit": self.limit,
                "visits": self.visits,
                "distinct_workers": self.distinct_workers,
                "slots": names,
            },
            table("actions", **{"name": self.names} | arms)
            | table("workers", **{"name": self.worker_names} | workers),
        )

    @classmethod
    def from_tables(cls, content: TableSet) -> "Schedule":
        """Build from options and tables."""
        content.known({"kind", "limit", "visits", "distinct_workers", "slots"})
        slots = [str(slot) for slot in content.option("slots", list)]
        arms, workers = content.table("actions"), content.table("workers")
        limit = content.option("limit", int, least=0)
        visits = content.option("visits", int, 2, least=1, most=MOST_VISITS)
        is_distinct = content.option("distinct_workers", bool, False)
        worker_slots, arm_slots = (
            np.array([side.booleans(s) for s in slots]).reshape(len(slots), len(side)).T
            for side in (workers, arms)
        )
        names, worker_names = arms.names("name"), workers.names("name")
        content.settle()
        return cls(worker_slots, arm_slots, limit, visits, is_distinct, names, worker_names, slots)


def _incidence(group: IntArray, n_groups: int) -> csr_array:
    """Return the ``(n_groups, len(group))`` matrix with a one where a column is in a group."""
    columns = np.arange(len(group))
    return csr_array((np.ones(len(group)), (group, columns)), shape=(n_groups, len(group)))
