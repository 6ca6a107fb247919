"""What every solver adapter offers."""

from typing import Protocol

from sequoia.solvers.program import Limits, Program, Solution
from sequoia.validation import FloatArray


class Solver(Protocol):
    """Solves a `Program`; one adapter per file."""

    name: str

    def solve(
        self, program: Program, limits: Limits = ..., start: FloatArray | None = None
    ) -> Solution:
        """Return the best point found and what is proven about it."""
        ...
