"""Which change earned what, gathered step by step from pairs of rollouts."""

from typing import NamedTuple, Protocol

import numpy as np

from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray, IntArray

Played = tuple[States, ActionArray]


class PairedStep(NamedTuple):
    """One step of B pairs of rollouts under the same luck.

    Attributes
    ----------
    candidate
        Which candidate each pair is of, ``(B,)``.
    ahead
        Steps since the candidates' own actions.
    gained
        What the candidate earned more than the policy, ``(B,)``.
    ours, theirs
        States and actions of the candidate, and of the policy.
    """

    candidate: IntArray
    ahead: int
    gained: FloatArray
    ours: Played
    theirs: Played


class Credit(Protocol):
    """Gathers what pairs of rollouts earn, step by step."""

    def add(self, step: PairedStep) -> None:
        """Take note of one step."""
        ...


class WholeCredit:
    """The difference in all that was earned, summed over rollouts, ``values``, ``(C,)``."""

    def __init__(self, candidates: int) -> None:
        self.values = np.zeros(candidates)

    def add(self, step: PairedStep) -> None:
        """Add up what was gained."""
        np.add.at(self.values, step.candidate, step.gained)
