"""Try some random decisions and take the best for the next step."""

import numpy as np

from sequoia.problem import Decision, Problem
from sequoia.validation import IntArray


class Sampling:
    """The best of ``k`` random decisions by expected reward of the next state (appendix D)."""

    name = "sampling"

    def __init__(self, problem: Problem, k: int = 100) -> None:
        self._problem = problem
        self._k = k

    def act(self, state: IntArray, step: int, rng: np.random.Generator) -> Decision:  # noqa: ARG002
        """Draw ``k`` decisions and return the most promising one."""
        drawn = [self._problem.space.sample(rng) for _ in range(self._k)]
        actions = np.array([decision.action for decision in drawn])
        states = np.broadcast_to(state, (self._k, len(state)))
        return drawn[int(self._problem.expected_reward(states, actions).argmax())]
