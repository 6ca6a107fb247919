"""How a linear program is solved: `Program` in, `Solution` out."""

from sequoia.solve.highs import Highs
from sequoia.solve.program import Limits, Program, Solution, Status
from sequoia.solve.solver import Solver

__all__ = ["Highs", "Limits", "Program", "Solution", "Solver", "Status"]
