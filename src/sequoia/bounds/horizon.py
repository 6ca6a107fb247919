"""The steps that count, and their weights."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sequoia.errors import ProblemError
from sequoia.problem import Problem
from sequoia.sizes import MOST_STEPS, require_at_most
from sequoia.validation import FloatArray


@dataclass(frozen=True)
class Horizon:
    """A number of single steps and, when endless, a last block for all later steps together.

    Attributes
    ----------
    steps
        Steps that have prices of their own.
    discount
        Weight of a step against the one before.
    is_endless
        Whether a block of all later steps, which share their prices, comes last.
    """

    steps: int
    discount: float = 1.0
    is_endless: bool = False

    def __post_init__(self) -> None:
        if self.steps < 0 or (self.steps == 0 and not self.is_endless):
            raise ProblemError(f"horizon is {self.steps}; at least 1 step is wanted.")
        require_at_most("horizon", self.steps, "steps", MOST_STEPS)
        if self.is_endless and not 0 < self.discount < 1:
            raise ProblemError(
                f"the discount is {self.discount}; without an end, less than 1 is wanted."
            )

    @classmethod
    def of(cls, problem: Problem, steps: int | None = None, discounted: bool = False) -> "Horizon":
        """Return the horizon of a question about ``problem``.

        Undiscounted, each of ``steps`` (the problem's horizon unless given) counts the same.
        Discounted, there is no end, and prices change in the first ``steps``.
        """
        steps = problem.horizon if steps is None else steps
        return cls(steps, problem.discount if discounted else 1.0, discounted)

    @property
    def n_blocks(self) -> int:
        """Number of steps with prices of their own, the endless block included."""
        return self.steps + int(self.is_endless)

    @cached_property
    def weights(self) -> FloatArray:
        """The weight of each block, ``(B,)``."""
        weights: FloatArray = self.discount ** np.arange(self.n_blocks, dtype=np.float64)
        if self.is_endless:
            weights[-1] /= 1 - self.discount
        return weights
