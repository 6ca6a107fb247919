"""Rules as linear rows: the one place where a constraint is written."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.errors import InfeasibleDecision
from sequoia.solvers import Program
from sequoia.validation import ActionArray, BoolArray, FloatArray

TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Decision:
    """An action with its certificate.

    Attributes
    ----------
    action
        Binary, ``(N,)``: which action columns are chosen.
    plan
        Binary, ``(M,)``: who visits whom when, or the walk; the columns that make the action
        satisfy the system.
    """

    action: ActionArray
    plan: ActionArray


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


@dataclass(frozen=True, eq=False)
class LinearSystem:
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
    """

    matrix: csr_array
    lower: FloatArray
    upper: FloatArray
    n_actions: int
    row_names: Sequence[str]
    column_names: Sequence[str]
    column_upper: FloatArray
    is_integer: BoolArray

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
        left = self.matrix @ np.asarray(columns, dtype=np.float64).T
        low = left >= self.lower[:, None] - TOLERANCE
        high = left <= self.upper[:, None] + TOLERANCE
        result: BoolArray = (low & high).all(axis=0)
        return result

    def violations(self, decision: Decision) -> list[str]:
        """Return one line per rule that ``decision`` breaks; empty when it is feasible."""
        columns = np.concatenate([decision.action, decision.plan]).astype(np.float64)
        if len(columns) != self.n_columns:
            return [f"{len(columns)} columns were given; {self.n_columns} are wanted"]
        found = [
            f'"{self.column_names[c]}" is {columns[c]:g}; 0 or 1 is wanted'
            for c in np.flatnonzero((columns != 0) & (columns != 1)).tolist()
        ]
        left = self.matrix @ columns
        for row in np.flatnonzero(left < self.lower - TOLERANCE).tolist():
            found.append(f'row "{self.row_names[row]}": {left[row]:g} < {self.lower[row]:g}')
        for row in np.flatnonzero(left > self.upper + TOLERANCE).tolist():
            found.append(f'row "{self.row_names[row]}": {left[row]:g} > {self.upper[row]:g}')
        return found

    def require(self, decision: Decision) -> None:
        """Raise `InfeasibleDecision`, naming the broken rules, unless ``decision`` is feasible."""
        found = self.violations(decision)
        if found:
            raise InfeasibleDecision("; ".join(found) + ".")

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
