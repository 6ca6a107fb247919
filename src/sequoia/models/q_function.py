"""What a learned policy knows: the long-run value of acting."""

from typing import Protocol

from sequoia.optimize.relu_net import ReluNet
from sequoia.problem.environment import States
from sequoia.validation import IntArray


class QFunction(Protocol):
    """Q(s, a) as a network over actions for every state."""

    def fold(self, states: States, steps: IntArray) -> ReluNet:
        """Return the network over the inputs of `ActionEncoding`.

        Parameters
        ----------
        states
            ``(B, D)``.
        steps
            Steps since the beginning of the episode, ``(B,)``.
        """
        ...
