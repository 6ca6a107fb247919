"""The best rota for a weight per arm: reduced costs decide most arms, a solver the others."""

from dataclasses import replace

import numpy as np

from sequoia.problem.spaces.rota.packing import Openings, Packing
from sequoia.problem.system import LinearSystem, Rows
from sequoia.scaling import unit_of
from sequoia.solvers import Highs, Limits, Program, Status
from sequoia.validation import ActionArray, FloatArray, IntArray

# The best rota loses about half of what rounding the relaxation would, and mostly no more than this
# share of the bound where nothing is to be rounded. Guesses then grow fourfold.
_LOSS, _LEAST_SHARE, _MORE = 0.5, 5e-5, 4.0
# Programs are small, and the relaxation tells more than heuristics find.
_LEAN = {
    "mip_allow_restart": False,
    "mip_detect_symmetry": False,
    "mip_heuristic_run_rins": False,
    "mip_heuristic_run_rens": False,
    "mip_heuristic_run_root_reduced_cost": False,
    "mip_heuristic_run_feasibility_jump": False,
}
# About a second where there are 100 arms; then a caller's own limits are to decide.
_MOST_NODES = 2_000
_EXACT = 1e-9


class RotaSearch:
    """Maximises weights over a rota; keeps its linear relaxation from one question to the next.

    First arms are added by weight. Unless all that weigh something find room, the relaxation gives
    a bound and reduced costs: what it costs at least to change a column. A guess of the gap then
    fixes most columns, and a solver decides the others (Balas and Zemel 1980). What it finds is
    best if it is no farther from the bound than guessed; else a larger gap is guessed. Further rows
    over arms are part of the relaxation and of the programs.
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
        if rows is not None:
            names = system.column_names[: system.n_actions]
            self._rows = LinearSystem.from_rows([rows], system.n_actions, names)
            system = system.with_rows(rows)
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
        bound, left, guess = self._relax(objective)
        gap, best, widest = 0.0, None, float(np.abs(left).max(initial=0.0))
        while gap * (1 + _EXACT) < bound - value:
            if gap > widest:  # nothing was fixed: what is known by now is the best, if anything
                break
            gap = min(guess, bound - value)
            guess *= _MORE
            solved = Highs(**_LEAN).solve(
                self._core(objective, left, gap), Limits(gap=_EXACT, nodes=_MOST_NODES), best
            )
            if solved.status is Status.LIMIT:
                return None
            if solved.values is not None and solved.objective > value:
                best, value = solved.values, solved.objective
        if value == -np.inf:  # the rules on top allow nothing
            return None
        return greedy if best is None else self._read(best)

    def _value(self, objective: FloatArray, found: tuple[ActionArray, IntArray]) -> float:
        """Return what an action and its visits are worth; nothing if rules on top forbid it."""
        action, visits = found
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

    def _relax(self, objective: FloatArray) -> tuple[float, FloatArray, float]:
        """Return a bound, the reduced costs of whole columns, ``(C,)``, and a guess of the gap.

        ``max c x <= sum of max(p l, p u) + sum of max((c - p A) x)`` for any prices ``p`` of rows
        ``l <= A x <= u``, not negative without ``l``, nor positive without ``u``: all columns are
        between 0 and 1, or settled.
        """
        system, n_whole = self._system, self._n_whole
        self._session.forget()
        lower, upper = self._program.column_lower, self._program.column_upper
        self._session.bound(lower[:n_whole], upper[:n_whole])
        solved = self._session.maximise(objective)
        if solved.values is None or solved.row_duals is None:
            return float(np.maximum(objective, 0.0).sum()), np.zeros(n_whole), np.inf
        prices = np.where(np.isfinite(system.lower), solved.row_duals, 0.0).clip(max=0.0)
        prices += np.where(np.isfinite(system.upper), solved.row_duals, 0.0).clip(min=0.0)
        left = objective - self._transposed @ prices
        side = np.where(prices > 0, system.upper, np.where(prices < 0, system.lower, 0.0))
        bound = float(prices @ side + np.maximum(left * lower, left * upper).sum())
        share = solved.values[: system.n_actions]
        loss = float(np.abs(objective[: system.n_actions]) @ np.minimum(share, 1 - share))
        guess = _LOSS * max(loss, 0.0) + _LEAST_SHARE * max(abs(bound), 1.0)
        # Under further rows more is lost, and one program that leaves more open beats two.
        guess *= 1.0 if self._rows is None else _MORE
        return bound, left[:n_whole], guess

    def _core(self, objective: FloatArray, left: FloatArray, gap: float) -> Program:
        """Fix what costs more than ``gap`` to change, and leave out what goes with it."""
        lower, upper = self._program.column_lower.copy(), self._program.column_upper.copy()
        is_open = (lower == 0.0)[: self._n_whole] & (upper == 1.0)[: self._n_whole]
        lower[: self._n_whole][is_open & (left > gap)] = 1.0
        upper[: self._n_whole][is_open & (left < -gap)] = 0.0
        upper[self._n_whole :][upper[self._arm_of_visit] == 0] = 0.0
        return replace(self._program, objective=objective, column_lower=lower, column_upper=upper)

    def plan(self, action: ActionArray) -> IntArray | None:
        """Return visits, ``(V, 2)``, to just the arms of ``action``; ``None`` if there are none."""
        fixed = self._system.program(np.zeros(len(action)), fixed=action)
        fixed = replace(fixed, objective=self._objective(np.zeros(len(action))))
        values = Highs(**_LEAN).solve(fixed, Limits(gap=_EXACT)).values
        return None if values is None else self._read(values)[1]

    def _read(self, values: FloatArray) -> tuple[ActionArray, IntArray]:
        """Return the action and whole visits: with all else fixed, a corner of a flow is whole."""
        whole = np.rint(values[: self._n_whole])
        shares = values[self._n_whole :]
        if np.abs(shares - np.rint(shares)).max(initial=0.0) > _EXACT:
            self._session.forget()
            self._session.bound(whole, whole)
            flow = self._session.maximise(self._objective(np.zeros(len(whole)))).values
            assert flow is not None
            shares = flow[self._n_whole :]
        action = whole[: self._system.n_actions].astype(np.int8)
        return action, self._pairs[np.rint(shares) == 1]
