"""Rows and columns of a program, collected one after the other."""

import numpy as np
from scipy.sparse import coo_array, csr_array

from sequoia.problem import LinearSystem
from sequoia.solvers import Program
from sequoia.validation import FloatArray, IntArray


class RowBuilder:
    """Collects rows ``lower <= A x <= upper``, entry by entry."""

    def __init__(self) -> None:
        self._rows: list[IntArray] = [np.empty(0, dtype=np.int64)]
        self._columns: list[IntArray] = [np.empty(0, dtype=np.int64)]
        self._data: list[FloatArray] = [np.empty(0)]
        self._lower: list[FloatArray] = [np.empty(0)]
        self._upper: list[FloatArray] = [np.empty(0)]
        self.n_rows = 0

    def rows(self, lower: FloatArray, upper: FloatArray) -> IntArray:
        """Add empty rows and return where they stand."""
        self._lower.append(lower)
        self._upper.append(upper)
        self.n_rows += len(upper)
        return np.arange(self.n_rows - len(upper), self.n_rows)

    def entries(self, rows: IntArray, columns: IntArray, data: FloatArray) -> None:
        """Fill in coefficients, ``(E,)`` each."""
        self._rows.append(rows)
        self._columns.append(columns)
        self._data.append(data)

    def block(
        self, block: FloatArray, columns: IntArray, lower: FloatArray, upper: FloatArray
    ) -> None:
        """Add rows whose coefficients ``(R, C)`` stand in ``columns``, ``(C,)``."""
        row, place = np.nonzero(block)
        self.entries(self.rows(lower, upper)[row], columns[place], block[row, place])

    @property
    def lower(self) -> FloatArray:
        """Of each row, ``(R,)``."""
        return np.concatenate(self._lower)

    @property
    def upper(self) -> FloatArray:
        """Of each row, ``(R,)``."""
        return np.concatenate(self._upper)

    def matrix(self, n_columns: int) -> csr_array:
        """Return the coefficients, ``(R, n_columns)``."""
        place = (np.concatenate(self._rows), np.concatenate(self._columns))
        return csr_array((np.concatenate(self._data), place), shape=(self.n_rows, n_columns))


class ProgramBuilder(RowBuilder):
    """Collects rows and columns behind those of a system."""

    def __init__(self, system: LinearSystem) -> None:
        super().__init__()
        base = coo_array(system.matrix)
        self.entries(base.row, base.col, base.data)
        self.rows(system.lower, system.upper)
        self._column_upper, self._is_integer = [system.column_upper], [system.is_integer]
        self.n_columns = system.n_columns

    def columns(self, upper: FloatArray, is_integer: bool) -> IntArray:
        """Add columns, from 0 to ``upper``, and return where they stand."""
        self._column_upper.append(upper)
        self._is_integer.append(np.full(len(upper), is_integer))
        self.n_columns += len(upper)
        return np.arange(self.n_columns - len(upper), self.n_columns)

    def program(self, objective: FloatArray) -> Program:
        """Return the program collected so far."""
        return Program(
            objective,
            self.matrix(self.n_columns),
            self.lower,
            self.upper,
            np.zeros(self.n_columns),
            np.concatenate(self._column_upper),
            np.concatenate(self._is_integer),
        )
