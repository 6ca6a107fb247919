"""The mean of several settings, each as important as the others."""

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from sequoia.evaluation.intervals import Estimate
from sequoia.validation import FloatArray


def pooled(groups: Sequence[FloatArray]) -> Estimate:
    """Estimate the mean of the means of independent groups with its 95 % confidence interval.

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
