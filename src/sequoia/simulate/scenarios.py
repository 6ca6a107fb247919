"""Common random numbers: starts and luck that every policy shares."""

from dataclasses import dataclass

import numpy as np

from sequoia.arrays import FloatArray, IntArray
from sequoia.problem import Problem
from sequoia.rng import stream


@dataclass(frozen=True, eq=False)
class Scenarios:
    """E episodes, ready to be played by any policy.

    Attributes
    ----------
    start
        First states, ``(E, J)``.
    noise
        Uniforms in ``[0, 1)``, ``(E, H, J)``.
    """

    start: IntArray
    noise: FloatArray

    @classmethod
    def draw(cls, problem: Problem, episodes: int, seed: int) -> "Scenarios":
        """Draw episodes; the first ones stay the same when more are asked for."""
        arms = problem.arms.n_arms
        sums = problem.start.cumsum(axis=1)
        below = (sums / sums[:, -1:])[:, :-1]
        start = np.empty((episodes, arms), dtype=np.int64)
        noise = np.empty((episodes, problem.horizon, arms))
        for episode in range(episodes):
            rng = stream(seed, f"scenario:{episode}")
            start[episode] = (rng.random(arms)[:, None] >= below).sum(axis=1)
            noise[episode] = rng.random((problem.horizon, arms))
        start.setflags(write=False)
        noise.setflags(write=False)
        return cls(start, noise)

    @property
    def n_episodes(self) -> int:
        """``E``."""
        return len(self.start)
