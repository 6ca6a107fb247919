"""Try some random decisions and take the best for the next step."""

import numpy as np

from sequoia.policies.policy import Options, StatewisePolicy, Style, require_problem
from sequoia.problem import Decision, Environment, Problem, space_at
from sequoia.problem.environment import States


class Sampling(StatewisePolicy):
    """The best of ``k`` random decisions by expected reward of the next state (appendix D)."""

    name = "sampling"
    words = "the best of 100 random decisions for the next step"
    style = Style("#56B4E9", "v")

    def __init__(self, problem: Problem, k: int = 100) -> None:
        self._problem = problem
        self._k = k

    @classmethod
    def make(cls, environment: Environment, options: Options) -> "Sampling":
        """Make it for a problem of arms."""
        return cls(require_problem(environment, cls.name))

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decision:
        """Draw ``k`` decisions and return the most promising one."""
        space = space_at(self._problem, state, step)
        drawn = [space.sample(rng) for _ in range(self._k)]
        actions = np.array([decision.action for decision in drawn])
        states = np.broadcast_to(state, (self._k, len(state)))
        return drawn[int(self._problem.expected_reward(states, actions).argmax())]
