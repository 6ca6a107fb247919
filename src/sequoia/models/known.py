"""What is known without learning: nothing, the next step, or prices; learned scores add to it."""

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from sequoia.models.factored_part import FactoredPart
from sequoia.models.joint_units import JointUnits
from sequoia.models.price_part import PricePart
from sequoia.optimize.encoding import ActionEncoding, few_actions
from sequoia.problem import Environment, Problem, capabilities_of
from sequoia.problem.capabilities import MeasuresProgress, TabulatesRewards
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray, IntArray

# States times actions whose values are held at once: 40 MB.
_TOGETHER = 5_000_000
# Of the size of all values: what members of the best action weigh at least, against ties.
_LEAST_WEIGHT = 1e-9


class Known(ABC):
    """What is known of an action: a part of ``Q(s, a)`` that learned scores are added to.

    Attributes
    ----------
    name
        Of the base policy that acts by what is known alone.
    takes_scores
        Whether learned scores may be added.
    units
        What the doses of an action are worth together, as ReLU units, where that is known.
    """

    name: str
    takes_scores: bool = True
    units: JointUnits | None = None

    @abstractmethod
    def weights(self, states: States, steps: IntArray, scores: FloatArray) -> FloatArray:
        """Return weights of the inputs whose argmax is best with these scores, ``(B, I)``."""

    @abstractmethod
    def gains(
        self, states: States, steps: IntArray, actions: ActionArray, others: ActionArray
    ) -> FloatArray:
        """Return what others are worth more than actions, as far as it is known, ``(B,)``."""


class Nothing(Known):
    """Nothing is known: learned scores are all."""

    name = "idle"

    def weights(self, states: States, steps: IntArray, scores: FloatArray) -> FloatArray:
        """Return the scores."""
        return scores

    def gains(
        self,
        states: States,
        steps: IntArray,
        actions: ActionArray,
        others: ActionArray,
    ) -> FloatArray:
        """Return nothing."""
        return np.zeros(len(states))


class Chance(Nothing):
    """A random feasible action, always the same in the same state and step."""

    name = "random"
    takes_scores = False

    def weights(self, states: States, steps: IntArray, scores: FloatArray) -> FloatArray:
        """Return weights that say nothing."""
        found = np.empty(scores.shape)
        for row, (state, step) in enumerate(zip(states, steps, strict=True)):
            seed = zlib.crc32(np.append(np.asarray(state, dtype=np.float64), step).tobytes())
            found[row] = np.random.default_rng(seed).random(scores.shape[1])
        return found


class Linear(Known):
    """A known part that is linear in the inputs of `ActionEncoding`.

    Parameters
    ----------
    own
        Returns the weight of every input, ``(B, I)``, in states at steps.
    """

    def __init__(
        self,
        name: str,
        encoding: ActionEncoding,
        own: Callable[[States, IntArray], FloatArray],
        units: JointUnits | None = None,
    ) -> None:
        self.name, self.encoding, self.own = name, encoding, own
        self.units = units

    def weights(self, states: States, steps: IntArray, scores: FloatArray) -> FloatArray:
        """Return the sums of both."""
        return self.own(states, steps) + scores

    def gains(
        self, states: States, steps: IntArray, actions: ActionArray, others: ActionArray
    ) -> FloatArray:
        """Return the weights of what differs."""
        apart = self.encoding.encode(others) - self.encoding.encode(actions)
        gained: FloatArray = (apart * self.own(states, steps)).sum(axis=1)
        return gained


def next_rewards(problem: Problem, encoding: ActionEncoding) -> Linear:
    """Return the expected rewards of doses, which add up over arms: the myopic policy."""

    def own(states: States, steps: IntArray) -> FloatArray:  # noqa: ARG001
        return encoding.objective(problem.dose_rewards(states))[0]

    return Linear("myopic", encoding, own)


def priced(encoding: ActionEncoding, prices: PricePart) -> Linear:
    """Return what doses are worth at prices."""

    def own(states: States, steps: IntArray) -> FloatArray:
        return encoding.objective(prices.levels(states, steps)[0])[0]

    return Linear("price", encoding, own)


def factored(
    problem: Problem, encoding: ActionEncoding, part: FactoredPart, is_joint: bool
) -> Linear:
    """Return the next reward of doses, and their effects on a factored value.

    With ``is_joint``, beside these sums what the doses of a cluster are worth together.
    """
    arm, level = np.nonzero(encoding.level_input >= 0)
    where = encoding.level_input[arm, level]

    def own(states: States, steps: IntArray) -> FloatArray:
        weights = encoding.objective(problem.dose_rewards(states))[0]
        effects = part.unit * part.effects(states, steps)
        np.add.at(weights.T, where, effects[arm, :, level - 1])
        return weights

    units = JointUnits(part, encoding) if is_joint else None
    return Linear("price", encoding, own, units=units)


class Listed(Known):
    """Rewards of all actions, where these are few: any function of an action, not only sums.

    The best action of ``r(s, a) + scores @ a`` is found by trying all, and told by its
    max-marginals, ``w_i = max_{a: a_i = 1} - max_{a: a_i = 0}``: positive for the columns of the
    best action and negative for all others, so that it is the best one of ``w @ a``, too.
    """

    name = "myopic"

    def __init__(self, environment: TabulatesRewards, actions: ActionArray) -> None:
        self._environment, self._actions = environment, actions
        self._with = [np.flatnonzero(column) for column in actions.T]
        self._without = [np.flatnonzero(column == 0) for column in actions.T]

    def weights(self, states: States, steps: IntArray, scores: FloatArray) -> FloatArray:
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

    def gains(
        self,
        states: States,
        steps: IntArray,
        actions: ActionArray,
        others: ActionArray,
    ) -> FloatArray:
        """Ask the environment."""
        expected = self._environment.expected_reward
        return expected(states, others) - expected(states, actions)


def listed_actions(environment: Environment) -> ActionArray | None:
    """Return all actions of an environment with a table of rewards, where they are few.

    ``None`` as well where what is allowed depends on the state: no list holds in all of them.
    """
    abilities = capabilities_of(environment)
    if abilities.reward_table is None or abilities.limits is not None:
        return None
    return few_actions(environment.space)


def guessed(guide: MeasuresProgress, encoding: ActionEncoding, unit: float) -> Linear:
    """Return what an environment says of progress: of each column, where it moves components."""
    columns = guide.dependencies.columns

    def own(states: States, steps: IntArray) -> FloatArray:  # noqa: ARG001
        promised = guide.progress(np.asarray(states))
        return unit * np.asarray(promised @ columns)

    return Linear("progress", encoding, own)


def known_parts(environment: Environment, encoding: ActionEncoding) -> list[Known]:
    """Return what is known without any search, each the start of a base policy of its own."""
    found: list[Known] = [Nothing(), Chance()]
    abilities = capabilities_of(environment)
    table, actions = abilities.reward_table, listed_actions(environment)
    if abilities.problem is not None:
        found.append(next_rewards(abilities.problem, encoding))
    elif table is not None and actions is not None:
        found.append(Listed(table, actions))
    if (guide := abilities.progress) is not None:
        found.append(guessed(guide, encoding, 1.0))
    return found
