"""Act at random."""

import numpy as np

from sequoia.problem import Decision, Environment
from sequoia.problem.environment import States


class Random:
    """A random feasible decision in every step, whatever the state (paper, appendix D)."""

    name = "random"

    def __init__(self, environment: Environment) -> None:
        self._space = environment.space

    def act(self, state: States, step: int, rng: np.random.Generator) -> Decision:  # noqa: ARG002
        """Draw from the space."""
        return self._space.sample(rng)
