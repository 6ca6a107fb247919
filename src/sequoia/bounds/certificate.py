"""A number that no policy can beat."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["lp", "hull"]


@dataclass(frozen=True)
class Bound:
    """No policy's expected reward exceeds it.

    Attributes
    ----------
    total
        Bound on the expected sum of the rewards of all steps; discounted and without end when
        the question was.
    per_step
        The same per step: divided by the horizon, or by the sum of the discounts.
    kind
        ``"lp"``: the rules hold on average and in fractions. ``"hull"``: they hold on average,
        over whole actions.
    seconds
        Time it took.
    gap
        How far the bound may still be, relatively, from the best of its kind; ``inf`` where that
        is not known. The bound is valid whatever the gap.
    """

    total: float
    per_step: float
    kind: Kind
    seconds: float
    gap: float = float("inf")
