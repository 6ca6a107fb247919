"""Two arms on which a myopic policy goes wrong (appendix B)."""

import numpy as np

from sequoia.problem.arms import Arms
from sequoia.problem.families import base
from sequoia.problem.problem import Problem
from sequoia.problem.spaces import Budget


def trap(horizon: base.Horizon = 20, discount: base.Discount = 0.99) -> Problem:
    """Make the two-arm counterexample: act on one arm, and it moves up for sure.

    Both arms start at the bottom. The first pays 0.1, 0.2, 1 and tempts; the second pays
    0.2, 0.1, 10 and has to be pushed through a dip.
    """
    return Problem(
        name="trap",
        arms=Arms.ladder([[0.1, 0.2, 1.0], [0.2, 0.1, 10.0]], [[0.0, 1.0], [0.0, 1.0]]),
        space=Budget(np.ones(2), 1),
        start=np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]),
        horizon=horizon,
        discount=discount,
    )
