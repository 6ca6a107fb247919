"""What comes from a caller: arrays converted, checked, made read-only; numbers checked."""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sequoia.errors import ProblemError

# Sums, products and squares of numbers up to this size stay below the largest float, 1.8e308.
MODERATE = 1e100
TOO_LARGE = f"at most {MODERATE:g} in size is wanted"

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
ActionArray = NDArray[np.int8]


def frozen(
    where: str, values: ArrayLike, dtype: type[Any], shape: tuple[int | None, ...]
) -> NDArray[Any]:
    """Return ``values`` as a read-only array of the given type and shape.

    Parameters
    ----------
    where
        The name of the array in error messages, such as ``"arms.rewards"``.
    shape
        Wanted shape; ``None`` accepts any length on that axis.
    """
    try:
        raw = np.asarray(values)
        with np.errstate(invalid="ignore"):
            converted = np.array(raw, dtype=dtype)
        if raw.size and not np.array_equal(raw, converted, equal_nan=raw.dtype.kind == "f"):
            raise ValueError
    except (ValueError, TypeError, OverflowError):
        raise ProblemError(
            f"{where} holds values that are not {np.dtype(dtype).name}; a numeric array of shape "
            f"{_wanted(shape)} is wanted."
        ) from None
    matches = converted.ndim == len(shape) and all(
        wanted is None or wanted == found
        for wanted, found in zip(shape, converted.shape, strict=True)
    )
    if not matches:
        raise ProblemError(f"{where} has shape {converted.shape}; {_wanted(shape)} is wanted.")
    converted.setflags(write=False)
    return converted


def set_fields(frozen_one: object, **fields: object) -> None:
    """Set the fields of a frozen dataclass from its ``__init__``.

    Classes that take anything like an array write their ``__init__`` themselves
    (``@dataclass(init=False)``): its arguments have the types that callers pass, its fields those
    that they read.
    """
    for name, value in fields.items():
        object.__setattr__(frozen_one, name, value)


def require(where: str, values: NDArray[Any], holds: BoolArray, wanted: str) -> None:
    """Raise a `ProblemError` naming the first entry of ``values`` for which ``holds`` is false."""
    if not holds.all():
        place = tuple(int(i) for i in np.argwhere(~holds)[0])
        index = ", ".join(map(str, place))
        raise ProblemError(f"{where}[{index}] is {values[place]}; {wanted}.")


def require_moderate(where: str, values: FloatArray) -> None:
    """Raise a `ProblemError` unless all values are finite, and so small that sums are, too."""
    require(where, values, np.isfinite(values), "a number is wanted")
    require(where, values, is_moderate(values), TOO_LARGE)


def is_moderate(values: FloatArray) -> BoolArray:
    """Say which values are not so large that sums of them overflow; infinity stands for itself."""
    fine: BoolArray = ~(np.abs(values) > MODERATE) | np.isinf(values)
    return fine


def is_not_negative(values: FloatArray) -> BoolArray:
    """Say which values are finite and at least 0."""
    fine: BoolArray = np.isfinite(values) & (values >= 0)
    return fine


def is_positive(values: FloatArray) -> BoolArray:
    """Say which values are finite and more than 0."""
    fine: BoolArray = np.isfinite(values) & (values > 0)
    return fine


def _wanted(shape: tuple[int | None, ...]) -> str:
    return "(" + ", ".join("any" if n is None else str(n) for n in shape) + ")"


def whole(where: str, value: Any, least: int, most: float = math.inf) -> int:
    """Return ``value`` as an integer if it is a whole number from ``least`` to ``most``."""
    fine = isinstance(value, Integral) or (_is_finite(value) and float(value).is_integer())
    if not fine or not least <= value <= most:
        wanted = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
        raise ProblemError(f"{where} is {value}; a whole number {wanted} is wanted.")
    return int(value)


def real(where: str, value: Any, least: float, most: float = math.inf) -> float:
    """Return ``value`` as a float if it is a finite number from ``least`` to ``most``."""
    if not _is_finite(value) or not least <= value <= most:
        wanted = f"of at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
        raise ProblemError(f"{where} is {value}; a number {wanted} is wanted.")
    return float(value)


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # a whole number that is larger than any float
        return False
