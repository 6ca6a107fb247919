"""The best rota for a weight per arm: reduced costs decide most arms, a solver the others."""

from collections.abc import Iterator
from dataclasses import replace
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sequoia.problem.spaces.rota.packing import Openings, Packing
from sequoia.problem.system import LinearSystem, Rows
from sequoia.scaling import unit_of
from sequoia.solvers import LEAN, Highs, Limits, Program, Status
from sequoia.validation import ActionArray, FloatArray, IntArray

# The best rota loses about half of what rounding the relaxation would, and mostly no more than this
# share of the bound where nothing is to be rounded. Guesses then grow fourfold.
_LOSS, _LEAST_SHARE, _MORE = 0.5, 5e-5, 4.0
# About a second where there are 100 arms; then a caller's own limits are to decide.
_MOST_NODES = 2_000
# Parts by counts, each a relaxation; mostly fewer than ten.
_MOST_PARTS = 50
# What a count in the relaxation may be off and be whole.
_WHOLE = 1e-6
_EXACT = 1e-9


class _Node(NamedTuple):
    """The relaxation with counts within bounds.

    Attributes
    ----------
    bound
        No rota within them is worth more.
    left
        Reduced costs of whole columns, ``(C,)``.
    guess
        Of what the best rota loses against the bound.
    low, high, counts
        Bounds of what rows count, and how much that is in the relaxation, ``(K,)``.
    """

    bound: float
    left: FloatArray
    guess: float
    low: FloatArray
    high: FloatArray
    counts: FloatArray


def _counts(rows: Rows) -> Rows:
    """Return a row for each set of arms with one coefficient in a row: how many are visited."""
    dense = rows.matrix.toarray()
    each = [
        column == value for column in dense for value in np.unique(column[column != 0]).tolist()
    ]
    sets = np.unique(each, axis=0) if each else np.zeros((0, dense.shape[1]))
    size = sets.sum(axis=1).astype(np.float64)
    return Rows(csr_array(sets.astype(np.float64)), 0 * size, size, ["visited"] * len(sets))


