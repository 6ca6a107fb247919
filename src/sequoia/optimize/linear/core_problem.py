"""The best action among very many columns: most are decided by their price, a few by a solver."""

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.optimize.linear.dual_rows import rows_by_kind
from sequoia.optimize.result import ArgmaxResult
from sequoia.problem import LinearSystem
from sequoia.problem.iis import no_decision
from sequoia.solvers import Limits, Program, Solver, Status
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

# A linear program over 2,000 groups takes some 10 ms; 100 segments of each kind, short where
# columns are good, give prices to begin with.
_MAX_GROUPS, _SEGMENTS = 2_000, 100
# Prices are best after one or two.
_REFINEMENTS = 5
# How many groups the solver decides: the first is mostly enough, and the last still takes seconds.
_WINDOWS = (300, 1_500, 6_000)
# What rounding leaves of sums of thousands of weights.
_ROUNDING = 1e-9


class CoreProblem:
    """Maximises a linear weight where columns come in few kinds with the same coefficients.

    Row prices come from a small linear program over segments of equally useful columns. A column
    whose weight is far from its price is decided by it: to decide otherwise costs at least the
    difference, and more than a difference of ``bound - value`` proves that it does not pay. The
    rest, the core, is left to the solver (Balas and Zemel 1980). Weights are about 1.
    """

    def __init__(self, system: LinearSystem, solver: Solver) -> None:
        self._system = system
        self._solver = solver
        self._rows, self._kind, _ = rows_by_kind(system)

    @cached_property
    def _use(self) -> FloatArray:
        return np.asarray(self._rows.use.toarray())

    @property
    def is_useful(self) -> bool:
        """Whether there are few kinds of columns, and all others are bounded."""
        rows, kinds = self._rows.use.shape
        is_open = self._system.column_upper[: self._system.n_actions].min() == 1
        return bool(rows * kinds <= 20_000 and self._rows.is_finite and is_open)

    def best(self, weights: FloatArray, limits: Limits) -> ArgmaxResult:
        """Return the action that maximises ``weights``, ``(N,)``."""
        groups = _Groups.of(self._kind, weights)
        prices = self._refined(groups, self._prices(groups))
        left, most = self._dual(groups, prices)
        counts, value, bound = None, -np.inf, most
        distance = np.abs(left)
        for window in _WINDOWS:
            is_open = np.ones(len(left), dtype=np.bool_)
            if window < len(left):
                is_open = distance < np.partition(distance, window)[window]
            tried, reached, proven = self._decide(groups, left, is_open, limits)
            loss = distance[~is_open].min(initial=np.inf)
            bound = min(bound, max(proven, most - loss))
            if reached > value:
                counts, value = tried, reached
            if value >= bound - _ROUNDING * max(1.0, abs(bound)) or is_open.all():
                break
        action = groups.action(np.zeros(len(left)) if counts is None else counts)
        return ArgmaxResult.of_one(action, value, max(bound, value), False)

    def _prices(self, groups: "_Groups") -> FloatArray:
        """Return row prices from a program over segments of similar columns."""
        first = groups.segments(self._use.shape[1])
        sizes = np.add.reduceat(groups.size, first)
        means = np.add.reduceat(groups.weight * groups.size, first) / sizes
        n_own = self._rows.own.shape[1]
        program = self._program(means, groups.kind[first], sizes, np.zeros(len(first) + n_own))
        solution = self._solver.solve(program)
        if solution.status is Status.INFEASIBLE:
            raise no_decision(self._system)
        if solution.row_duals is None:
            return np.zeros(self._rows.n_rows)
        return self._rows.project_sign(solution.row_duals)

    def _dual(self, groups: "_Groups", prices: FloatArray) -> tuple[FloatArray, float]:
        """Return what is left of each group's weight after its price, and the bound it proves."""
        left = groups.weight - (prices @ self._use)[groups.kind]
        return left, float(np.maximum(left, 0.0) @ groups.size + self._rows.support(prices))

    def _refined(self, groups: "_Groups", prices: FloatArray) -> FloatArray:
        """Improve prices with a program over the groups whose weight is closest to their price."""
        left, most = self._dual(groups, prices)
        for _ in range(_REFINEMENTS if len(groups.first) > _MAX_GROUPS else 0):
            distance = np.abs(left)
            is_open = distance <= np.partition(distance, _MAX_GROUPS)[_MAX_GROUPS]
            counts = np.where((left > 0) & ~is_open, groups.size, 0.0)
            taken = self._use @ np.bincount(groups.kind, counts, minlength=self._use.shape[1])
            kept = np.flatnonzero(is_open)
            no_one = np.zeros(len(kept) + self._rows.own.shape[1])
            weight, kind, size = groups.weight[kept], groups.kind[kept], groups.size[kept]
            solution = self._solver.solve(self._program(weight, kind, size, no_one, taken))
            if solution.row_duals is None:
                break
            tried = self._rows.project_sign(solution.row_duals)
            left_now, most_now = self._dual(groups, tried)
            if most_now >= most:
                break
            prices, left, most = tried, left_now, most_now
        return prices

    def _decide(
        self, groups: "_Groups", left: FloatArray, is_open: BoolArray, limits: Limits
    ) -> tuple[FloatArray, float, float]:
        """Solve for the open groups; all others are as their price says.

        Returns counts by group, their weight, and a bound on any that agree outside.
        """
        counts = np.where((left > 0) & ~is_open, groups.size, 0.0)
        taken = self._use @ np.bincount(groups.kind, counts, minlength=self._use.shape[1])
        open_groups = np.flatnonzero(is_open)
        whole = self._system.is_integer[self._system.n_actions :]
        is_whole = np.concatenate([np.ones(len(open_groups), dtype=np.bool_), whole])
        program = self._program(
            groups.weight[open_groups],
            groups.kind[open_groups],
            groups.size[open_groups],
            is_whole,
            taken,
        )
        solution = self._solver.solve(program, limits)
        base = float(groups.weight @ counts)
        if solution.values is None:
            bound = -np.inf if solution.status is Status.INFEASIBLE else np.inf
            return counts, -np.inf, bound
        counts[open_groups] = np.rint(solution.values[: len(open_groups)])
        return counts, float(groups.weight @ counts), base + solution.bound

    def _program(
        self,
        weights: FloatArray,
        kind: IntArray,
        sizes: FloatArray,
        is_whole: FloatArray | BoolArray,
        taken: FloatArray | float = 0.0,
    ) -> Program:
        rows = self._rows
        n_own = rows.own.shape[1]
        return Program(
            np.concatenate([weights, np.zeros(n_own)]),
            sparse.hstack([csr_array(self._use[:, kind]), rows.own], format="csr"),
            rows.lower - taken,
            rows.upper - taken,
            np.zeros(len(weights) + n_own),
            np.concatenate([sizes, rows.own_upper]),
            np.asarray(is_whole, dtype=np.bool_),
        )


