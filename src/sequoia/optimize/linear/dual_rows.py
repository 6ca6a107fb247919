"""Rows with prices: what taking a column costs, and what the rows can pay back."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.problem import LinearSystem
from sequoia.scaling import powers_of_two
from sequoia.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class DualRows:
    """Rows ``lower <= use @ counts + own @ columns <= upper``.

    ``counts`` says how many of each kind are taken. A price per row makes prices of kinds, which
    whoever takes them pays, and `support` is the most that the rows can pay back.

    Attributes
    ----------
    use
        ``(R, K)``.
    own
        ``(R, M)``; columns that nobody pays for, between 0 and ``own_upper``.
    """

    use: csr_array
    own: csr_array
    lower: FloatArray
    upper: FloatArray
    own_upper: FloatArray

    @property
    def n_rows(self) -> int:
        """``R``."""
        return len(self.lower)

    def equilibrated(self) -> "DualRows":
        """Return the same rows, each divided by a power of two near its largest entry."""
        largest = np.zeros(self.n_rows)
        for part in (self.use.tocoo(), self.own.tocoo()):
            np.maximum.at(largest, part.row, np.abs(part.data))
        units = powers_of_two(largest)
        shrink = sparse.diags_array(1 / units)
        return DualRows(
            csr_array(shrink @ self.use),
            csr_array(shrink @ self.own),
            self.lower / units,
            self.upper / units,
            self.own_upper,
        )

    def project_sign(self, prices: FloatArray) -> FloatArray:
        """Return row prices ``(..., R)`` with the sign that keeps `support` finite."""
        prices = np.where(np.isfinite(self.upper), prices, np.minimum(prices, 0.0))
        return np.where(np.isfinite(self.lower), prices, np.maximum(prices, 0.0))

    def support(self, prices: FloatArray) -> FloatArray:
        """Return the most that rows can pay back at ``prices``, ``(..., R)``."""
        lower, upper = self._finite
        total: FloatArray = np.maximum(prices, 0.0) @ upper + np.minimum(prices, 0.0) @ lower
        if not len(self.own_upper):
            return total
        worth = np.maximum(-(prices @ self.own), 0.0)
        with np.errstate(invalid="ignore"):
            paid = np.where(worth > 0, worth * self.own_upper, 0.0)
        result: FloatArray = total + paid.sum(axis=-1)
        return result

    @cached_property
    def _finite(self) -> tuple[FloatArray, FloatArray]:
        """``lower`` and ``upper`` with 0 where there is none: no price is paid there."""
        return (
            np.where(np.isfinite(self.lower), self.lower, 0.0),
            np.where(np.isfinite(self.upper), self.upper, 0.0),
        )

    @cached_property
    def is_finite(self) -> bool:
        """Whether every column that nobody pays for is bounded."""
        return bool(np.isfinite(self.own_upper).all())


def rows_by_kind(
    system: LinearSystem, mark: IntArray | None = None
) -> tuple[DualRows, IntArray, IntArray]:
    """Return the rows of a system over kinds of action columns, and its other columns.

    Parameters
    ----------
    mark
        Columns with different marks, ``(N,)``, are of different kinds.

    Returns
    -------
    rows, kind, example
        The kind of each action column, ``(N,)``, and a column of each kind, ``(K,)``.
    """
    count = system.n_actions
    columns = system.matrix.tocsc()
    kind, example = column_kinds(system, mark)
    plan_columns, upper = csr_array(columns[:, count:]), implied_upper(system)[count:]
    use = csr_array(columns[:, example])
    return DualRows(use, plan_columns, system.lower, system.upper, upper), kind, example


def column_kinds(system: LinearSystem, mark: IntArray | None = None) -> tuple[IntArray, IntArray]:
    """Return a number for each action column, equal where rows and bounds are, and examples."""
    columns = sparse.csc_array(system.matrix.tocsc()[:, : system.n_actions])
    columns.sort_indices()
    # A random combination of rows tells different columns apart; equal ones add up alike.
    keys = np.random.default_rng(0).standard_normal(columns.shape[0])
    facts = [columns.T @ keys, system.column_upper[: system.n_actions]]
    if mark is not None:
        facts.append(mark)
    kind = np.zeros(system.n_actions, dtype=np.int64)
    for fact in facts:
        different, rank = np.unique(fact, return_inverse=True)
        kind = kind * len(different) + rank.reshape(-1)
        kind = np.unique(kind, return_inverse=True)[1].reshape(-1)
    return kind, np.unique(kind, return_index=True)[1]


def implied_upper(system: LinearSystem) -> FloatArray:
    """Return column bounds, where they are infinite taken from rows without negative entries."""
    upper = system.column_upper.copy()
    if np.isfinite(upper).all():
        return upper
    rows = system.matrix.tocsr()
    for row in range(system.n_rows):
        part = slice(rows.indptr[row], rows.indptr[row + 1])
        values, columns = rows.data[part], rows.indices[part]
        if (values > 0).all() and np.isfinite(system.upper[row]):
            upper[columns] = np.minimum(upper[columns], system.upper[row] / values)
    return upper
