"""What every engine that looks for a best action offers."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sequoia.optimize.relu_net import ReluNet
from sequoia.validation import ActionArray, BoolArray, FloatArray

PROOF_GAP = 1e-6


@dataclass(frozen=True, eq=False)
class Answer:
    """The best actions found for a batch of states.

    Attributes
    ----------
    actions
        ``(B, N)``, each feasible.
    values
        Value of each by a forward pass in float64, ``(B,)``.
    bounds
        No feasible action of that state exceeds it, ``(B,)``; ``inf`` where nothing is proven.
    """

    actions: ActionArray
    values: FloatArray
    bounds: FloatArray

    @property
    def gaps(self) -> FloatArray:
        """Proven distance from the best, relative to the value, ``(B,)``."""
        scale = np.maximum(np.abs(self.values), 1e-9)
        return np.maximum(self.bounds - self.values, 0.0) / scale

    @property
    def is_proven(self) -> BoolArray:
        """Whether each action is proven to be best, ``(B,)``."""
        slack = 2 * PROOF_GAP * np.maximum(np.abs(self.values), 1.0)
        result: BoolArray = self.bounds <= self.values + slack
        return result


class Argmax(Protocol):
    """Finds ``max_a net(a)`` over a space, for a batch of states that share one network."""

    name: str

    def best(self, net: ReluNet) -> Answer:
        """Return the best action found for each state, and what is proven about it."""
        ...
