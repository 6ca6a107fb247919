"""Means with confidence intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from sequoia.validation import FloatArray

# Outside of these, numbers are said with powers of ten.
_SMALLEST, _LARGEST = 1e-6, 1e7


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

    @property
    def includes_zero(self) -> bool:
        """Whether chance may explain all of it; without an interval nothing speaks against it."""
        return not (self.low > 0 or self.high < 0)

    def __neg__(self) -> "Estimate":
        """Return the estimate of the negative."""
        return Estimate(-self.mean, -self.high, -self.low)

    def __str__(self) -> str:
        """Say it with two digits of what is uncertain: ``"23.25 ± 0.27"``, ``"0.002 ± 0.010"``."""
        if np.isnan(self.half):
            return f"{self.mean:.4g}"
        largest = max(abs(self.mean), self.half)
        if not _SMALLEST <= self.half <= _LARGEST or largest > _LARGEST:
            return f"{self.mean:.4g} ± {self.half:.2g}"
        decimals = max(0, 1 - int(np.floor(np.log10(self.half))))
        # Adding 0 makes a negative zero positive.
        return f"{round(self.mean, decimals) + 0.0:.{decimals}f} ± {self.half:.{decimals}f}"


def half_width(values: FloatArray, comparisons: int = 1) -> FloatArray:
    """Return half of the 95 % interval of the mean over the first axis, by Student's t.

    ``t_{n-1, 1 - 0.025 / m} * s / sqrt(n)``; ``values`` is ``(n, ...)`` with n of at least 2. With
    m comparisons, all m intervals hold together with 95 % (Bonferroni).
    """
    count, share = len(values), 1 - 0.025 / comparisons
    half: FloatArray = stdtrit(count - 1, share) * values.std(axis=0, ddof=1) / np.sqrt(count)
    return half


def estimate(values: FloatArray, comparisons: int = 1) -> Estimate:
    """Estimate the mean of independent ``values``, ``(E,)``; one of so many comparisons."""
    mean = float(values.mean())
    if len(values) < 2:
        return Estimate(mean, float("nan"), float("nan"))
    half = float(half_width(values, comparisons))
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
