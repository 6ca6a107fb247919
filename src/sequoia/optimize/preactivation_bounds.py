"""How small and how large the neurons of one layer can get."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sequoia.validation import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class PreactivationBounds:
    """Bounds of what each ReLU of one layer sees, ``(P,)`` each."""

    lower: FloatArray
    upper: FloatArray

    @cached_property
    def is_open(self) -> BoolArray:
        """Which ReLUs may be on or off, ``(P,)``."""
        result: BoolArray = (self.lower < 0) & (self.upper > 0)
        return result

    @cached_property
    def chord(self) -> tuple[FloatArray, FloatArray]:
        """Slope and shift of the line above each ReLU through the ends of its range."""
        low, high = np.minimum(self.lower, 0.0), np.maximum(self.upper, 0.0)
        width = np.where(high - low > 0, high - low, 1.0)
        slope = np.where(self.lower >= 0, 1.0, high / width)
        return slope, np.where(self.lower >= 0, 0.0, -slope * low)

    def largest(self, rows: FloatArray) -> FloatArray:
        """Return bounds of ``rows @ relu``, ``(R,)``, as if every ReLU were free in its range."""
        most, least = np.maximum(self.upper, 0.0), np.maximum(self.lower, 0.0)
        result: FloatArray = np.maximum(rows, 0.0) @ most + np.minimum(rows, 0.0) @ least
        return result
