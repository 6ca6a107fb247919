"""How a linear program is solved: `Program` in, `Solution` out."""

from sequoia.solve.highs import Highs, HighsSession, write_mps
from sequoia.solve.program import Limits, Program, Solution, Status
from sequoia.solve.solver import Solver

__all__ = [
    "Highs",
    "HighsSession",
    "Limits",
    "Program",
    "Solution",
    "Solver",
    "Status",
    "write_mps",
]
