"""Workers with minutes in their slots, arms with visits of some length in theirs."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sequoia.errors import ProblemError
from sequoia.problem.names import between, checked_names, count, index_of, say
from sequoia.problem.spaces.base import ActionSpace, Extensions, Maximiser, Task
from sequoia.problem.spaces.rota.conflicts import why_not
from sequoia.problem.spaces.rota.formulation import Formulation
from sequoia.problem.spaces.rota.packing import Openings, Packing
from sequoia.problem.spaces.rota.search import RotaSearch
from sequoia.problem.spaces.visitors import read_visitors, visitors_table
from sequoia.problem.system import Decision, LinearSystem, Rows
from sequoia.problem.tables import Column, TableSet, table
from sequoia.sizes import MOST_COLUMNS, MOST_VISITS, require_at_most
from sequoia.validation import (
    ActionArray,
    BoolArray,
    FloatArray,
    IntArray,
    frozen,
    is_not_negative,
    is_positive,
    require,
    set_fields,
    whole,
)

_RESERVED = {"name", "minutes", "visits"}
# Plans found on the way to a best action, which is asked for next.
_MOST_PLANS = 256


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Rota(ActionSpace):
    """Each acted-on arm gets its visits, each within the minutes of a worker in a slot.

    With one slot it is an `Assignment`; with visits that take a whole slot, a `Schedule`.

    Attributes
    ----------
    minutes
        What each worker has in each slot, ``(W, K)``; 0 where the worker is not at work. Slots are
        in the order in which they happen.
    arm_slots
        Which slots suit each arm, ``(J, K)``.
    lengths
        Minutes that a visit to each arm takes, ``(J,)``, positive.
    visits
        How many visits each arm needs to count as acted on, ``(J,)``; no two are made by one worker
        in one slot.
    may_visit
        Which workers may visit which arms, ``(W, J)``.
    limit
        At most so many arms are acted on.
    distinct_workers
        Whether the visits to one arm must be made by different workers.
    most_in_a_row
        In how many slots in a row a worker may make visits before one without; ``None`` for any.
    bonus
        What each visit by a worker to an arm adds, ``(W, J)``, not negative; or ``None``.
        Plans have as much of it as they can.

    Examples
    --------
    >>> from sequoia import Rota
    >>> rota = Rota([[60, 30]], [[True, True]] * 2, [40, 30], names=['Ada', 'Ben'])
    >>> rota.describe(rota.certify([1, 0]))
    ['slot 0: worker 0 visits Ada (40 of 60 minutes used)']
    """

    kind = "rota"
    # Beyond, plans for all sets of arms take longer to find than a program takes.
    most_columns_to_list = 12
    minutes: FloatArray
    arm_slots: BoolArray
    lengths: FloatArray
    visits: IntArray
    may_visit: BoolArray
    limit: int
    distinct_workers: bool
    most_in_a_row: int | None
    bonus: FloatArray | None
    names: Sequence[str]
    worker_names: Sequence[str]
    slot_names: Sequence[str]

    @property
    def argmax_microseconds(self) -> float:
        """Days and hours are searched."""
        return 150.0 * self.n_actions

    def __init__(
        self,
        minutes: ArrayLike,
        arm_slots: ArrayLike,
        lengths: ArrayLike,
        visits: ArrayLike = 1,
        may_visit: ArrayLike | None = None,
        limit: int | None = None,
        distinct_workers: bool = False,
        most_in_a_row: int | None = None,
        names: Sequence[str] | None = None,
        worker_names: Sequence[str] | None = None,
        slot_names: Sequence[str] | None = None,
        bonus: ArrayLike | None = None,
    ) -> None:
        minutes = frozen("rota.minutes", minutes, np.float64, (None, None))
        require("rota.minutes", minutes, is_not_negative(minutes), "minutes are not negative")
        n_workers, n_slots = minutes.shape
        arm_slots = frozen("rota.arm_slots", arm_slots, np.bool_, (None, n_slots))
        n_arms = len(arm_slots)
        lengths = frozen("rota.lengths", lengths, np.float64, (n_arms,))
        require("rota.lengths", lengths, is_positive(lengths), "a visit takes more than 0 minutes")
        if np.ndim(visits) == 0:
            visits = np.full(n_arms, visits)
        visits = frozen("rota.visits", visits, np.int64, (n_arms,))
        fine = (visits >= 1) & (visits <= MOST_VISITS)
        require("rota.visits", visits, fine, f"1 to {MOST_VISITS} visits are wanted")
        may_visit = np.ones((n_workers, n_arms)) if may_visit is None else may_visit
        may_visit = frozen("rota.may_visit", may_visit, np.bool_, (n_workers, n_arms))
        meetings = float((minutes > 0).sum(axis=0) @ arm_slots.sum(axis=0))
        require_at_most("rota", meetings, "meetings of worker, arm and slot", MOST_COLUMNS)
        if bonus is not None:
            bonus = frozen("rota.bonus", bonus, np.float64, (n_workers, n_arms))
            require("rota.bonus", bonus, is_not_negative(bonus), "a bonus is not negative")
        if most_in_a_row is not None:
            most_in_a_row = whole("rota.most_in_a_row", most_in_a_row, 1)
        set_fields(
            self,
            minutes=minutes,
            arm_slots=arm_slots,
            lengths=lengths,
            visits=visits,
            may_visit=may_visit,
            limit=n_arms if limit is None else whole("rota.limit", limit, 0),
            distinct_workers=distinct_workers,
            most_in_a_row=most_in_a_row,
            bonus=bonus,
            names=checked_names("rota.names", names, "arm", n_arms),
            worker_names=checked_names("rota.worker_names", worker_names, "worker", n_workers),
            slot_names=checked_names("rota.slot_names", slot_names, "slot", n_slots),
        )
        for where, taken in (("slot_names", self.slot_names), ("worker_names", self.worker_names)):
            if clash := sorted(_RESERVED & set(taken)):
                raise ProblemError(
                    f'rota.{where} has "{clash[0]}", which is a column of its tables; choose '
                    "another word."
                )

    @property
    def worker_slots(self) -> BoolArray:
        """In which slots each worker is at work, ``(W, K)``."""
        at_work: BoolArray = self.minutes > 0
        return at_work

    @cached_property
    def _openings(self) -> Openings:
        return Openings.of(
            self.minutes,
            self.arm_slots,
            self.may_visit,
            self.lengths,
            self.visits,
            self.distinct_workers,
            self.most_in_a_row,
        )

    @cached_property
    def _formulation(self) -> Formulation:
        openings = self._openings
        places = [self.say_opening(opening) for opening in range(openings.n_openings)]
        visits = [f"{places[b]} visits {self.names[j]}" for j, b in openings.pairs.tolist()]
        return Formulation(openings, self.names, self.worker_names, visits, places, self.limit)

    def say_opening(self, opening: int) -> str:
        """Say when it is, and whose."""
        openings = self._openings
        slot, worker = openings.slot[opening], openings.worker[opening]
        return f"{self.slot_names[slot]}: {self.worker_names[worker]}"

    @cached_property
    def system(self) -> LinearSystem:
        """One plan column per visit that is possible and, where workers rest, per opening."""
        return self._formulation.plain()

    @cached_property
    def _by_patterns(self) -> LinearSystem | None:
        return self._formulation.by_patterns()

    @property
    def compact(self) -> LinearSystem:
        """The same set by patterns of visits; see `Formulation.by_patterns`."""
        return self.system if self._by_patterns is None else self._by_patterns

    @cached_property
    def _search(self) -> RotaSearch | None:
        return self._search_under(None, None)

    def _search_under(self, rows: Rows | None, settled: ActionArray | None) -> RotaSearch | None:
        if self._by_patterns is None:
            return None
        openings = self._openings
        arm, opening = openings.pairs.T
        bonus = None if self.bonus is None else self.bonus[openings.worker[opening], arm]
        return RotaSearch(openings, self._by_patterns, self.limit, bonus, rows, settled)

    @cached_property
    def _packing(self) -> Packing:
        return Packing(self._openings)

    @cached_property
    def _plans(self) -> "OrderedDict[bytes, ActionArray | None]":
        return OrderedDict()

    @property
    def knapsack(self) -> tuple[FloatArray, float]:
        """Minutes of all visits to each arm, and those of all workers."""
        return self.lengths * self.visits, float(self._openings.room.sum())

    def argmax_linear(self, weights: FloatArray) -> ActionArray | None:
        """Decide most arms by reduced costs: see `RotaSearch`; ``None`` where it gives up."""
        return self._maximise(self._search, weights)

    def argmax_under(self, rows: Rows, settled: ActionArray) -> Maximiser | None:
        """Do the same with further rows."""
        return partial(self._maximise, self._search_under(rows, settled))

    def _maximise(self, search: RotaSearch | None, weights: FloatArray) -> ActionArray | None:
        best = None if search is None else search.best(weights)
        if best is None:
            return None
        action, visits = best
        self._remember(action, self._columns(visits))
        return action

    def contains(self, actions: ArrayLike) -> BoolArray:
        """Look for a plan of each action."""
        actions = np.asarray(actions, dtype=np.int8)
        return np.array([self._plan(action) is not None for action in actions], dtype=np.bool_)

    def contains_quick(self, actions: ArrayLike) -> BoolArray:
        """Look for a plan of each action, without a solver."""
        actions = np.asarray(actions, dtype=np.int8)
        return np.array([self._quick(action) is not None for action in actions], dtype=np.bool_)

    def _quick(self, action: ActionArray) -> IntArray | None:
        arms = np.flatnonzero(action)
        if len(arms) > self.limit or not self._is_visitable[arms].all():
            return None
        return self._packing.pack(arms.tolist())

    @cached_property
    def _is_visitable(self) -> BoolArray:
        """The arms that could be acted on alone, ``(J,)``."""
        packing = self._packing
        packing.clear()
        return np.array([packing.choose(arm) is not None for arm in range(self.n_actions)])

    def _plan(self, action: ActionArray) -> ActionArray | None:
        key = action.tobytes()
        if key not in self._plans:
            self._remember(action, self._find_plan(action))
        self._plans.move_to_end(key)
        return self._plans[key]

    def _remember(self, action: ActionArray, plan: ActionArray | None) -> None:
        self._plans[action.tobytes()] = plan
        if len(self._plans) > _MOST_PLANS:
            self._plans.popitem(last=False)

    def _find_plan(self, action: ActionArray) -> ActionArray | None:
        arms = np.flatnonzero(action)
        if len(arms) > self.limit or not self._is_visitable[arms].all():
            return None
        visits = self._quick(action)
        if visits is not None and (self.bonus is None or self._search is None):
            return self._columns(visits)
        if self._search is None:
            return super()._plan(action)
        visits = self._search.plan(action)
        return None if visits is None else self._columns(visits)

    def _columns(self, visits: IntArray) -> ActionArray:
        """Return plan columns for visits, arm and opening each, ``(V, 2)``."""
        columns = np.zeros(self.system.n_columns - self.n_actions, dtype=np.int8)
        columns[self._column_of[visits[:, 0], visits[:, 1]]] = 1
        if self._formulation.n_works:
            columns[len(self._openings.pairs) + np.unique(visits[:, 1])] = 1
        return columns

    @cached_property
    def _column_of(self) -> IntArray:
        """The plan column of each arm and opening, ``(J, B)``; -1 where no visit is possible."""
        pairs = self._openings.pairs
        columns = np.full((self.n_actions, self._openings.n_openings), -1, dtype=np.int64)
        columns[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
        return columns

    def _visits(self, decision: Decision) -> IntArray:
        """Return arm and opening of each visit, ``(V, 2)``."""
        pairs = self._openings.pairs
        visits: IntArray = pairs[decision.plan[: len(pairs)] == 1]
        return visits

    def booked(self, decision: Decision) -> BoolArray:
        """Return who visits whom when, ``(W, J, K)``."""
        workers, slots = self.minutes.shape
        result = np.zeros((workers, self.n_actions, slots), dtype=np.bool_)
        arm, opening = self._visits(decision).T
        result[self._openings.worker[opening], arm, self._openings.slot[opening]] = True
        return result

    def sample(self, rng: np.random.Generator) -> Decision:
        """Arms in random order; each takes random openings that suit it, if it can."""
        packing = self._packing
        packing.clear()
        for arm in rng.permutation(self.n_actions).tolist():
            if len(packing.places) == self.limit:
                break
            free = packing.free(arm)
            chosen = packing.choose(arm, rng.permutation(free).tolist()) if free else None
            for opening in chosen or ():
                packing.put(arm, opening)
        return self._decided(packing)

    def _decided(self, packing: Packing) -> Decision:
        action = np.zeros(self.n_actions, dtype=np.int8)
        action[list(packing.places)] = 1
        return Decision(action, self._columns(packing.visits()))

    def extensions(self, decision: Decision) -> Extensions:
        """One more arm is visited where there is room beside all visits that are planned."""
        visits = self._visits(decision)
        packing = self._packing
        packing.fill(visits)
        additions: list[tuple[int, list[int]]] = []
        if decision.action.sum() < self.limit:
            for arm in np.flatnonzero(decision.action == 0).tolist():
                chosen = packing.choose(arm)
                if chosen is not None:
                    additions.append((arm, chosen))
        arms = np.array([arm for arm, _ in additions], dtype=np.int64)

        def extend(index: int) -> Decision:
            arm, chosen = additions[index]
            action = decision.action.copy()
            action[arm] = 1
            more = np.array([(arm, opening) for opening in chosen], dtype=np.int64)
            return Decision(action, self._columns(np.concatenate([visits, more])))

        costs = (self.lengths * self.visits)[arms]
        return Extensions(arms, np.zeros_like(arms), costs, extend)

    def describe(self, decision: Decision) -> list[str]:
        """One line per slot and worker."""
        openings, visits = self._openings, self._visits(decision)
        lines = []
        for opening in np.lexsort((openings.worker, openings.slot)).tolist():
            arms = visits[visits[:, 1] == opening, 0]
            if len(arms):
                used = self.lengths[arms].sum()
                whom = say(self.names[arm] for arm in arms.tolist())
                lines.append(
                    f"{self.say_opening(opening)} visits {whom} ({used:g} of "
                    f"{openings.minutes[opening]:g} minutes used)"
                )
        return lines or ["Nobody visits anyone"]

    def tasks(self, decision: Decision) -> list[Task]:
        """One task per visit, slot by slot."""
        booked = self.booked(decision).transpose(2, 0, 1)
        return [
            Task(
                self.worker_names[worker],
                self.slot_names[slot],
                self.names[arm],
                f"visit, {self.lengths[arm]:g} minutes",
            )
            for slot, worker, arm in np.argwhere(booked).tolist()
        ]

    def summary(self) -> str:
        """Say the minutes, the visits, and who may visit whom."""
        workers, slots = self.minutes.shape
        share = self.may_visit.mean() if self.may_visit.size else 1.0
        noun = "visit" if (self.visits == 1).all() else "visits"
        parts = [
            f"rota: {count(workers, 'worker')} with {between(self.worker_slots.sum(axis=1))} of "
            f"{count(slots, 'slot')}, {between(self.minutes[self.worker_slots])} minutes each",
            f"arms with {between(self.arm_slots.sum(axis=1))} slots, {between(self.visits)} {noun} "
            f"of {between(self.lengths)} minutes",
        ]
        if share < 1:
            parts.append(f"a worker may visit {100 * share:.0f}% of the arms")
        if self.distinct_workers:
            parts.append("visits to an arm by different workers")
        if self.most_in_a_row is not None:
            parts.append(f"at most {count(self.most_in_a_row, 'slot')} in a row")
        if self.limit < self.n_actions:
            parts.append(f"at most {count(self.limit, 'arm')}")
        return "; ".join(parts)

    def _with_hours(self, where: str, hours: Mapping[str, float]) -> "Rota":
        """Keep the first hours of the day; more than usual are added to a worker's last slot."""
        minutes = self.minutes.copy()
        for name, given in hours.items():
            worker = index_of(where, self.worker_names, name)
            usual = minutes[worker].copy()
            before = np.cumsum(usual) - usual
            minutes[worker] = np.clip(60 * given - before, 0.0, usual)
            extra = 60 * given - usual.sum()
            if extra > 0:
                if not usual.any():
                    raise ProblemError(f"{where} gives {name} hours, who works in no slot.")
                minutes[worker, np.flatnonzero(usual)[-1]] += extra
        return replace(self, minutes=minutes)

    def usual_hours(self, worker: str) -> float:
        """Return how many hours a worker has in all slots together."""
        return float(self.minutes[index_of("hours", self.worker_names, worker)].sum()) / 60

    def visit_columns(self, arm: int, worker: int | None, slot: int | None) -> IntArray:
        """Return the visits that may be meant."""
        openings = self._openings
        arms, opening = openings.pairs.T
        fits = (arms == arm) & (True if worker is None else openings.worker[opening] == worker)
        columns = np.flatnonzero(fits & (True if slot is None else openings.slot[opening] == slot))
        return self.n_actions + columns

    def with_bonus(self, bonus: FloatArray) -> "Rota":
        """Add to what visits are worth."""
        return replace(self, bonus=bonus if self.bonus is None else self.bonus + bonus)

    def with_lock(self, arm: int, worker: int | None, slot: int | None) -> "Rota | None":
        """Let nobody else come, and at no other time, where an arm needs just one visit."""
        if self.visits[arm] > 1:
            return None
        may_visit, slots = self.may_visit.copy(), self.arm_slots.copy()
        if worker is not None:
            may_visit[:, arm] &= np.arange(len(may_visit)) == worker
        if slot is not None:
            slots[arm] &= np.arange(slots.shape[1]) == slot
        return replace(self, may_visit=may_visit, arm_slots=slots)

    def _why_not(self, action: ActionArray) -> str:
        """Name the arm that nobody can visit, or the fewest arms that do not fit together."""
        return why_not(self, self._openings, self._is_visitable, action)

    def to_tables(self) -> TableSet:
        """Options and tables of this space."""
        return _to_tables(self)

    @classmethod
    def from_tables(cls, content: TableSet) -> "Rota":
        """Build from options and tables."""
        return cls(**_from_tables(content))


