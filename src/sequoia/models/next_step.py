"""What is known of the next step without learning, and how it decides together with scores."""

from typing import Protocol, cast

import numpy as np

from sequoia.optimize.encoding import ActionEncoding, few_actions
from sequoia.problem import Environment, Problem
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray

# States times actions whose values are held at once: 40 MB.
_TOGETHER = 5_000_000
# Of the size of all values: what members of the best action weigh at least, against ties.
_LEAST_WEIGHT = 1e-9


class NextStep(Protocol):
    """Weights of the inputs whose argmax is best for the next step and what is learned of later.

    Attributes
    ----------
    is_known
        Whether the next step alone makes a policy: the myopic one.
    is_linear
        Whether what it earns is a sum over inputs.
    """

    is_known: bool
    is_linear: bool

    def weights(self, states: States, scores: FloatArray) -> FloatArray:
        """Return weights, ``(B, I)``, from what is learned of the inputs, ``(B, I)``."""
        ...

    def gains(self, states: States, actions: ActionArray, others: ActionArray) -> FloatArray:
        """Return what other actions earn more in the next step, ``(B,)``, one for each state."""
        ...


class UnknownNext:
    """Nothing is known: what is learned is all."""

    is_known, is_linear = False, True

    def weights(self, states: States, scores: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return the scores."""
        return scores

    def gains(self, states: States, actions: ActionArray, others: ActionArray) -> FloatArray:  # noqa: ARG002
        """Return nothing."""
        return np.zeros(len(states))


class DoseNext:
    """The expected rewards of doses, which add up over arms."""

    is_known, is_linear = True, True

    def __init__(self, problem: Problem, encoding: ActionEncoding) -> None:
        self._problem, self._encoding = problem, encoding

    def weights(self, states: States, scores: FloatArray) -> FloatArray:
        """Return the sums of both."""
        return self._own(states) + scores

    def gains(self, states: States, actions: ActionArray, others: ActionArray) -> FloatArray:
        """Return the weights of what differs."""
        encode = self._encoding.encode
        gained: FloatArray = ((encode(others) - encode(actions)) * self._own(states)).sum(axis=1)
        return gained

    def _own(self, states: States) -> FloatArray:
        return self._encoding.objective(self._problem.dose_rewards(states))[0]


class Tabling(Environment, Protocol):
    """An environment that knows at once what many actions earn in the next step."""

    def expected_reward(self, states: States, actions: ActionArray) -> FloatArray:
        """Return the reward of each pair of a state and an action, ``(B,)``."""
        ...

    def reward_table(self, states: States, actions: ActionArray) -> FloatArray:
        """Return the expected reward of every action in every state, ``(B, A)``."""
        ...


class ListedNext:
    """Rewards of all actions, where these are few: any function of an action, not only sums.

    The best action of ``r(s, a) + scores @ a`` is found by trying all, and told by its
    max-marginals, ``w_i = max_{a: a_i = 1} - max_{a: a_i = 0}``: positive for the columns of the
    best action and negative for all others, so that it is the best one of ``w @ a``, too.
    """

    is_known, is_linear = True, False

    def __init__(self, environment: Tabling, actions: ActionArray) -> None:
        self._environment, self._actions = environment, actions
        self._with = [np.flatnonzero(column) for column in actions.T]
        self._without = [np.flatnonzero(column == 0) for column in actions.T]

    def weights(self, states: States, scores: FloatArray) -> FloatArray:
        """Return the max-marginals."""
        few = max(1, _TOGETHER // len(self._actions))
        parts = [
            self._max_marginals(states[first : first + few], scores[first : first + few])
            for first in range(0, len(states), few)
        ]
        return np.concatenate(parts) if parts else np.zeros_like(scores)

    def _max_marginals(self, states: States, scores: FloatArray) -> FloatArray:
        values = self._environment.reward_table(states, self._actions) + scores @ self._actions.T
        best = self._actions[values.argmax(axis=1)] == 1
        top, lowest = values.max(axis=1), values.min(axis=1)
        least = _LEAST_WEIGHT * (1 + top - lowest)
        result = np.empty(scores.shape)
        for column, (inside, outside) in enumerate(zip(self._with, self._without, strict=True)):
            is_in = best[:, column]
            # What no action has, or lacks, is as bad as anything.
            other = lowest - 1
            for rows, own in ((~is_in, inside), (is_in, outside)):
                if len(own):
                    other[rows] = values[np.ix_(rows, own)].max(axis=1)
            apart = np.maximum(top - other, least)
            result[:, column] = np.where(is_in, apart, -apart)
        return result

    def gains(self, states: States, actions: ActionArray, others: ActionArray) -> FloatArray:
        """Ask the environment."""
        expected = self._environment.expected_reward
        return expected(states, others) - expected(states, actions)


def next_step_of(environment: Environment, encoding: ActionEncoding) -> NextStep:
    """Return what is known: rewards of doses, of all actions where they are few, or nothing."""
    if isinstance(environment, Problem):
        return DoseNext(environment, encoding)
    actions = listed_actions(environment)
    return UnknownNext() if actions is None else ListedNext(cast(Tabling, environment), actions)


def listed_actions(environment: Environment) -> ActionArray | None:
    """Return all actions of an environment with a table of rewards, where they are few.

    ``None`` as well where what is allowed depends on the state: no list holds in all of them.
    """
    has_table = hasattr(environment, "reward_table")
    if not has_table or hasattr(environment, "action_limits"):
        return None
    return few_actions(environment.space)
