"""Limits of actions by state: bounds on top of the rules of an action space."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.errors import ProblemError
from sequoia.problem.names import say
from sequoia.problem.system import TOLERANCE, Rows
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

# Names in the text of a row; more are counted.
_NAMED = 4


@dataclass(frozen=True, eq=False, init=False)
class ActionLimits:
    """Bounds of columns, and of rows over them, in each of B states.

    The matrix of the rows is fixed; only bounds depend on the state. An action ``a`` is allowed in
    a state if the space allows it, ``lower <= a <= upper`` and ``row_lower <= matrix @ a <=
    row_upper``.

    Attributes
    ----------
    lower, upper
        Smallest and largest value of each column, ``(B, N)``, 0 or 1: a column with an upper bound
        of 0 is closed, one with a lower bound of 1 is forced.
    matrix
        ``(R, N)``; no rows unless given.
    row_lower, row_upper
        ``(B, R)``; infinite where a side is open.
    row_names
        What each row means; used in messages.
    """

    lower: ActionArray
    upper: ActionArray
    matrix: csr_array
    row_lower: FloatArray
    row_upper: FloatArray
    row_names: Sequence[str]

    def __init__(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        matrix: ArrayLike | csr_array | None = None,
        row_lower: ArrayLike | None = None,
        row_upper: ArrayLike | None = None,
        row_names: Sequence[str] = (),
    ) -> None:
        low, high = (np.asarray(side, dtype=np.int8) for side in (lower, upper))
        if low.ndim != 2 or low.shape != high.shape:
            raise ProblemError(
                f"action limits are {low.shape} and {high.shape}; (states, columns) is wanted."
            )
        rows: Any = csr_array((0, low.shape[1])) if matrix is None else matrix
        if not isinstance(rows, csr_array) or rows.dtype != np.float64:
            rows = csr_array(rows, dtype=np.float64)
        shape = (len(low), rows.shape[0])
        sides = [
            np.asarray(np.full(shape, usual) if side is None else side, dtype=np.float64)
            for side, usual in ((row_lower, -np.inf), (row_upper, np.inf))
        ]
        if rows.shape[1] != low.shape[1] or any(side.shape != shape for side in sides):
            raise ProblemError(
                f"limits of rows are {sides[0].shape} and {sides[1].shape} with a matrix "
                f"{rows.shape}; {shape} with (rows, {low.shape[1]}) is wanted."
            )
        names = list(row_names) or [f"row {row}" for row in range(shape[1])]
        for name, value in zip(self.__annotations__, (low, high, rows, *sides, names), strict=True):
            object.__setattr__(self, name, value)

    @classmethod
    def joined(cls, parts: "Sequence[ActionLimits]") -> "ActionLimits":
        """Return limits of states one after the other; they have the same rows."""
        names = ("lower", "upper", "row_lower", "row_upper")
        low, high, row_low, row_high = (
            np.concatenate([getattr(part, name) for part in parts]) for name in names
        )
        return cls(low, high, parts[0].matrix, row_low, row_high, parts[0].row_names)

    def __len__(self) -> int:
        return len(self.lower)

    def only(self, states: IntArray | slice | Sequence[int] | BoolArray) -> "ActionLimits":
        """Return the limits of some of the states."""
        return ActionLimits(
            self.lower[states],
            self.upper[states],
            self.matrix,
            self.row_lower[states],
            self.row_upper[states],
            self.row_names,
        )

    def keys(self) -> list[bytes]:
        """Return for each state a text that is equal where limits are."""
        parts = (self.lower, self.upper, self.row_lower, self.row_upper)
        return [b"".join(part[row].tobytes() for part in parts) for row in range(len(self))]

    def holds(self, actions: ActionArray) -> BoolArray:
        """Say for each state whether its action, ``(B, N)``, keeps within its limits, ``(B,)``."""
        held: BoolArray = np.all((actions >= self.lower) & (actions <= self.upper), axis=1)
        if self.matrix.shape[0]:
            held &= ~self._outside(self._sums(actions)).any(axis=(0, 2))
        return held

    def allowed(self, actions: ActionArray) -> BoolArray:
        """Say for each state which of some actions, ``(A, N)``, keep within limits, ``(B, A)``."""
        chosen = actions.astype(np.float32)
        # Counts of closed columns that are chosen, and of forced ones that are not.
        closed, forced = (1 - self.upper).astype(np.float32), self.lower.astype(np.float32)
        is_allowed: BoolArray = closed @ chosen.T + forced @ (1 - chosen).T == 0
        if self.matrix.shape[0]:
            is_allowed &= ~self._outside(self._sums(actions)[:, None]).any(axis=(0, 3))
        return is_allowed

    def _sums(self, actions: ActionArray) -> FloatArray:
        """Return the rows' sums and the sizes of their terms, ``(2, A, R)``."""
        columns = actions.T.astype(np.float64)
        return np.stack([(self.matrix @ columns).T, (abs(self.matrix) @ columns).T])

    def _outside(self, sums: FloatArray) -> BoolArray:
        """Say which rows are too low, and which too high, as `LinearSystem.broken` judges.

        ``(2, B, R)`` to the same, for an action per state; ``(2, 1, A, R)`` to ``(2, B, A, R)``.
        """
        low, high = self.row_lower, self.row_upper
        if sums.ndim == 4:
            low, high = low[:, None], high[:, None]
        sizes = [np.where(np.isfinite(side), np.abs(side), 0.0) for side in (low, high)]
        left, size = sums
        return np.stack(
            [
                left < low - TOLERANCE * (size + sizes[0]),
                left > high + TOLERANCE * (size + sizes[1]),
            ]
        )

    def weighted(self, weights: FloatArray) -> FloatArray:
        """Return weights, ``(B, I)``, by which no best action breaks a bound of a column.

        A forced column is worth more than all others together, a closed one costs as much. The
        columns come first among the inputs.
        """
        force = 1.0 + 2 * np.abs(weights).sum(axis=1, keepdims=True)
        changed = weights.copy()
        size = self.lower.shape[1]
        changed[:, :size] += force * self.lower - force * (1 - self.upper)
        return changed

    def rows(self, state: int, names: Sequence[str]) -> Rows:
        """Return the limits of one state as rows over columns called ``names``."""
        size = len(names)
        closed = np.flatnonzero(self.upper[state] == 0)
        forced = np.flatnonzero(self.lower[state] == 1)
        bound = np.isfinite(self.row_lower[state]) | np.isfinite(self.row_upper[state])
        kept = np.flatnonzero(bound)
        parts, called = [self.matrix[kept]], [self.row_names[row] for row in kept.tolist()]
        low, high = self.row_lower[state, kept].tolist(), self.row_upper[state, kept].tolist()
        for columns, words, least, most in (
            (closed, "not in this state", -np.inf, 0.0),
            (forced, "needed in this state", float(len(forced)), np.inf),
        ):
            if len(columns):
                place = (np.zeros(len(columns), np.int64), columns)
                parts.append(csr_array((np.ones(len(columns)), place), (1, size)))
                low.append(least)
                high.append(most)
                called.append(f"{words}: {_few(names, columns)}")
        matrix = sparse.vstack(parts, format="csr")
        return Rows(matrix, np.array(low), np.array(high), called)

    def why_not(self, state: int, action: ActionArray, names: Sequence[str]) -> str:
        """Say in which ways an action, ``(N,)``, is outside the limits of a state."""
        closed = np.flatnonzero(action > self.upper[state])
        forced = np.flatnonzero(action < self.lower[state])
        reasons = []
        if len(closed):
            reasons.append(f"{_few(names, closed)} cannot be chosen in this state")
        if len(forced):
            reasons.append(f"{_few(names, forced)} must be chosen in this state")
        sums = self._sums(action[None])
        low, high = self.only([state])._outside(sums)[:, 0]
        for sign, wrong, side in (("<", low, self.row_lower), (">", high, self.row_upper)):
            for row in np.flatnonzero(wrong).tolist():
                total = f"{sums[0, 0, row]:g} {sign} {side[state, row]:g}"
                reasons.append(f'row "{self.row_names[row]}": {total}')
        return "; ".join(reasons)


def _few(names: Sequence[str], columns: IntArray) -> str:
    shown = [names[column] for column in columns[:_NAMED].tolist()]
    if len(columns) > _NAMED:
        shown.append(f"{len(columns) - _NAMED} more")
    return say(shown)