@dataclass(frozen=True, eq=False)
class _Groups:
    """Columns of one kind and one weight, best first within each kind.

    Attributes
    ----------
    order
        The columns, group after group, ``(N,)``.
    first
        Where each group starts in ``order``.
    kind, weight, size
        Of each group.
    """

    order: IntArray
    first: IntArray
    kind: IntArray
    weight: FloatArray
    size: FloatArray

    @classmethod
    def of(cls, kind: IntArray, weight: FloatArray) -> "_Groups":
        order = np.lexsort((-weight, kind))
        kind, weight = kind[order], weight[order]
        is_first = np.ones(len(order), dtype=np.bool_)
        is_first[1:] = (np.diff(kind) != 0) | (np.diff(weight) != 0)
        first = np.flatnonzero(is_first)
        size = np.diff(np.append(first, len(order))).astype(np.float64)
        return cls(order, first, kind[first], weight[first], size)

    def segments(self, kinds: int) -> IntArray:
        """Return where segments of groups start: short ones first, then ever longer ones."""
        if len(self.first) <= _MAX_GROUPS:
            return np.arange(len(self.first))
        edges = np.searchsorted(self.kind, np.arange(kinds + 1))
        starts = []
        for begin, end in itertools.pairwise(edges.tolist()):
            if end > begin:
                marks = np.geomspace(1, end - begin, _SEGMENTS).astype(np.int64)
                starts.append(begin + np.unique(marks) - 1)
        return np.concatenate(starts)

    def action(self, counts: FloatArray) -> ActionArray:
        """Return the action, ``(N,)``, that takes so many columns of each group."""
        rank = np.arange(len(self.order)) - np.repeat(self.first, self.size.astype(np.int64))
        action = np.zeros(len(self.order), dtype=np.int8)
        action[self.order[rank < np.repeat(counts, self.size.astype(np.int64))]] = 1
        return action
