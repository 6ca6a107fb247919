"""Rules as linear rows: the one place where a constraint is written."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.errors import InfeasibleDecision
from sequoia.shown import Columns, Shown
from sequoia.solvers import Program
from sequoia.validation import ActionArray, BoolArray, FloatArray

# Sums are compared with their limits up to this share of the size of their terms: far more than
# rounding leaves (about 1e-16 a term), far less than anybody means. Being a share, it means the
# same whatever the unit of a row.
TOLERANCE = 1e-9


def room(limit: Any) -> Any:
    """Return what a sum of terms that are not negative may reach under ``limit``.

    ``sum <= limit + TOLERANCE * (sum + limit)``, solved for the sum; see `LinearSystem.broken`.
    """
    return limit + 2 * TOLERANCE * np.abs(limit)


@dataclass(frozen=True, eq=False, repr=False)
class Decision(Shown):
    """An action with its certificate.

    Attributes
    ----------
    action
        Binary, ``(N,)``: which action columns are chosen.
    plan
        Binary, ``(M,)``: who visits whom when, or the walk; the columns that make the action
        satisfy the system.

    Examples
    --------
    >>> from sequoia import Budget
    >>> decision = Budget([1, 1], 1).certify([0, 1])
    >>> decision
    Decision: 1 of 2 actions, 0 columns of its plan
    """

    action: ActionArray
    plan: ActionArray

    def _lines(self) -> list[str]:
        """Return how many columns are chosen."""
        chosen, size = int(self.action.sum()), len(self.action)
        return [f"Decision: {chosen} of {size} actions, {int(self.plan.sum())} columns of its plan"]


@dataclass(frozen=True, eq=False)
class Rows:
    """A named block of rows ``lower <= matrix @ x <= upper``."""

    matrix: csr_array
    lower: FloatArray
    upper: FloatArray
    names: Sequence[str]

    @classmethod
    def at_most(cls, matrix: Any, limit: ArrayLike, names: Sequence[str]) -> "Rows":
        """Rows ``matrix @ x <= limit``."""
        return cls._between(matrix, -np.inf, limit, names)

    @classmethod
    def at_least(cls, matrix: Any, limit: ArrayLike, names: Sequence[str]) -> "Rows":
        """Rows ``matrix @ x >= limit``."""
        return cls._between(matrix, limit, np.inf, names)

    @classmethod
    def equal(cls, matrix: Any, value: ArrayLike, names: Sequence[str]) -> "Rows":
        """Rows ``matrix @ x == value``."""
        return cls._between(matrix, value, value, names)

    def only(self, kept: BoolArray) -> "Rows":
        """Return the rows for which ``kept``, ``(R,)``, is true."""
        which = np.flatnonzero(kept)
        names = [self.names[row] for row in which.tolist()]
        return Rows(self.matrix[which], self.lower[which], self.upper[which], names)

    def and_also(self, other: "Rows") -> "Rows":
        """Return these rows and others over the same columns."""
        return Rows(
            sparse.vstack([self.matrix, other.matrix], format="csr"),
            np.concatenate([self.lower, other.lower]),
            np.concatenate([self.upper, other.upper]),
            [*self.names, *other.names],
        )

    @classmethod
    def _between(
        cls, matrix: Any, lower: ArrayLike, upper: ArrayLike, names: Sequence[str]
    ) -> "Rows":
        matrix = csr_array(matrix)
        size = matrix.shape[0]
        return cls(
            matrix,
            np.broadcast_to(np.asarray(lower, dtype=np.float64), (size,)),
            np.broadcast_to(np.asarray(upper, dtype=np.float64), (size,)),
            names,
        )


@dataclass(frozen=True, eq=False, repr=False)
class LinearSystem(Shown):
    """Rows over action columns, which come first, and plan columns.

    Attributes
    ----------
    matrix, lower, upper
        ``lower <= matrix @ (action, plan) <= upper``; ``matrix`` is ``(R, N + M)``.
    n_actions
        ``N``; the action columns are binary.
    row_names, column_names
        What each row and column means.
    column_upper
        Largest value of each column, ``(N + M,)``; the smallest is 0.
    is_integer
        Which columns are whole numbers, ``(N + M,)``. In a space's ``system`` all columns are
        binary; a ``compact`` form may count or flow.

    Examples
    --------
    >>> from sequoia import Assignment
    >>> Assignment([1, 1], [1]).system
    LinearSystem: 2 actions, 4 columns, 5 rows
    """

    matrix: csr_array
    lower: FloatArray
    upper: FloatArray
    n_actions: int
    row_names: Sequence[str]
    column_names: Sequence[str]
    column_upper: FloatArray
    is_integer: BoolArray

    def _lines(self) -> list[str]:
        """Return its sizes."""
        rows, columns = self.matrix.shape
        return [f"LinearSystem: {self.n_actions} actions, {columns} columns, {rows} rows"]

    def _shown_table(self) -> Columns:
        """Return the name and the sides of each row."""
        return {"row": self.row_names, "from": self.lower, "to": self.upper}

    @classmethod
    def from_rows(
        cls,
        blocks: Iterable[Rows],
        n_actions: int,
        column_names: Sequence[str],
        column_upper: ArrayLike = 1.0,
        is_integer: ArrayLike = True,
    ) -> "LinearSystem":
        """Stack blocks of rows over the same columns."""
        blocks = list(blocks)
        size = len(column_names)
        return cls(
            matrix=sparse.vstack([csr_array((0, size)), *(b.matrix for b in blocks)], format="csr"),
            lower=np.concatenate([np.empty(0), *(block.lower for block in blocks)]),
            upper=np.concatenate([np.empty(0), *(block.upper for block in blocks)]),
            n_actions=n_actions,
            row_names=[name for block in blocks for name in block.names],
            column_names=column_names,
            column_upper=np.broadcast_to(np.asarray(column_upper, dtype=np.float64), (size,)),
            is_integer=np.broadcast_to(np.asarray(is_integer, dtype=np.bool_), (size,)),
        )

    @property
    def n_columns(self) -> int:
        """``N + M``."""
        return int(self.matrix.shape[1])

    @property
    def n_rows(self) -> int:
        """``R``."""
        return int(self.matrix.shape[0])

    def with_rows(self, block: Rows) -> "LinearSystem":
        """Return this system with further rows over its action columns."""
        padded = csr_array(block.matrix)
        padded.resize((padded.shape[0], self.n_columns))
        return LinearSystem(
            matrix=sparse.vstack([self.matrix, padded], format="csr"),
            lower=np.concatenate([self.lower, block.lower]),
            upper=np.concatenate([self.upper, block.upper]),
            n_actions=self.n_actions,
            row_names=[*self.row_names, *block.names],
            column_names=self.column_names,
            column_upper=self.column_upper,
            is_integer=self.is_integer,
        )

    def holds(self, columns: ArrayLike) -> BoolArray:
        """Say for each row of ``columns``, ``(B, N + M)``, whether it satisfies every row."""
        _, low, high = self.broken(np.asarray(columns, dtype=np.float64).T)
        result: BoolArray = np.logical_not((low | high).any(axis=0))
        return result

    def broken(self, columns: FloatArray) -> tuple[FloatArray, BoolArray, BoolArray]:
        """Return the rows' sums, and which are too low and too high: the one place that judges.

        A row ``lower <= a @ x <= upper`` may be missed by ``TOLERANCE * (|a| @ |x| + |side|)``.

        Parameters
        ----------
        columns
            ``(N + M, B)``, not negative; the results are ``(R, B)``.
        """
        left = self.matrix @ columns
        size = left if self._sizes is self.matrix else self._sizes @ columns
        low = left < (self.lower - TOLERANCE * self._sides[0])[:, None] - TOLERANCE * size
        high = left > (self.upper + TOLERANCE * self._sides[1])[:, None] + TOLERANCE * size
        return left, low, high

    @cached_property
    def whole_rows(self) -> "LinearSystem":
        """The same columns with only those rows that hold whole columns alone."""
        has_others = (self._sizes @ (~self.is_integer).astype(np.float64)) > 0
        kept = np.flatnonzero(~has_others)
        return LinearSystem(
            matrix=self.matrix[kept],
            lower=self.lower[kept],
            upper=self.upper[kept],
            n_actions=self.n_actions,
            row_names=[self.row_names[row] for row in kept.tolist()],
            column_names=self.column_names,
            column_upper=self.column_upper,
            is_integer=self.is_integer,
        )

    @cached_property
    def _sizes(self) -> csr_array:
        """The sizes of all coefficients."""
        return abs(self.matrix) if (self.matrix.data < 0).any() else self.matrix

    @cached_property
    def _sides(self) -> tuple[FloatArray, FloatArray]:
        """The sizes of both sides, zero where there is none."""
        low, high = np.abs(self.lower), np.abs(self.upper)
        return np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)

    def violations(self, decision: Decision) -> list[str]:
        """Return one line per rule that ``decision`` breaks; empty when it is feasible."""
        columns = np.concatenate([decision.action, decision.plan]).astype(np.float64)
        if len(columns) != self.n_columns:
            return [f"{len(columns)} columns were given; {self.n_columns} are wanted"]
        broken = [
            f'"{self.column_names[c]}" is {columns[c]:g}; 0 or 1 is wanted'
            for c in np.flatnonzero((columns != 0) & (columns != 1)).tolist()
        ]
        sums, low, high = self.broken(columns[:, None])
        for row in np.flatnonzero(low).tolist():
            broken.append(f'row "{self.row_names[row]}": {sums[row, 0]:g} < {self.lower[row]:g}')
        for row in np.flatnonzero(high).tolist():
            broken.append(f'row "{self.row_names[row]}": {sums[row, 0]:g} > {self.upper[row]:g}')
        return broken

    def require(self, decision: Decision) -> None:
        """Raise `InfeasibleDecision`, naming the broken rules, unless ``decision`` is feasible."""
        violations = self.violations(decision)
        if violations:
            raise InfeasibleDecision("; ".join(violations) + ".")

    def program(
        self, objective: ArrayLike, fixed: ArrayLike | None = None, relaxed: bool = False
    ) -> Program:
        """Return the program that maximises ``objective`` over this system.

        Parameters
        ----------
        objective
            Weight of each action column, ``(N,)``; plan columns weigh nothing.
        fixed
            An action, ``(N,)``, to which the action columns are fixed.
        relaxed
            Whether to drop that columns are whole numbers.
        """
        weights = np.zeros(self.n_columns)
        weights[: self.n_actions] = objective
        low = np.zeros(self.n_columns)
        high = self.column_upper.copy()
        if fixed is not None:
            low[: self.n_actions] = high[: self.n_actions] = fixed
        whole = self.is_integer & (not relaxed)
        return Program(weights, self.matrix, self.lower, self.upper, low, high, whole)
