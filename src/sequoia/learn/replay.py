"""Prioritised replay: transitions that surprised are learned from more often."""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray, IntArray

_LEAST = 1e-6


class Replay:
    """The last ``capacity`` transitions, drawn in proportion to priority ** ``sharpness``.

    A new transition gets the largest priority so far, so that it is seen soon. A draw walks the
    running sum of all priorities: at ten thousand transitions that costs 20 microseconds, less
    than a tree would.

    Attributes
    ----------
    states, steps, actions, rewards, following
        Of all places, used or not, ``(C, …)``.
    """

    _FIELDS = ("states", "steps", "actions", "rewards", "following", "priorities")

    def __init__(self, environment: Environment, capacity: int, alpha: float) -> None:
        example = environment.draw_start(np.random.default_rng(0), 1)
        self.states: States = np.zeros((capacity, *example.shape[1:]), example.dtype)
        self.following: States = np.zeros_like(self.states)
        self.steps: IntArray = np.zeros(capacity, np.int64)
        self.actions: ActionArray = np.zeros((capacity, environment.space.n_actions), np.int8)
        self.rewards: FloatArray = np.zeros(capacity)
        self.priorities: FloatArray = np.zeros(capacity)
        self.count = 0
        self._alpha = alpha

    def __len__(self) -> int:
        return min(self.count, len(self.steps))

    def add(
        self,
        states: States,
        steps: IntArray,
        actions: ActionArray,
        rewards: FloatArray,
        following: States,
    ) -> None:
        """Keep transitions; the oldest give way."""
        where = (self.count + np.arange(len(states))) % len(self.steps)
        self.states[where], self.steps[where] = states, steps
        self.actions[where], self.rewards[where] = actions, rewards
        self.following[where] = following
        self.priorities[where] = self.priorities.max(initial=0.0) or 1.0
        self.count += len(states)

    def sample(
        self, rng: np.random.Generator, batch: int, correction: float
    ) -> tuple[IntArray, FloatArray]:
        """Return places, ``(batch,)``, and the weights that make up for drawing unevenly.

        Parameters
        ----------
        correction
            0 leaves the unevenness, 1 makes up for it in full.
        """
        chances = self.priorities[: len(self)] ** self._alpha
        sums = chances.cumsum()
        drawn = np.searchsorted(sums, rng.random(batch) * sums[-1], side="right")
        places: IntArray = np.minimum(drawn, len(self) - 1)
        weights: FloatArray = (chances[places] / sums[-1] * len(self)) ** -correction
        return places, weights / weights.max()

    def update(self, places: IntArray, td_errors: NDArray[np.floating]) -> None:
        """Set priorities to how far off the predictions were, ``(batch,)``."""
        self.priorities[places] = np.abs(td_errors) + _LEAST

    def state(self) -> dict[str, torch.Tensor]:
        """Return everything that changes, by name, for a checkpoint."""
        return {name: torch.from_numpy(getattr(self, name)) for name in self._FIELDS}

    def restore(self, tensors: Mapping[str, torch.Tensor], count: int) -> None:
        """Take over what `state` returned."""
        for name, value in tensors.items():
            getattr(self, name)[:] = value.numpy()
        self.count = count
