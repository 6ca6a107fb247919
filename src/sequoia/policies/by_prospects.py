"""Decide by how promising the next state is, where rewards are too rare for rollouts."""

from typing import Protocol

import numpy as np

from sequoia.errors import InfeasibleDecision
from sequoia.policies.greedy import what_is_forced
from sequoia.policies.policy import StatewisePolicy
from sequoia.problem import Decision, Environment, limits_of, sample_actions
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, BoolArray, FloatArray

# Of the size of prospects: less is no gain.
_LEAST_GAIN = 1e-6


class Promising(Environment, Protocol):
    """An environment that knows how promising actions are."""

    def prospects(self, states: States, actions: ActionArray) -> FloatArray:
        """Return what actions earn, and how promising the states are where they lead, ``(B,)``."""
        ...


class ByProspects(StatewisePolicy):
    """Adds the column that promises the most, as long as one promises more: hill climbing.

    Where nothing does, it acts at random, which leaves a plateau behind in time.
    """

    name = "lookahead"

    def __init__(self, environment: Promising) -> None:
        self._environment = environment

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decision:  # noqa: ARG002
        """Return what is built up column by column, or something at random."""
        space = self._environment.space
        try:
            action = what_is_forced(self._environment, self.name, state, step).action
        except InfeasibleDecision:
            return self._at_random(state, step, rng)
        best, is_better = self._rated(state, action[None])[0], False
        while True:
            tried = np.repeat(action[None], int((action == 0).sum()), axis=0)
            tried[np.arange(len(tried)), np.flatnonzero(action == 0)] = 1
            tried = tried[self._is_allowed(state, step, tried)]
            if not len(tried):
                break
            values = self._rated(state, tried)
            found = int(values.argmax())
            if values[found] <= best + _LEAST_GAIN * (1 + abs(best)):
                break
            action, best, is_better = tried[found], values[found], True
        return space.certify(action) if is_better else self._at_random(state, step, rng)

    def _rated(self, state: States, actions: ActionArray) -> FloatArray:
        return self._environment.prospects(np.repeat(state[None], len(actions), axis=0), actions)

    def _is_allowed(self, state: States, step: int, actions: ActionArray) -> BoolArray:
        found = self._environment.space.contains(actions)
        limits = limits_of(self._environment, state[None], np.array([step]))
        return found if limits is None else found & limits.allowed(actions)[0]

    def _at_random(self, state: States, step: int, rng: np.random.Generator) -> Decision:
        drawn = sample_actions(self._environment, state[None], np.array([step]), rng)[0]
        return self._environment.space.certify(drawn)
