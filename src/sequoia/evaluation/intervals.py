"""Means with confidence intervals."""

from collections.abc import Sequence
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


def half_width(values: FloatArray) -> FloatArray:
    """Return half of the 95 % interval of the mean over the first axis, by Student's t.

    ``t_{n-1, 0.975} * s / sqrt(n)``; ``values`` is ``(n, ...)`` with n of at least 2.
    """
    count = len(values)
    half: FloatArray = stdtrit(count - 1, 0.975) * values.std(axis=0, ddof=1) / np.sqrt(count)
    return half


def estimate(values: FloatArray) -> Estimate:
    """Estimate the mean of independent ``values``, ``(E,)``."""
    mean = float(values.mean())
    if len(values) < 2:
        return Estimate(mean, float("nan"), float("nan"))
    half = float(half_width(values))
    return Estimate(mean, mean - half, mean + half)


def pooled(groups: Sequence[FloatArray]) -> Estimate:
    """Estimate the mean of the means of independent groups, each as important as the others.

    Groups may differ in size and spread; degrees of freedom are Welch's and Satterthwaite's. With
    a group of one value there is no interval.
    """
    mean = float(np.mean([values.mean() for values in groups]))
    if min(len(values) for values in groups) < 2:
        return Estimate(mean, float("nan"), float("nan"))
    parts = np.array([values.var(ddof=1) / len(values) for values in groups]) / len(groups) ** 2
    if not parts.any():
        return Estimate(mean, mean, mean)
    freedom = parts.sum() ** 2 / sum(
        part**2 / (len(values) - 1) for part, values in zip(parts, groups, strict=True)
    )
    half = float(stdtrit(freedom, 0.975) * np.sqrt(parts.sum()))
    return Estimate(mean, mean - half, mean + half)
