"""Which of all rounds is kept: the one whose policy earned the most in the held-out episodes."""

from typing import Any, Generic, TypeVar

import numpy as np

from sequoia.evaluation.intervals import Estimate, estimate
from sequoia.validation import FloatArray

Weights = TypeVar("Weights")


class Selection(Generic[Weights]):
    """The best weights seen, with what they earned.

    Attributes
    ----------
    best
        The weights that earned the most.
    start_rewards, best_rewards, last_rewards
        Reward per step in each held-out episode, ``(E,)``, of the first, best and last weights.
    tries_since_best
        How often others were played since.
    """

    def __init__(self, first: Weights) -> None:
        self.best = first
        self.start_rewards = self.best_rewards = self.last_rewards = np.empty(0)
        self.tries_since_best = 0

    def see(self, weights: Weights, rewards: FloatArray) -> None:
        """Compare weights that have just been played with the best ones so far."""
        self.last_rewards = rewards
        if not len(self.start_rewards):
            self.start_rewards = rewards
        if not len(self.best_rewards) or rewards.mean() > self.best_rewards.mean():
            self.best, self.best_rewards, self.tries_since_best = weights, rewards, 0
        else:
            self.tries_since_best += 1

    @property
    def best_reward(self) -> float:
        """Mean reward per step of the best weights."""
        return float(self.best_rewards.mean())

    @property
    def last_reward(self) -> float:
        """Mean reward per step of the last weights."""
        return float(self.last_rewards.mean())

    @property
    def gain(self) -> Estimate | None:
        """By how much the best weights earn more than the first, in the same episodes."""
        if len(self.start_rewards) < 2:
            return None
        return estimate(self.best_rewards - self.start_rewards)

    def facts(self) -> dict[str, Any]:
        """Return what a checkpoint holds of it, beside the weights."""
        return {
            "start_rewards": self.start_rewards.tolist(),
            "best_rewards": self.best_rewards.tolist(),
            "last_rewards": self.last_rewards.tolist(),
            "tries_since_best": self.tries_since_best,
        }

    def restore(self, best: Weights, facts: dict[str, Any]) -> None:
        """Take over what `facts` returned, and the best weights."""
        self.best = best
        self.start_rewards = np.array(facts["start_rewards"])
        self.best_rewards = np.array(facts["best_rewards"])
        self.last_rewards = np.array(facts["last_rewards"])
        self.tries_since_best = facts["tries_since_best"]
