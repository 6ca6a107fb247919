"""Solvers of linear programs: `Program` in, `Solution` out."""

from sequoia.solvers.highs import LEAN, Highs, HighsSession, write_mps
from sequoia.solvers.program import Limits, Program, Solution, Solver, Status
from sequoia.solvers.registry import default_solver, used_solver, using_solver
from sequoia.solvers.scaling import HIDDEN_SHARE

__all__ = [
    "HIDDEN_SHARE",
    "LEAN",
    "Highs",
    "HighsSession",
    "Limits",
    "Program",
    "Solution",
    "Solver",
    "Status",
    "default_solver",
    "used_solver",
    "using_solver",
    "write_mps",
]
