"""Our environments as Gymnasium environments."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from sequoia.errors import InfeasibleDecision
from sequoia.interop.gym.feasible import Feasible
from sequoia.problem import Environment, Problem
from sequoia.problem.environment import States
from sequoia.validation import ActionArray


def as_gym(environment: Environment) -> gymnasium.Env[States, ActionArray]:
    """Return ``environment`` for learners that speak Gymnasium, one episode at a time.

    An observation is the state: the state of each arm where ``environment`` is a `Problem`. An
    action is an element of `Feasible`; another one raises `InfeasibleDecision`. The reward is the
    expected one where it is known, and episodes are truncated after ``environment.horizon`` steps.
    """
    return _Played(environment)


class _Played(gymnasium.Env[States, ActionArray]):
    """An environment that remembers where the current episode stands."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.action_space = Feasible(environment.space)
        self.observation_space = _observations(environment)
        self._steps = 0
        self._state: States | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[States, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed, options=options)
        self._state = self.environment.draw_start(self.np_random, 1)
        self._steps = 0
        return self._state[0].copy(), {}

    def step(self, action: ActionArray) -> tuple[States, float, bool, bool, dict[str, Any]]:
        """Take a feasible action."""
        if self._state is None:
            raise gymnasium.error.ResetNeeded("call reset before step.")
        if not self.action_space.contains(action):
            raise InfeasibleDecision(f"{action} is not in {self.action_space}.")
        noise = self.np_random.random((1, self.environment.n_noise))
        actions = np.asarray(action, dtype=np.int8)[None]
        rewards, self._state = self.environment.step(self._state, actions, noise)
        self._steps += 1
        is_over = self._steps >= self.environment.horizon
        return self._state[0].copy(), float(rewards[0]), False, is_over, {}


def _observations(environment: Environment) -> spaces.Space[States]:
    """Return the space of states: numbers without limits, unless it is known to be smaller."""
    if isinstance(environment, Problem):
        arms = environment.arms
        return spaces.MultiDiscrete(np.full(arms.n_arms, arms.n_states))
    example = environment.draw_start(np.random.default_rng(0), 1)[0]
    return spaces.Box(-np.inf, np.inf, example.shape, example.dtype.type)