class RotaSearch:
    """Maximises weights over a rota; keeps its linear relaxation from one question to the next.

    First arms are added by weight. Unless all that weigh something find room, the relaxation gives
    a bound and reduced costs: what it costs at least to change a column. A guess of the gap then
    fixes most columns, and a solver decides the others (Balas and Zemel 1980). What it finds is
    best if it is no farther from the bound than guessed; else a larger gap is guessed.

    Further rows over arms are part of the relaxation and of the programs. How many arms they count
    is whole, and the relaxation loses most where it is not: the search branches on that first.
    """

    def __init__(
        self,
        openings: Openings,
        system: LinearSystem,
        limit: int,
        bonus: FloatArray | None = None,
        rows: Rows | None = None,
        settled: ActionArray | None = None,
    ) -> None:
        if settled is None:
            settled = np.full(system.n_actions, -1, dtype=np.int8)
        self._settled = settled
        self._rows = None
        self._most_counted = np.empty(0)
        if rows is not None:
            names = system.column_names[: system.n_actions]
            self._rows = LinearSystem.from_rows([rows], system.n_actions, names)
            counts = _counts(rows)
            self._most_counted = counts.upper
            system = system.with_rows(rows).with_rows(counts)
        self._packing = Packing(openings)
        self._arm_of_visit = openings.pairs[:, 0]
        self._pairs = openings.pairs
        self._system = system
        self._limit = limit
        self._n_whole = int(system.is_integer.sum())
        self._bonus = bonus
        program = system.program(np.zeros(system.n_actions))
        lower, upper = program.column_lower.copy(), program.column_upper.copy()
        lower[: len(settled)][settled == 1] = 1.0
        upper[: len(settled)][settled == 0] = 0.0
        self._program = replace(program, column_lower=lower, column_upper=upper)
        relaxed = system.program(np.zeros(system.n_actions), relaxed=True)
        self._session = Highs(presolve="off").session(relaxed)
        self._transposed = system.matrix.T.tocsr()

    def best(self, weights: FloatArray) -> tuple[ActionArray, IntArray] | None:
        """Return a best action, ``(J,)``, and its visits, ``(V, 2)``; ``None`` if too hard."""
        objective = self._objective(weights)
        objective /= unit_of(objective)
        greedy = self._greedy(objective)
        value = self._value(objective, greedy)
        if value >= np.maximum(objective, 0.0).sum() * (1 - _EXACT):
            return greedy
        best = None
        for node in self._nodes(objective):
            if node.bound <= value + _EXACT * abs(value):
                break
            gap, guess, widest = 0.0, node.guess, float(np.abs(node.left).max(initial=0.0))
            start = None
            # Where nothing was fixed, what is known by now is the best of this node, if anything.
            while gap * (1 + _EXACT) < node.bound - value and gap <= widest:
                gap = min(guess, node.bound - value)
                guess *= _MORE
                program = self._core(objective, node, gap)
                solved = Highs(**LEAN).solve(program, Limits(gap=_EXACT, nodes=_MOST_NODES), start)
                if solved.status is Status.LIMIT:
                    return None
                if solved.values is not None and solved.objective > value:
                    start = best = solved.values
                    value = solved.objective
        if value == -np.inf:  # the rules on top allow nothing
            return None
        return greedy if best is None else self._read(best)

    def _nodes(self, objective: FloatArray) -> Iterator["_Node"]:
        """Yield relaxations in which all counts are whole, the best bound first."""
        nothing = np.zeros_like(self._most_counted)
        first = self._relax(objective, nothing, self._most_counted)
        waiting, size = [(-first.bound, 0, first)], 1
        while waiting:
            _, _, node = heappop(waiting)
            off = np.abs(node.counts - np.rint(node.counts))
            if off.max(initial=0.0) < _WHOLE or size > _MOST_PARTS:
                yield node
                continue
            row = int(off.argmax())
            for is_low in (True, False):
                low, high = node.low.copy(), node.high.copy()
                if is_low:
                    high[row] = np.floor(node.counts[row])
                else:
                    low[row] = np.ceil(node.counts[row])
                part = self._relax(objective, low, high)
                if part.bound > -np.inf:
                    heappush(waiting, (-part.bound, size, part))
                size += 1

    def _value(self, objective: FloatArray, solution: tuple[ActionArray, IntArray]) -> float:
        """Return what an action and its visits are worth; nothing if rules on top forbid it."""
        action, visits = solution
        if ((self._settled >= 0) & (action != self._settled)).any():
            return -np.inf
        if self._rows is not None and not self._rows.holds(action[None])[0]:
            return -np.inf
        value = float(objective[: len(action)] @ action)
        if self._bonus is None:
            return value
        return value + float(objective[self._n_whole :][self._columns_of(visits)].sum())

    def _objective(self, weights: FloatArray) -> FloatArray:
        """Return what each column is worth: those of arms and, with a bonus, of visits."""
        objective = np.zeros(self._system.n_columns)
        objective[: len(weights)] = weights
        if self._bonus is not None:
            objective[self._n_whole :] = self._bonus
        return objective

    def _columns_of(self, visits: IntArray) -> IntArray:
        """Return the numbers of visits, ``(V, 2)``, among all that are possible."""
        size = len(self._pairs) and int(self._pairs[:, 1].max()) + 1
        known = self._pairs[:, 0] * size + self._pairs[:, 1]
        order = np.argsort(known)
        return order[np.searchsorted(known[order], visits[:, 0] * size + visits[:, 1])]

    def _greedy(self, objective: FloatArray) -> tuple[ActionArray, IntArray]:
        """Add arms by weight, as long as they find room; first those that are settled."""
        packing, weights = self._packing, objective[: self._system.n_actions]
        packing.clear()
        is_first = self._settled == 1
        for arm in np.lexsort((-weights, ~is_first)).tolist():
            if len(packing.places) >= self._limit:
                break
            if is_first[arm] or (weights[arm] > 0 and self._settled[arm]):
                packing.add(arm)
        action = np.zeros(len(weights), dtype=np.int8)
        action[list(packing.places)] = 1
        return action, packing.visits()

    def _relax(self, objective: FloatArray, low: FloatArray, high: FloatArray) -> "_Node":
        """Return a bound, reduced costs and a guess of the gap, with counts within bounds.

        ``max c x <= sum of max(p l, p u) + sum of max((c - p A) x)`` for any prices ``p`` of rows
        ``l <= A x <= u``, not negative without ``l``, nor positive without ``u``: all columns are
        between 0 and 1, or settled.
        """
        system, n_whole = self._system, self._n_whole
        self._session.forget()
        lower, upper = self._program.column_lower, self._program.column_upper
        self._session.bound(lower[:n_whole], upper[:n_whole])
        self._session.bound_last_rows(low, high)
        solved = self._session.maximise(objective)
        if solved.values is None or solved.row_duals is None:
            is_empty = solved.status is Status.INFEASIBLE
            bound = -np.inf if is_empty else float(np.maximum(objective, 0.0).sum())
            return _Node(bound, np.zeros(n_whole), np.inf, low, high, np.zeros_like(low))
        least, most = self._row_bounds(low, high)
        prices = np.where(np.isfinite(least), solved.row_duals, 0.0).clip(max=0.0)
        prices += np.where(np.isfinite(most), solved.row_duals, 0.0).clip(min=0.0)
        left = objective - self._transposed @ prices
        side = np.where(prices > 0, most, np.where(prices < 0, least, 0.0))
        bound = float(prices @ side + np.maximum(left * lower, left * upper).sum())
        share = solved.values[: system.n_actions]
        loss = float(np.abs(objective[: system.n_actions]) @ np.minimum(share, 1 - share))
        guess = _LOSS * max(loss, 0.0) + _LEAST_SHARE * max(abs(bound), 1.0)
        counts = (system.matrix @ solved.values)[len(least) - len(low) :]
        return _Node(bound, left[:n_whole], guess, low, high, counts)

    def _row_bounds(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of all rows, with counts, the last rows, within bounds."""
        system, kept = self._system, self._system.n_rows - len(low)
        return np.append(system.lower[:kept], low), np.append(system.upper[:kept], high)

    def _core(self, objective: FloatArray, node: "_Node", gap: float) -> Program:
        """Fix what costs more than ``gap`` to change, and leave out what goes with it."""
        lower, upper = self._program.column_lower.copy(), self._program.column_upper.copy()
        is_open = (lower == 0.0)[: self._n_whole] & (upper == 1.0)[: self._n_whole]
        lower[: self._n_whole][is_open & (node.left > gap)] = 1.0
        upper[: self._n_whole][is_open & (node.left < -gap)] = 0.0
        upper[self._n_whole :][upper[self._arm_of_visit] == 0] = 0.0
        least, most = self._row_bounds(node.low, node.high)
        return replace(
            self._program,
            objective=objective,
            lower=least,
            upper=most,
            column_lower=lower,
            column_upper=upper,
        )

    def plan(self, action: ActionArray) -> IntArray | None:
        """Return visits, ``(V, 2)``, to just the arms of ``action``; ``None`` if there are none."""
        fixed = self._system.program(np.zeros(len(action)), fixed=action)
        fixed = replace(fixed, objective=self._objective(np.zeros(len(action))))
        values = Highs(**LEAN).solve(fixed, Limits(gap=_EXACT)).values
        return None if values is None else self._read(values)[1]

    def _read(self, values: FloatArray) -> tuple[ActionArray, IntArray]:
        """Return the action and whole visits: with all else fixed, a corner of a flow is whole."""
        whole = np.rint(values[: self._n_whole])
        shares = values[self._n_whole :]
        if np.abs(shares - np.rint(shares)).max(initial=0.0) > _EXACT:
            self._session.forget()
            self._session.bound(whole, whole)
            self._session.bound_last_rows(0 * self._most_counted, self._most_counted)
            flow = self._session.maximise(self._objective(np.zeros(len(whole)))).values
            assert flow is not None
            shares = flow[self._n_whole :]
        action = whole[: self._system.n_actions].astype(np.int8)
        return action, self._pairs[np.rint(shares) == 1]
