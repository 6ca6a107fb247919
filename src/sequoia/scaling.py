"""Units in which numbers are about 1: what follows then means the same at any scale."""

import numpy as np

from sequoia.validation import FloatArray


def powers_of_two(sizes: FloatArray) -> FloatArray:
    """Return the power of two just at or below each size, in the same shape; 1 for 0.

    To divide by a power of two costs no precision.
    """
    exponents = np.where(np.asarray(sizes) > 0, np.frexp(sizes)[1] - 1, 0)
    result: FloatArray = np.ldexp(1.0, exponents)
    return result


def unit_of(values: FloatArray) -> float:
    """Return the power of two just at or below the largest of some values; 1 where all are 0."""
    return float(powers_of_two(np.abs(values).max(initial=0.0)))
