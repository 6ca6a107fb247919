"""Act at random."""

import numpy as np

from sequoia.arrays import IntArray
from sequoia.problem import Decision, Problem


class Random:
    """A random feasible decision in every step, whatever the state (paper, appendix D)."""

    name = "random"

    def __init__(self, problem: Problem) -> None:
        self._space = problem.space

    def act(self, state: IntArray, step: int, rng: np.random.Generator) -> Decision:  # noqa: ARG002
        """Draw from the space."""
        return self._space.draw(rng)
