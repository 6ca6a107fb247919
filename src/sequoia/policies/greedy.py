"""Build a decision one component at a time, by any value function."""

from collections.abc import Callable

import numpy as np

from sequoia.errors import InfeasibleSpace, ProblemError
from sequoia.problem import Decision, Environment, Problem
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray

Value = Callable[[States, int, ActionArray], FloatArray]


class Greedy:
    """Add the component with the best gain per cost until nothing fits (paper, appendix D).

    Whose turn it is comes from the space: workers of small capacity first where visits take
    capacity, workers with many open slots first where they are booked.

    Parameters
    ----------
    value
        From a state ``(D,)``, the step and actions ``(C, N)`` to values ``(C,)``.

    Raises
    ------
    ProblemError
        When the space says that decisions cannot be built this way, with its reason.
    InfeasibleSpace
        When there is nothing to build up from.
    """

    def __init__(self, environment: Environment, value: Value, name: str) -> None:
        self.name = name
        self._space = environment.space
        self._value = value
        reason = self._space.base.why_not_iterative
        if reason is not None:
            raise ProblemError(f"{name} does not apply to {environment.name}: {reason}.")
        if self._space.system.violations(self._space.idle):
            raise InfeasibleSpace(
                f"{name} builds up from doing nothing, which breaks a rule of {environment.name}."
            )

    def act(self, state: States, step: int, rng: np.random.Generator) -> Decision:  # noqa: ARG002
        """Return the decision that is built up step by step."""
        decision = self._space.idle
        while len(extensions := self._space.extensions(decision)):
            first = np.flatnonzero(extensions.priority == extensions.priority.min())
            actions = np.repeat(decision.action[None, :], len(first) + 1, axis=0)
            actions[np.arange(len(first)), extensions.columns[first]] = 1
            values = self._value(state, step, actions)
            gains = (values[:-1] - values[-1]) / np.maximum(extensions.costs[first], 1e-9)
            decision = extensions[int(first[gains.argmax()])]
        return decision


def iterative_myopic(problem: Problem) -> Greedy:
    """Return the greedy policy by expected reward of the next state."""

    def value(state: States, step: int, actions: ActionArray) -> FloatArray:  # noqa: ARG001
        return problem.expected_reward(np.broadcast_to(state, (len(actions), len(state))), actions)

    return Greedy(problem, value, "iterative-myopic")
