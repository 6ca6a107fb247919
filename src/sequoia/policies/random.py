"""Act at random."""

import numpy as np

from sequoia.policies.policy import Options, StatewisePolicy, Style
from sequoia.problem import Decision, Environment, space_at
from sequoia.problem.environment import States


class Random(StatewisePolicy):
    """A random feasible decision in every step, whatever the state (paper, appendix D)."""

    name = "random"
    words = "a random feasible decision"
    style = Style("#7A7A7A", "s")

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    @classmethod
    def make(cls, environment: Environment, options: Options) -> "Random":
        """Make it for any environment."""
        return cls(environment)

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decision:
        """Draw from what is allowed."""
        return space_at(self._environment, state, step).sample(rng)