def _to_tables(space: Rota) -> TableSet:
    """Return options and tables."""
    slots = list(space.slot_names)
    arms: dict[str, Column] = {
        "name": space.names,
        "minutes": space.lengths,
        "visits": space.visits,
    }
    arms |= dict(zip(slots, space.arm_slots.T, strict=True))
    workers = {"name": space.worker_names} | dict(zip(slots, space.minutes.T, strict=True))
    tables = table("actions", **arms) | table("workers", **workers)
    tables |= visitors_table(space.may_visit, space.names, space.worker_names)
    options = {"limit": space.limit, "distinct_workers": space.distinct_workers, "slots": slots}
    if space.most_in_a_row is not None:
        options["most_in_a_row"] = space.most_in_a_row
    return TableSet(options, tables)


def _from_tables(content: TableSet) -> dict[str, Any]:
    """Return what a `Rota` is made of."""
    content.known({"kind", "limit", "distinct_workers", "slots", "most_in_a_row"})
    slots = [str(slot) for slot in content.option("slots", list)]
    arms, workers = content.table("actions"), content.table("workers")
    names, worker_names = arms.names("name"), workers.names("name")
    lengths = arms.floats("minutes", is_positive, "a visit takes more than 0 minutes")
    visits = arms.integers("visits", least=1)
    wanted = "minutes are not negative"
    minutes = [workers.floats(slot, is_not_negative, wanted) for slot in slots]
    arm_slots = [arms.booleans(slot) for slot in slots]
    limit = content.option("limit", int, len(arms), least=0)
    is_distinct = content.option("distinct_workers", bool, False)
    in_a_row = None
    if "most_in_a_row" in content.options:
        in_a_row = content.option("most_in_a_row", int, least=1)
    may_visit = read_visitors(content, names, worker_names)
    content.settle()
    return {
        "minutes": np.array(minutes).reshape(len(slots), len(workers)).T,
        "arm_slots": np.array(arm_slots).reshape(len(slots), len(arms)).T,
        "lengths": lengths,
        "visits": visits,
        "may_visit": may_visit,
        "limit": limit,
        "distinct_workers": is_distinct,
        "most_in_a_row": in_a_row,
        "names": names,
        "worker_names": worker_names,
        "slot_names": slots,
    }
