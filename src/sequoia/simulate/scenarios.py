"""Common random numbers: starts and luck that every policy shares."""

from dataclasses import dataclass

import numpy as np

from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.problem.names import count
from sequoia.rng import stream
from sequoia.sizes import require_memory
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
        shape = (environment.horizon, environment.n_noise)
        what = f"the luck of {count(episodes, 'episode')} of {count(shape[0], 'step')}"
        require_memory(what, episodes * shape[0] * shape[1])
        first, noise = [], np.empty((episodes, *shape))
        for episode in range(episodes):
            rng = stream(seed, f"scenario:{episode}")
            first.append(environment.draw_start(rng, 1)[0])
            rng.random(out=noise[episode])
        start = np.array(first)
        start.setflags(write=False)
        noise.setflags(write=False)
        return cls(start, noise)

    @property
    def n_episodes(self) -> int:
        """``E``."""
        return len(self.start)
