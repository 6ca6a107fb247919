"""Means with confidence intervals."""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from sequoia.validation import FloatArray


@dataclass(frozen=True)
class Estimate:
    """A mean and its 95 % confidence interval; without one, NaN, when there is one episode."""

    mean: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


def estimate(values: FloatArray) -> Estimate:
    """Estimate the mean of independent ``values``, ``(E,)``, by Student's t."""
    mean = float(values.mean())
    if len(values) < 2:
        return Estimate(mean, float("nan"), float("nan"))
    error = values.std(ddof=1) / np.sqrt(len(values))
    half = float(stdtrit(len(values) - 1, 0.975) * error)
    return Estimate(mean, mean - half, mean + half)
