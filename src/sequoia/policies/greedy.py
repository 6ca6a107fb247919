"""Build a decision one component at a time, by any value function."""

from collections.abc import Callable

import numpy as np

from sequoia.arrays import ActionArray, FloatArray, IntArray
from sequoia.errors import InfeasibleSpace
from sequoia.problem import Decision, Problem
from sequoia.simulate import expected_reward

Value = Callable[[IntArray, ActionArray], FloatArray]


class Greedy:
    """Add the component with the best gain per cost until nothing fits (paper, appendix D).

    Whose turn it is comes from the space: workers of small capacity first where visits take
    capacity, workers with many open slots first where they are booked.

    Parameters
    ----------
    value
        From a state ``(J,)`` and actions ``(C, N)`` to values ``(C,)``.
    """

    def __init__(self, problem: Problem, value: Value, name: str) -> None:
        self.name = name
        self._space = problem.space
        self._value = value
        if self._space.system.violations(self._space.idle):
            raise InfeasibleSpace(
                f"{name} builds up from doing nothing, which breaks a rule of this problem."
            )

    def act(self, state: IntArray, step: int, rng: np.random.Generator) -> Decision:  # noqa: ARG002
        """Return the decision that is built up step by step."""
        decision = self._space.idle
        while len(growth := self._space.grow(decision)):
            first = np.flatnonzero(growth.turns == growth.turns.min())
            actions = np.repeat(decision.action[None, :], len(first) + 1, axis=0)
            actions[np.arange(len(first)), growth.columns[first]] = 1
            values = self._value(state, actions)
            gains = (values[:-1] - values[-1]) / np.maximum(growth.costs[first], 1e-9)
            decision = growth[int(first[gains.argmax()])]
        return decision


def iterative_myopic(problem: Problem) -> Greedy:
    """Return the greedy policy by expected reward of the next state."""

    def value(state: IntArray, actions: ActionArray) -> FloatArray:
        return expected_reward(problem, np.broadcast_to(state, (len(actions), len(state))), actions)

    return Greedy(problem, value, "iterative-myopic")
