"""Workers with capacities, arms with costs: the generalised assignment of the paper."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from sequoia.errors import ProblemError
from sequoia.problem.names import between, checked_names, count, index_of, say
from sequoia.problem.spaces.assignment.bin_packing import (
    Packer,
    PackingTable,
    PackingTooHard,
    Pattern,
    maximal_patterns,
)
from sequoia.problem.spaces.assignment.class_counts import ClassCounts
from sequoia.problem.spaces.assignment.locked import LockedAssignment
from sequoia.problem.spaces.base import ActionSpace, Extensions, Maximiser, Task
from sequoia.problem.system import Decision, LinearSystem, Rows, room
from sequoia.problem.tables import TableSet, table
from sequoia.sizes import MOST_COLUMNS, require_at_most
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
)

_MAX_LOADS = 2_000


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Assignment(ActionSpace):
    """Each acted-on arm is visited by a worker; each worker stays within capacity.

    Attributes
    ----------
    costs
        What a visit to each arm takes, ``(J,)``, positive.
    capacities
        What each worker can give in one step, ``(W,)``.

    Examples
    --------
    >>> from sequoia import Assignment
    >>> space = Assignment([2, 3, 2], [4], names=['Ada', 'Ben', 'Cleo'], worker_names=['Olga'])
    >>> space.describe(space.certify([1, 0, 1]))
    ['Olga visits Ada and Cleo (4 of 4 units used)']
    """

    kind = "assignment"
    costs: FloatArray
    capacities: FloatArray
    names: Sequence[str]
    worker_names: Sequence[str]

    def __init__(
        self,
        costs: ArrayLike,
        capacities: ArrayLike,
        names: Sequence[str] | None = None,
        worker_names: Sequence[str] | None = None,
    ) -> None:
        costs = frozen("assignment.costs", costs, np.float64, (None,))
        require("assignment.costs", costs, np.isfinite(costs) & (costs > 0), "a cost is positive")
        capacities = frozen("assignment.capacities", capacities, np.float64, (None,))
        fine = np.isfinite(capacities) & (capacities >= 0)
        require("assignment.capacities", capacities, fine, "a capacity is not negative")
        pairs = len(costs) * len(capacities)
        require_at_most("assignment", pairs, "pairs of worker and arm", MOST_COLUMNS)
        workers = checked_names("assignment.worker_names", worker_names, "worker", len(capacities))
        set_fields(
            self,
            costs=costs,
            capacities=capacities,
            names=checked_names("assignment.names", names, "arm", len(costs)),
            worker_names=workers,
        )

    @property
    def n_workers(self) -> int:
        """``W``."""
        return len(self.capacities)

    @cached_property
    def system(self) -> LinearSystem:
        """Plan column ``i * J + j``: worker ``i`` visits arm ``j`` (appendix C)."""
        arms, workers = self.n_actions, self.n_workers
        one_arm, one_worker = sparse.eye_array(arms), sparse.eye_array(workers)
        each_worker = np.ones((workers, 1))
        pairs = [f"{worker} visits {arm}" for worker in self.worker_names for arm in self.names]
        no_action = sparse.csr_array((workers, arms))
        return LinearSystem.from_rows(
            [
                Rows.at_most(
                    sparse.hstack([no_action, sparse.kron(one_worker, self.costs[None, :])]),
                    self.capacities,
                    [f"capacity of {worker}" for worker in self.worker_names],
                ),
                Rows.at_most(
                    sparse.hstack([one_arm, -sparse.kron(each_worker.T, one_arm)]),
                    0.0,
                    [f"{arm} needs a worker" for arm in self.names],
                ),
                Rows.at_most(
                    sparse.hstack(
                        [-sparse.kron(each_worker, one_arm), sparse.eye_array(workers * arms)]
                    ),
                    0.0,
                    [f"{pair} only if acted on" for pair in pairs],
                ),
            ],
            arms,
            [*self.names, *pairs],
        )

    @cached_property
    def _patterns(self) -> dict[float, list[Pattern]] | None:
        """The maximal loads of each capacity; ``None`` when there are too many."""
        sizes, counts = np.unique(self.costs, return_counts=True)
        patterns: dict[float, list[Pattern]] = {}
        left = _MAX_LOADS
        for capacity in np.unique(self.capacities).tolist():
            maximal = maximal_patterns(sizes.tolist(), counts.tolist(), capacity, left)
            if maximal is None:
                return None
            patterns[capacity] = maximal
            left -= len(maximal)
        return patterns

    @cached_property
    def compact(self) -> LinearSystem:
        """Count arms by cost: those of one cost are interchangeable, so no row names an arm.

        Where they are few, whole loads are counted: how many workers of each capacity carry each
        maximal load. Otherwise, how many arms of each cost each worker visits.
        """
        sizes, size_of = self._sizes
        of_size = (size_of == np.arange(len(sizes))[:, None]).astype(np.float64)
        counted = self._visit_counts if self._patterns is None else self._loads
        served, limits, names, most = counted()
        return LinearSystem.from_rows(
            [
                Rows.at_most(
                    sparse.hstack([sparse.csr_array(of_size), -served]),
                    0.0,
                    [f"places for arms of cost {size:g}" for size in sizes],
                ),
                limits,
            ],
            self.n_actions,
            [*self.names, *names],
            column_upper=np.concatenate([np.ones(self.n_actions), most]),
        )

    def _loads(self) -> tuple[sparse.csr_array, Rows, list[str], FloatArray]:
        """Return the arms of each cost that a load has, who may carry it, its name, how often."""
        assert self._patterns is not None
        rooms, n_workers = np.unique(self.capacities, return_counts=True)
        patterns = [pattern for room in rooms.tolist() for pattern in self._patterns[room]]
        owner = np.repeat(np.arange(len(rooms)), [len(self._patterns[r]) for r in rooms.tolist()])
        served = np.array(patterns, dtype=np.float64).reshape(-1, len(self._sizes[0]))
        of_room = (owner == np.arange(len(rooms))[:, None]).astype(np.float64)
        limits = Rows.at_most(
            np.hstack([np.zeros((len(rooms), self.n_actions)), of_room]),
            n_workers,
            [f"workers of capacity {room:g}" for room in rooms],
        )
        names = [f"load {load}" for load in patterns]
        return sparse.csr_array(served.T), limits, names, n_workers[owner].astype(np.float64)

    def _visit_counts(self) -> tuple[sparse.csr_array, Rows, list[str], FloatArray]:
        """Return the same for columns that count one worker's visits to arms of one cost."""
        sizes, size_of = self._sizes
        served = sparse.kron(np.ones((1, self.n_workers)), sparse.eye_array(len(sizes)))
        spent = sparse.kron(sparse.eye_array(self.n_workers), sizes[None, :])
        limits = Rows.at_most(
            sparse.hstack([sparse.csr_array((self.n_workers, self.n_actions)), spent]),
            self.capacities,
            [f"capacity of {worker}" for worker in self.worker_names],
        )
        names = [f"visits of {w} to arms of cost {s:g}" for w in self.worker_names for s in sizes]
        fitting = np.floor(room(self.capacities)[:, None] / sizes)
        most = np.minimum(np.bincount(size_of, minlength=len(sizes)), fitting)
        return sparse.csr_array(served), limits, names, most.reshape(-1)

    @cached_property
    def _sizes(self) -> tuple[FloatArray, IntArray]:
        """The different costs, ascending, and which of them each arm has, ``(J,)``."""
        sizes, size_of = np.unique(self.costs, return_inverse=True)
        return sizes, size_of.reshape(-1)

    @cached_property
    def _table(self) -> PackingTable | None:
        """All counts that can be visited; ``None`` when there are too many."""
        if self._patterns is None:
            return None
        counts = np.bincount(self._sizes[1]).tolist()
        return PackingTable.of(counts, [self._patterns[room] for room in self.capacities.tolist()])

    @cached_property
    def knapsack(self) -> tuple[FloatArray, float]:
        """Costs, and what the fullest counts cost or, if that is not known, all capacities."""
        if self._table is None:
            return self.costs, float(room(self.capacities).sum())
        return self.costs, float(room((self._table.maximal @ self._sizes[0]).max()))

    @property
    def has_quick_contains(self) -> bool:
        """Whether all counts that can be visited are listed."""
        return self._table is not None

    def contains(self, actions: ArrayLike) -> BoolArray:
        """Decide by how many arms of each cost are visited."""
        counts = self._counts(np.asarray(actions, dtype=np.int8))
        if self._table is not None:
            return self._table.contain(counts)
        _, first, position = np.unique(counts, axis=0, return_index=True, return_inverse=True)
        actions = np.asarray(actions, dtype=np.int8)
        verdicts = np.array([self._plan(actions[i]) is not None for i in first], dtype=np.bool_)
        result: BoolArray = verdicts[position.reshape(-1)]
        return result

    def argmax_linear(self, weights: FloatArray) -> ActionArray | None:
        """Of each cost, take the heaviest arms; how many, is looked up."""
        if self._table is None:
            return None
        order = np.lexsort((-weights, self._sizes[1]))
        arms = [order[members] for members in self._places]
        gains = np.maximum(weights, 0.0)
        lot = self._table.best([gains[members].cumsum() for members in arms])
        chosen = np.concatenate([members[:taken] for members, taken in zip(arms, lot, strict=True)])
        action = np.zeros(self.n_actions, dtype=np.int8)
        action[chosen[weights[chosen] > 0]] = 1
        return action

    def argmax_under(self, rows: Rows, settled: ActionArray) -> Maximiser | None:
        """Look up the best counts of arms that the rows treat alike, where these are not many."""
        if self._table is None:
            return None
        counts = ClassCounts.of(rows, self._sizes[1], self._table)
        return None if counts is None else partial(counts.best, settled=settled)

    @cached_property
    def _places(self) -> list[slice]:
        """The positions of the arms of each cost, when all arms are ordered by cost."""
        ends = np.cumsum(np.bincount(self._sizes[1])).tolist()
        return [slice(start, end) for start, end in pairwise([0, *ends])]

    @cached_property
    def _packer(self) -> Packer | None:
        if self._patterns is None:
            return None
        rooms = self.capacities.tolist()
        return Packer(self._sizes[0].tolist(), rooms, [self._patterns[room] for room in rooms])

    def _counts(self, actions: ActionArray) -> IntArray:
        """Return how many arms of each cost each action visits, ``(B, costs)``."""
        sizes, size_of = self._sizes
        counts: IntArray = actions @ np.eye(len(sizes), dtype=np.int64)[size_of]
        return counts

    def _plan(self, action: ActionArray) -> ActionArray | None:
        patterns = self._packed(action)
        if patterns is None:
            return None
        visits = np.zeros((self.n_workers, self.n_actions), dtype=np.int8)
        for index, size in enumerate(self._sizes[0]):
            arms = np.flatnonzero((action == 1) & (self.costs == size))
            visits[
                np.repeat(np.arange(self.n_workers), [pattern[index] for pattern in patterns]), arms
            ] = 1
        return visits.reshape(-1)

    def _packed(self, action: ActionArray) -> list[Pattern] | None:
        """Return what each worker carries; a solver says where a search would take too long."""
        if self._packer is not None:
            with suppress(PackingTooHard):
                return self._packer.pack(tuple(self._counts(action[None])[0].tolist()))
        values = self._settle(self.compact.program(np.zeros(self.n_actions), fixed=action))
        if values is None:
            return None
        left = self._counts(action[None])[0]
        carried: list[Pattern] = []
        for offered in self._offered(np.rint(values[self.n_actions :]).astype(np.int64)):
            taken = np.minimum(offered, left)
            carried.append(tuple(taken.tolist()))
            left = left - taken
        return carried

    def _offered(self, plan: IntArray) -> IntArray:
        """Return for how many arms of each cost each worker has room, ``(W, costs)``."""
        sizes = len(self._sizes[0])
        if self._patterns is None:
            return plan.reshape(self.n_workers, sizes)
        offered = np.zeros((self.n_workers, sizes), dtype=np.int64)
        loads = iter(plan.tolist())
        for capacity in np.unique(self.capacities).tolist():
            patterns = self._patterns[capacity]
            used = [pattern for pattern in patterns for _ in range(next(loads))]
            workers = np.flatnonzero(self.capacities == capacity)[: len(used)]
            offered[workers] = np.array(used, dtype=np.int64).reshape(-1, sizes)
        return offered

    def visits(self, decision: Decision) -> BoolArray:
        """Return who visits whom, ``(W, J)``."""
        result: BoolArray = decision.plan.reshape(self.n_workers, self.n_actions) == 1
        return result

    def sample(self, rng: np.random.Generator) -> Decision:
        """Workers and arms in random order; each worker takes what still fits (appendix D)."""
        workers = rng.permutation(self.n_workers)
        left = room(self.capacities[workers]).tolist()
        arms = rng.permutation(self.n_actions).tolist()
        costs = self.costs.tolist()
        columns: list[int] = []
        cheapest = min(costs, default=np.inf)
        for free, worker in zip(left, workers.tolist(), strict=True):
            passed = []
            for position, arm in enumerate(arms):
                if costs[arm] <= free:
                    columns += [arm, self.n_actions * (1 + worker) + arm]
                    free -= costs[arm]
                    if free < cheapest:
                        passed += arms[position + 1 :]
                        break
                else:
                    passed.append(arm)
            arms = passed
        return self._decision(columns)

    def extensions(self, decision: Decision) -> Extensions:
        """Any worker with room takes one more arm; workers in ascending order of capacity."""
        left = room(self.capacities) - self.visits(decision) @ self.costs
        fits = (self.costs <= left[:, None]) & (decision.action == 0)
        workers, arms = np.nonzero(fits)
        rank = np.empty(self.n_workers, dtype=np.int64)
        rank[np.argsort(self.capacities, kind="stable")] = np.arange(self.n_workers)

        def extend(index: int) -> Decision:
            action, plan = decision.action.copy(), decision.plan.copy()
            action[arms[index]] = 1
            plan[workers[index] * self.n_actions + arms[index]] = 1
            return Decision(action, plan)

        return Extensions(arms, rank[workers], self.costs[arms], extend)

    def describe(self, decision: Decision) -> list[str]:
        """One line per worker who has something to do."""
        lines = []
        for worker, visited in enumerate(self.visits(decision)):
            if visited.any():
                arms = say(self.chosen(visited.astype(np.int8)))
                used, capacity = self.costs[visited].sum(), self.capacities[worker]
                name = self.worker_names[worker]
                name = name[0].upper() + name[1:]
                lines.append(f"{name} visits {arms} ({used:g} of {capacity:g} units used)")
        return lines or ["Nobody visits anyone"]

    def tasks(self, decision: Decision) -> list[Task]:
        """One task per visit, worker by worker."""
        return [
            Task(self.worker_names[worker], "", self.names[arm], "visit")
            for worker, arm in np.argwhere(self.visits(decision)).tolist()
        ]

    def summary(self) -> str:
        """Say the capacities and the costs."""
        total = self.capacities.sum()
        return (
            f"assignment: {count(self.n_workers, 'worker')} with capacity "
            f"{between(self.capacities)} ({total:g} in all); a visit takes {between(self.costs)}"
        )

    def _with_hours(self, where: str, hours: Mapping[str, float]) -> "Assignment":
        """Hours are in the unit of capacities."""
        capacities = self.capacities.copy()
        for name, given in hours.items():
            capacities[index_of(where, self.worker_names, name)] = given
        return replace(self, capacities=capacities)

    def usual_hours(self, worker: str) -> float:
        """Return the capacity of a worker."""
        return float(self.capacities[index_of("hours", self.worker_names, worker)])

    def with_lock(self, arm: int, worker: int | None, slot: int | None) -> LockedAssignment | None:
        """Let a visit by a worker take its share of their hours."""
        if worker is None or slot is not None or self.n_actions == 1:
            return None
        return LockedAssignment(self, [(arm, worker)])

    def visit_columns(self, arm: int, worker: int | None, slot: int | None) -> IntArray:
        """Return the column of each worker who may be meant."""
        if slot is not None:
            raise ProblemError("an assignment has no slots that could be locked.")
        workers = np.arange(self.n_workers) if worker is None else np.array([worker])
        columns: IntArray = self.n_actions + workers * self.n_actions + arm
        return columns

    def to_tables(self) -> TableSet:
        """Options and tables of this space."""
        return TableSet(
            {},
            table("actions", name=self.names, cost=self.costs)
            | table("workers", name=self.worker_names, capacity=self.capacities),
        )

    @classmethod
    def from_tables(cls, content: TableSet) -> "Assignment":
        """Build from options and tables."""
        content.known({"kind"})
        actions, workers = content.table("actions"), content.table("workers")
        costs = actions.floats("cost", is_positive, "a cost is positive")
        capacities = workers.floats("capacity", is_not_negative, "a capacity is not negative")
        names, worker_names = actions.names("name"), workers.names("name")
        content.settle()
        return cls(costs, capacities, names, worker_names)
