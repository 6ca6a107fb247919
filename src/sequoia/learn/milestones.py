"""Something to learn from where rewards are rare: what lasts, and was never so before."""

from typing import Any

import numpy as np

from sequoia.optimize.auto import RolloutAuto
from sequoia.problem import Environment, limits_of
from sequoia.problem.environment import States
from sequoia.rng import stream
from sequoia.validation import ActionArray, FloatArray

# Episodes of random play that show which components ever return to their first value.
_EPISODES = 64


class Milestones:
    """An environment that also pays for every lasting change of a component.

    A change is lasting where, in random play, a component that has left its first value never
    returns to it: what was detected, passed, taken. Such facts are often what rare rewards need
    first (goal counting, Hoffmann and Nebel 2001, without the planning). Each is worth what a step
    earns or costs in random play, at least 1; times its ``relevance``, where the environment knows
    which facts help and which only harm. All else is that of the environment.
    """

    def __init__(self, environment: Environment, argmax: RolloutAuto) -> None:
        self._environment = environment
        self._start = environment.draw_start(np.random.default_rng(0), 1)[0]
        self._worth = self._worth_of_changes(argmax)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._environment, name)

    def _worth_of_changes(self, argmax: RolloutAuto) -> FloatArray:
        environment, rng = self._environment, stream(0, "milestones")
        states = environment.draw_start(rng, _EPISODES)
        has_left = has_returned = np.zeros(states.shape, dtype=np.bool_)
        sizes = np.zeros(environment.horizon)
        for step in range(environment.horizon):
            weights = rng.random((_EPISODES, environment.space.n_actions))
            limits = limits_of(environment, states, np.full(_EPISODES, step))
            noise = rng.random((_EPISODES, environment.n_noise))
            rewards, states = environment.step(states, argmax.best(weights, limits), noise)
            sizes[step] = np.abs(rewards).mean()
            is_away = states != self._start
            has_left = has_left | is_away
            has_returned = has_returned | (has_left & ~is_away)
        relevance = getattr(environment, "relevance", np.ones(states.shape[1]))
        worth: FloatArray = np.where(has_returned.any(axis=0), 0.0, relevance)
        return max(1.0, float(sizes.mean())) * worth

    def step(
        self, states: States, actions: ActionArray, noise: FloatArray
    ) -> tuple[FloatArray, States]:
        """Return the rewards and what is new, and the next states."""
        rewards, after = self._environment.step(states, actions, noise)
        is_new = (np.asarray(states) == self._start) & (after != self._start)
        return rewards + is_new @ self._worth, after
