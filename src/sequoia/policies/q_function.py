"""What a learned policy knows: the long-run value of acting."""

from typing import Protocol

from sequoia.arrays import IntArray
from sequoia.optimize.relu_net import ReluNet


class QFunction(Protocol):
    """Q(s, a) as a network over actions for every state.

    Attributes
    ----------
    version
        Changes whenever the weights do.
    """

    version: int

    def fold(self, states: IntArray) -> ReluNet:
        """Return the network over the inputs of `Columns`, for states ``(B, J)``."""
        ...
