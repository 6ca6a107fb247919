"""Common random numbers: starts and luck that every policy shares."""

from dataclasses import dataclass

import numpy as np

from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.rng import stream
from sequoia.validation import FloatArray


@dataclass(frozen=True, eq=False)
class Scenarios:
    """E episodes, ready to be played by any policy.

    Attributes
    ----------
    start
        First states, ``(E, D)``.
    noise
        Uniforms in ``[0, 1)``, ``(E, H, U)``.
    """

    start: States
    noise: FloatArray

    @classmethod
    def sample(cls, environment: Environment, episodes: int, seed: int) -> "Scenarios":
        """Draw episodes; the first ones stay the same when more are asked for."""
        drawn = [
            (environment.draw_start(rng, 1)[0], rng.random(shape))
            for shape in ((environment.horizon, environment.n_noise),)
            for rng in (stream(seed, f"scenario:{episode}") for episode in range(episodes))
        ]
        start = np.array([first for first, _ in drawn])
        noise = np.array([luck for _, luck in drawn])
        start.setflags(write=False)
        noise.setflags(write=False)
        return cls(start, noise)

    @property
    def n_episodes(self) -> int:
        """``E``."""
        return len(self.start)
