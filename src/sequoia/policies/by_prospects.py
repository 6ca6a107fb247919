"""Decide by how promising the next state is, where rewards are too rare for rollouts."""

from typing import Protocol

import numpy as np

from sequoia.errors import InfeasibleDecision
from sequoia.policies.greedy import what_is_forced
from sequoia.policies.policy import StatewisePolicy
from sequoia.problem import Decision, Environment, space_at
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray

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
        space = space_at(self._environment, state, step)
        try:
            action = what_is_forced(self._environment, self.name, state, step).action
        except InfeasibleDecision:
            return space.sample(rng)
        best, is_better = self._rated(state, action[None])[0], False
        while True:
            open_columns = np.flatnonzero(action == 0)
            tried = np.repeat(action[None], len(open_columns), axis=0)
            tried[np.arange(len(tried)), open_columns] = 1
            tried = tried[space.contains(tried)]
            if not len(tried):
                break
            values = self._rated(state, tried)
            found = int(values.argmax())
            if values[found] <= best + _LEAST_GAIN * (1 + abs(best)):
                break
            action, best, is_better = tried[found], values[found], True
        return space.certify(action) if is_better else space.sample(rng)

    def _rated(self, state: States, actions: ActionArray) -> FloatArray:
        return self._environment.prospects(np.repeat(state[None], len(actions), axis=0), actions)
