"""Build a decision one component at a time, by any value function."""

from abc import abstractmethod

import numpy as np

from sequoia.errors import InfeasibleSpace, ProblemError
from sequoia.policies.policy import Options, StatewisePolicy, Style, require_problem
from sequoia.problem import Decision, Environment, Problem
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray


class Greedy(StatewisePolicy):
    """Add the component with the best gain per cost until nothing fits (paper, appendix D).

    Whose turn it is comes from the space: workers of small capacity first where visits take
    capacity, workers with many open slots first where they are booked.

    Raises
    ------
    ProblemError
        When the space says that decisions cannot be built this way, with its reason.
    InfeasibleSpace
        When there is nothing to build up from.
    """

    def __init__(self, environment: Environment) -> None:
        self._space = environment.space
        reason = self._space.base.why_not_iterative
        if reason is not None:
            raise ProblemError(f"{self.name} does not apply to {environment.name}: {reason}.")
        if self._space.system.violations(self._space.idle):
            raise InfeasibleSpace(
                f"{self.name} builds up from doing nothing, which breaks a rule of "
                f"{environment.name}."
            )

    @abstractmethod
    def values(self, state: States, step: int, actions: ActionArray) -> FloatArray:
        """Return what actions, ``(C, N)``, are worth in a state ``(D,)``, ``(C,)``."""

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decision:  # noqa: ARG002
        """Return the decision that is built up step by step."""
        decision = self._space.idle
        while len(extensions := self._space.extensions(decision)):
            first = np.flatnonzero(extensions.priority == extensions.priority.min())
            actions = np.repeat(decision.action[None, :], len(first) + 1, axis=0)
            actions[np.arange(len(first)), extensions.columns[first]] = 1
            values = self.values(state, step, actions)
            # A component may cost nothing; what it gains then counts without limit.
            costs = np.maximum(extensions.costs[first], np.finfo(np.float64).tiny)
            with np.errstate(over="ignore"):
                gains = (values[:-1] - values[-1]) / costs
            decision = extensions[int(first[gains.argmax()])]
        return decision


class IterativeMyopic(Greedy):
    """Greedy by the expected reward of the next state."""

    name = "iterative-myopic"
    words = "built up one component at a time for the next step"
    style = Style("#E69F00", "^")

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._problem = problem

    @classmethod
    def make(cls, environment: Environment, options: Options) -> "IterativeMyopic":  # noqa: ARG003
        """Make it for a problem of arms."""
        return cls(require_problem(environment, cls.name))

    def values(self, state: States, step: int, actions: ActionArray) -> FloatArray:  # noqa: ARG002
        """Return the expected reward of the next state."""
        states = np.broadcast_to(state, (len(actions), len(state)))
        return self._problem.expected_reward(states, actions)
