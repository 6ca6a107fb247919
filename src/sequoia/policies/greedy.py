"""Build a decision one component at a time, by any value function."""

from abc import abstractmethod

import numpy as np

from sequoia.errors import InfeasibleDecision, InfeasibleSpace, ProblemError
from sequoia.policies.policy import Options, StatewisePolicy, Style, require_problem
from sequoia.problem import Decision, Environment, Problem, limits_of, space_at
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray


def require_step_by_step(environment: Environment, name: str) -> None:
    """Raise unless decisions can be built up from nothing, one component at a time."""
    space = environment.space
    reason = space.base.why_not_iterative
    if reason is not None:
        raise ProblemError(f"{name} does not apply to {environment.name}: {reason}.")
    if space.system.violations(space.idle):
        raise InfeasibleSpace(
            f"{name} builds up from doing nothing, which breaks a rule of {environment.name}."
        )


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
        require_step_by_step(environment, self.name)
        self._environment = environment

    @abstractmethod
    def values(self, state: States, step: int, actions: ActionArray) -> FloatArray:
        """Return what actions, ``(C, N)``, are worth in a state ``(D,)``, ``(C,)``."""

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decision:
        """Return the decision that is built up step by step."""
        space = space_at(self._environment, state, step)
        decision = what_is_forced(self._environment, self.name, state, step)
        while len(extensions := space.extensions(decision)):
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


def what_is_forced(environment: Environment, name: str, state: States, step: int) -> Decision:
    """Return what a step-by-step builder begins with: nothing, or what the state forces."""
    space = space_at(environment, state, step)
    limits = limits_of(environment, state[None], np.array([step]))
    if limits is None:
        return space.idle
    try:
        return space.certify(limits.lower[0])
    except InfeasibleDecision as error:
        raise InfeasibleDecision(
            f"{name} builds up from what a state forces, and that alone breaks a rule: {error}"
        ) from None


class IterativeMyopic(Greedy):
    """Greedy by the expected reward of the next state."""

    name = "iterative-myopic"
    words = "built up one component at a time for the next step"
    style = Style("#E69F00", "^")

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._problem = problem

    @classmethod
    def make(cls, environment: Environment, options: Options) -> "IterativeMyopic":
        """Make it for a problem of arms."""
        return cls(require_problem(environment, cls.name))

    def values(self, state: States, step: int, actions: ActionArray) -> FloatArray:
        """Return the expected reward of the next state."""
        states = np.broadcast_to(state, (len(actions), len(state)))
        return self._problem.expected_reward(states, actions)
