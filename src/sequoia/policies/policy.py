"""What every policy offers."""

from typing import Protocol

import numpy as np

from sequoia.problem import Decision
from sequoia.validation import IntArray


class Policy(Protocol):
    """A way to act: a decision for every state."""

    name: str

    def act(self, state: IntArray, step: int, rng: np.random.Generator) -> Decision:
        """Return a feasible decision.

        Parameters
        ----------
        state
            State of each arm, ``(J,)``.
        step
            Steps since the beginning of the episode.
        rng
            The only source of chance a policy may use. Each episode has its own, by which a policy
            that remembers can tell episodes apart.
        """
        ...
