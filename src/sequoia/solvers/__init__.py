"""How a linear program is solved: `Program` in, `Solution` out."""

from sequoia.solvers.highs import Highs, HighsSession, write_mps
from sequoia.solvers.program import Limits, Program, Solution, Status
from sequoia.solvers.scaling import HIDDEN_SHARE
from sequoia.solvers.solver import Solver

__all__ = [
    "HIDDEN_SHARE",
    "Highs",
    "HighsSession",
    "Limits",
    "Program",
    "Solution",
    "Solver",
    "Status",
    "write_mps",
]
