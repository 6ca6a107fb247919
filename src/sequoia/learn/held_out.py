"""Episodes that no evaluation with the same seed sees, in which a learner compares policies."""

from sequoia.problem import Environment
from sequoia.simulate import Scenarios, rollout
from sequoia.simulate.rollout import Actor
from sequoia.validation import FloatArray

# So that held-out episodes are never those of an evaluation with the same seed.
_APART = 1_000_003


class HeldOut:
    """The same episodes, with the same luck, for each policy."""

    def __init__(self, environment: Environment, episodes: int, seed: int) -> None:
        self._environment = environment
        self._scenarios = Scenarios.sample(environment, episodes, seed + _APART)

    def play(self, policy: Actor) -> FloatArray:
        """Return what a policy earns per step in each episode, ``(E,)``."""
        played = rollout(self._environment, policy, self._scenarios)
        earned: FloatArray = played.rewards.mean(axis=1)
        return earned
