"""The largest value of a linear function over all actions, with some of its inputs fixed."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.linear.dual_rows import DualRows, implied_upper
from sequoia.optimize.linear.knapsack import KnapsackRelaxation
from sequoia.optimize.relu_net import PreactivationBounds
from sequoia.solvers import Highs, Status
from sequoia.validation import ActionArray, FloatArray

# How far from the best an answer may be, relative to its weight; spaces promise 1e-9.
_SLACK = 2e-9
# A relaxation with more rows takes milliseconds, and there are hundreds of nodes.
_MOST_ROWS, _MOST_COLUMNS = 200, 2_000


class OracleResult(NamedTuple):
    """The maximum of a linear function, and the point where it is reached.

    Attributes
    ----------
    point
        Inputs that are, ``(I,)``; those of an action if whole. ``None`` where what is fixed
        allows none, then the weight is minus infinity, or where it is too much work to tell.
    weight
        No action weighs more.
    reduced_cost_bounds
        Says on demand how much less any action weighs that has an input otherwise than the point,
        ``(I,)``; zero or less where nothing is known.
    """

    point: FloatArray | None
    weight: float
    reduced_cost_bounds: Callable[[], FloatArray] | None = None


class LinearOracle(Protocol):
    """Maximises linear functions over all actions, or over somewhat more than these.

    Attributes
    ----------
    knapsack
        A quicker, looser answer to many such questions at once.
    """

    knapsack: KnapsackRelaxation

    def forget(self) -> None:
        """Answer from now on as if nothing had been asked before."""

    def best(self, weights: FloatArray, fixed: ActionArray) -> OracleResult:
        """Return where a linear function is largest.

        Parameters
        ----------
        weights
            ``(I,)``, zero for fixed inputs.
        fixed
            0 or 1 for a fixed input, -1 for the others, ``(I,)``.
        """


def has_oracle(columns: ActionEncoding) -> bool:
    """Say whether linear functions are quickly maximised there."""
    return _has_argmax(columns) or _relaxes_well(columns)


def oracle_for(columns: ActionEncoding) -> LinearOracle:
    """Return the better oracle of the two below; ask `has_oracle` first.

    Raises
    ------
    InfeasibleSpace
        When no action is allowed at all.
    """
    columns.require_feasible()
    return CombinatorialOracle(columns) if _has_argmax(columns) else LpOracle(columns)


def _has_argmax(columns: ActionEncoding) -> bool:
    space = columns.space
    return (
        columns.dose_indicators is None
        and space.argmax_linear(np.zeros(space.n_actions)) is not None
    )


def _relaxes_well(columns: ActionEncoding) -> bool:
    # Where there are further columns, inputs may be whole and yet allowed by fractions alone.
    return columns.system.n_columns == columns.n_inputs and has_quick_relaxation(columns)


def has_quick_relaxation(columns: ActionEncoding) -> bool:
    """Say whether `LpOracle` takes well below a millisecond."""
    system = columns.system
    is_small = system.n_rows <= _MOST_ROWS and system.n_columns <= _MOST_COLUMNS
    return is_small and bool(np.isfinite(system.column_upper).all())


def range_of(oracle: LinearOracle, rows: FloatArray) -> PreactivationBounds:
    """Return bounds of each row, ``(P, I)``, over all actions."""
    nothing = np.full(rows.shape[1], -1, dtype=np.int8)
    upper = np.array([oracle.best(row, nothing).weight for row in rows])
    lower = -np.array([oracle.best(-row, nothing).weight for row in rows])
    return PreactivationBounds(lower, np.maximum(upper, lower))


class CombinatorialOracle:
    """Asks a space that maximises linear functions itself."""

    def __init__(self, columns: ActionEncoding) -> None:
        self._space = columns.space
        counted = self._space.argmax_linear(np.ones(self._space.n_actions))
        most = self._space.n_actions if counted is None else int(counted.sum())
        self.knapsack = KnapsackRelaxation.of(self._space, most)

    def forget(self) -> None:
        """There is nothing to forget."""

    def best(self, weights: FloatArray, fixed: ActionArray) -> OracleResult:
        """Return a best action, by rewards for what is fixed."""
        unit = float(np.abs(weights).max(initial=0.0)) or 1.0
        n_chosen = int((fixed == 1).sum())
        sign = np.array([-1.0, 1.0, 0.0])[fixed]
        reward = 8.0 * unit
        while True:
            action = self._space.argmax_linear(weights + reward * sign)
            if action is None:
                return _loosely(self.knapsack, weights, fixed)
            if ((fixed < 0) | (action == fixed)).all():
                weight = float(weights @ action)
                slack = _SLACK * (abs(weight) + reward * n_chosen)
                most = weight + slack
                reduced = partial(self._reduced_cost_bounds, weights, fixed, action, most)
                return OracleResult(action.astype(np.float64), most, reduced)
            # Then what breaks a fixed column loses more than all others can be worth.
            if reward > 2 * len(weights) * unit:
                return OracleResult(None, -np.inf)
            reward *= 8.0

    def _reduced_cost_bounds(
        self, weights: FloatArray, fixed: ActionArray, action: ActionArray, largest: float
    ) -> FloatArray:
        free = np.flatnonzero(fixed < 0)
        reduced = np.zeros(len(weights))
        knapsack = self.knapsack.after(fixed)
        reduced[free] = knapsack.reduced_cost_bounds(weights[free], action[free], largest)
        return reduced


class LpOracle:
    """Solves the linear relaxation of the rules, from where the last solve ended.

    Its bound is made of row prices ``y``, so that it holds whatever the solver did (weak duality):
    ``max w @ x <= sum_i max over l_i <= x_i <= u_i of (w - y A)_i x_i + max of y @ rows``.
    """

    def __init__(self, columns: ActionEncoding) -> None:
        system, size = columns.system, columns.n_inputs
        matrix, upper = system.matrix, implied_upper(system)
        self._rows = DualRows(
            matrix[:, :size], matrix[:, size:], system.lower, system.upper, upper[size:]
        )
        self._upper = upper[:size]
        self._no_weights = np.zeros(len(upper) - size)
        self._session = Highs(presolve="off").session(system.program(np.zeros(size), relaxed=True))
        self.knapsack = KnapsackRelaxation(size)
        nothing = np.full(size, -1, dtype=np.int8)
        # A whole number, up to what solvers tolerate; rows may leave it open.
        most = int(min(size, self.best(np.ones(size), nothing).weight + 1e-6))
        # Costs are of action columns alone.
        self.knapsack = (
            KnapsackRelaxation(most)
            if columns.dose_indicators
            else KnapsackRelaxation.of(columns.space, most)
        )

    def forget(self) -> None:
        """Begin the next solve from nothing."""
        self._session.forget()

    def best(self, weights: FloatArray, fixed: ActionArray) -> OracleResult:
        """Return the best point, and a bound made of row prices, valid whatever these are."""
        # The solver takes small weights for none.
        unit = float(np.abs(weights).max(initial=0.0)) or 1.0
        lower, upper = (fixed == 1).astype(np.float64), np.where(fixed == 0, 0.0, self._upper)
        self._session.bound(lower, upper)
        solved = self._session.maximise(np.concatenate([weights / unit, self._no_weights]))
        if solved.status is Status.INFEASIBLE:
            return OracleResult(None, -np.inf)
        if solved.values is None or solved.row_duals is None:
            return _loosely(self.knapsack, weights, fixed)
        prices = self._rows.project_sign(unit * solved.row_duals)
        left = weights - prices @ self._rows.use
        paid = np.maximum(left * lower, left * upper).sum()
        weight, point = float(paid + self._rows.support(prices)), solved.values[: len(weights)]
        return OracleResult(point, weight, lambda: np.where(point > 0.5, left, -left))


def _loosely(knapsack: KnapsackRelaxation, weights: FloatArray, fixed: ActionArray) -> OracleResult:
    """Return a weight alone, where it is too much work to find a point."""
    return OracleResult(None, float(knapsack.after(fixed).largest(weights[fixed < 0])))
