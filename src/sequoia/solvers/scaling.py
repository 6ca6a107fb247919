"""A program in units that suit a solver, whose tolerances and small numbers are absolute."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sequoia.scaling import powers_of_two, unit_of
from sequoia.solvers.program import Program, Solution, Status
from sequoia.validation import FloatArray, IntArray

# Solvers take 1e-7 (simplex) to 1e-6 (pruning) of an objective for nothing. With a largest weight
# of about 1,000, that is below 1e-9 of it. Interior points, too, need it: with 64 or less, one in a
# hundred tiny masters of column generation ends with a gap of 1e-3 where 1e-6 is asked for.
_LARGEST_WEIGHT = 2.0**10
# So a solver's bound on a program with whole columns may be short by this share of the largest
# weight: it looks for no point that is better than the best known by less.
HIDDEN_SHARE = 2e-9
# Rows of ordinary size are passed on as they are: to divide one by its largest entry makes the
# others harder to see.
_ORDINARY = (2.0**-7, 2.0**20)


@dataclass(frozen=True, eq=False)
class Scaling:
    """The scaling of a program for a solver, and of its solution back.

    Rows are divided by powers of two near their largest entry, where that is not of ordinary size;
    objectives by a power of two, so that their largest weight is always about the same.
    """

    program: Program

    @cached_property
    def row_units(self) -> FloatArray:
        """The divisor of each row, ``(R,)``."""
        matrix = self.program.matrix
        largest = np.zeros(matrix.shape[0])
        np.maximum.at(largest, _rows(matrix), np.abs(matrix.data))
        is_ordinary = (largest >= _ORDINARY[0]) & (largest <= _ORDINARY[1])
        return np.where(is_ordinary, 1.0, powers_of_two(largest))

    def objective(self, objective: FloatArray) -> tuple[FloatArray, float]:
        """Return an objective for the solver, ``(C,)``, and its unit."""
        unit = unit_of(objective) / _LARGEST_WEIGHT if objective.any() else 1.0
        return objective / unit, unit

    def passed(self) -> tuple[Program, float]:
        """Return the program for the solver, and the unit of its objective."""
        program, units = self.program, self.row_units
        objective, unit = self.objective(program.objective)
        matrix = program.matrix
        if (units != 1).any():
            data = matrix.data / units[_rows(matrix)]
            matrix = csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
        rows = {"matrix": matrix, "lower": program.lower / units, "upper": program.upper / units}
        return replace(program, objective=objective, **rows), unit

    def read(self, solution: Solution, objective: FloatArray, unit: float) -> Solution:
        """Return what a solution of the passed program says about the one that was meant."""
        value, bound, duals = -np.inf, solution.bound, solution.row_duals
        if solution.values is not None:
            value = float(objective @ solution.values)
        if self.program.is_integer.any():
            bound *= unit
        elif solution.status is Status.OPTIMAL:
            bound = value
        if duals is not None:
            duals = duals * (unit / self.row_units)
        return replace(solution, objective=value, bound=bound, row_duals=duals)


def _rows(matrix: csr_array) -> IntArray:
    """Return the row of each entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
