"""Single numbers from a caller: checked, with errors that say where."""

import math
from numbers import Real
from typing import Any

from sequoia.errors import ProblemError


def whole(where: str, value: Any, least: int, most: float = math.inf) -> int:
    """Return ``value`` as an integer if it is a whole number from ``least`` to ``most``."""
    fine = isinstance(value, Real) and float(value).is_integer()
    if not fine or not least <= value <= most:
        wanted = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
        raise ProblemError(f"{where} is {value}; a whole number {wanted} is wanted.")
    return int(value)


def real(where: str, value: Any, least: float, most: float = math.inf) -> float:
    """Return ``value`` as a float if it is a finite number from ``least`` to ``most``."""
    fine = isinstance(value, Real) and math.isfinite(value)
    if not fine or not least <= value <= most:
        wanted = f"of at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
        raise ProblemError(f"{where} is {value}; a number {wanted} is wanted.")
    return float(value)
