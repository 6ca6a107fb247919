"""A mixed-integer linear program as plain numbers, who solves it, and what is proven about it."""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from sequoia.errors import SolverFailed, SolverUnavailable
from sequoia.shown import Shown
from sequoia.validation import BoolArray, FloatArray

# Relative to a value that is nothing, a gap is said as it is; objectives that matter are larger.
_LEAST_VALUE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Program(Shown):
    """Maximise ``objective @ x`` subject to linear rows and column bounds.

    Attributes
    ----------
    objective
        ``(C,)``; always maximised.
    matrix, lower, upper
        Rows ``lower <= matrix @ x <= upper``; ``matrix`` is ``(R, C)`` in CSR form.
    column_lower, column_upper
        Column bounds, ``(C,)``.
    is_integer
        Which columns must be whole numbers, ``(C,)``.
    """

    objective: FloatArray
    matrix: csr_array
    lower: FloatArray
    upper: FloatArray
    column_lower: FloatArray
    column_upper: FloatArray
    is_integer: BoolArray

    def _lines(self) -> list[str]:
        """Return its sizes."""
        rows, columns = self.matrix.shape
        whole = int(self.is_integer.sum())
        return [f"Program: {columns} columns, {whole} of them whole, {rows} rows"]


class Status(Enum):
    """The end of a solve."""

    OPTIMAL = "optimal"
    LIMIT = "limit"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    FAILED = "failed"


@dataclass(frozen=True)
class Limits:
    """Limits after which a solver may stop: seconds, nodes, or a relative gap.

    A limit of nodes gives the same result on any machine; one of seconds does not, and is a last
    resort. A gap of 1e-6 is what solvers can promise with their tolerances.
    """

    seconds: float = float("inf")
    gap: float = 1e-6
    nodes: int | None = None

    def __str__(self) -> str:
        nodes = "" if self.nodes is None else f"{self.nodes} nodes"
        seconds = f"{self.seconds:g} seconds" if np.isfinite(self.seconds) else ""
        return " or ".join(filter(None, (nodes, seconds))) or "no limit"


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Shown):
    """The result of a solver.

    Attributes
    ----------
    values
        The best point found, ``(C,)``, integer columns rounded; ``None`` when there is none.
    objective
        Value of that point; ``-inf`` when there is none.
    bound
        No feasible point exceeds it; ``inf`` when nothing is proven.
    row_duals
        Price of each row, ``(R,)``, for a program without integer columns; else ``None``.
    """

    status: Status
    values: FloatArray | None
    objective: float
    bound: float
    seconds: float
    row_duals: FloatArray | None = None

    def _lines(self) -> list[str]:
        """Return how the solve ended, and what is proven."""
        proven = f"value {self.objective:.6g}, bound {self.bound:.6g}"
        return [f"Solution: {self.status.value}, {proven}, {self.seconds:.2g} s"]

    def is_late(self, limits: Limits) -> bool:
        """Say whether the clock ended the solve: no other limit was set, or time was nearly up."""
        is_up = limits.nodes is None or self.seconds >= 0.9 * limits.seconds
        return self.status is Status.LIMIT and is_up

    @property
    def gap(self) -> float:
        """Proven distance from the best, relative to the objective; ``inf`` without a point."""
        if self.values is None:
            return float("inf")
        return max(0.0, self.bound - self.objective) / max(abs(self.objective), _LEAST_VALUE)


class Solver(Protocol):
    """Solves a `Program`; one adapter per file."""

    name: str

    def solve(
        self, program: Program, limits: Limits = ..., start: FloatArray | None = None
    ) -> Solution:
        """Return the best point found and what is proven about it."""
        ...


def require_numbers(program: Program) -> None:
    """Raise `SolverFailed` unless the weights, entries and sides of ``program`` are numbers.

    Solvers differ in what they do with the others; some call the result optimal.
    """
    require_finite("objective", program.objective)
    require_finite("matrix", program.matrix.data)
    for where in ("lower", "upper", "column_lower", "column_upper"):
        if np.isnan(getattr(program, where)).any():
            raise SolverFailed(f"{where} of the program has entries that are not numbers.")


def require_finite(where: str, values: FloatArray) -> None:
    """Raise `SolverFailed`, naming ``where``, unless all ``values`` are finite."""
    if not np.isfinite(values).all():
        raise SolverFailed(f"{where} of the program has entries that are not finite numbers.")


def missing(package: str, extra: str) -> SolverUnavailable:
    """Return the error that says that ``package`` is not installed, and how to get it."""
    return SolverUnavailable(
        f'{package} is not installed; pip install "sequoia-plan[{extra}]" or use --solver highs.'
    )
