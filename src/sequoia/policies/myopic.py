"""The best action for the next step, by a mixed-integer program or by trying all."""

import numpy as np

from sequoia.errors import TooLarge
from sequoia.optimize.encoding import few_actions
from sequoia.policies.policy import (
    LinearPolicy,
    Options,
    Policy,
    StatewisePolicy,
    Style,
    require_problem,
)
from sequoia.problem import Environment, capabilities_of, limits_of
from sequoia.problem.capabilities import ExpectsRewards
from sequoia.problem.environment import States
from sequoia.simulate import Decided
from sequoia.validation import FloatArray


class Myopic(LinearPolicy):
    """The largest expected reward of the next state, over the whole space (paper, section 5).

    Dose levels are tabulated, so the program is exact behind a link function too; the paper
    approximates the link by straight pieces.
    """

    name = "myopic"
    words = "the best decision for the next step"
    objective = "for the next step"
    style = Style("#009E73", "<")

    @classmethod
    def make(cls, environment: Environment, options: Options) -> Policy:
        """Make it for a problem of arms, or for an environment that knows what it expects."""
        abilities = capabilities_of(environment)
        if abilities.problem is None and abilities.rewards is not None:
            return ListedMyopic(abilities.rewards)
        return cls(require_problem(environment, cls.name), seconds=options.seconds)

    def table(self, state: States, step: int, episode: int) -> FloatArray:
        """Return the expected next reward of every arm by dose level, ``(J, L)``."""
        return self._problem.dose_rewards(state)


class ListedMyopic(StatewisePolicy):
    """The largest expected reward of the next step, where actions are few enough to try all."""

    name = Myopic.name

    def __init__(self, environment: ExpectsRewards) -> None:
        self._environment = environment
        actions = few_actions(environment.space)
        if actions is None:
            raise TooLarge(f"{environment.name} has too many actions to try them all.")
        self._actions = actions

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decided:
        """Return the best of all allowed actions, which is proven by having tried them."""
        states = np.broadcast_to(state, (len(self._actions), len(state)))
        values = self._environment.expected_reward(states, self._actions)
        limits = limits_of(self._environment, state[None], np.array([step]))
        if limits is not None:
            values = np.where(limits.allowed(self._actions)[0], values, -np.inf)
        best = int(values.argmax())
        decision = self._environment.space.certify(self._actions[best])
        return Decided(decision, float(values[best]), float(values[best]))
