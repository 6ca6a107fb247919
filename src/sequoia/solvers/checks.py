"""What every adapter checks first: that its solver is here, and that a program is in numbers."""

import numpy as np

from sequoia.errors import SolverFailed, SolverUnavailable
from sequoia.solvers.program import Program
from sequoia.validation import FloatArray


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
