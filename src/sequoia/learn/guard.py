"""Which policy is kept: one that wins a paired test on fresh luck (Student's t)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sequoia.evaluation.intervals import Estimate, estimate
from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray, IntArray

# Looks at the data: after one, two and four batches of episodes. Each spends its share of the 5 %.
_LOOKS = 3
# The actions of a policy in states (B, D) at steps (B,).
Play = Callable[[States, IntArray], ActionArray]


@dataclass(frozen=True, eq=False)
class Guard:
    """Plays policies through the same episodes.

    Attributes
    ----------
    episodes
        In a batch.
    discount
        How much a step counts against the one before; 1 where all count alike.
    """

    environment: Environment
    episodes: int
    discount: float

    def earned(self, act: Play, rng: np.random.Generator) -> FloatArray:
        """Return what a policy earns per step in a batch of episodes, ``(E,)``.

        Discounted rewards are weighed so that a reward of 1 in each step is 1, too.
        """
        environment, horizon = self.environment, self.environment.horizon
        weights = self.discount ** np.arange(horizon)
        weights = weights / weights.sum()
        states = environment.draw_start(rng, self.episodes)
        total = np.zeros(self.episodes)
        for step in range(horizon):
            noise = rng.random((self.episodes, environment.n_noise))
            actions = act(states, np.full(self.episodes, step))
            rewards, states = environment.step(states, actions, noise)
            total += weights[step] * rewards
        return total

    def test(
        self, challenger: Play, holder: Play, luck: Callable[[int], np.random.Generator]
    ) -> tuple[bool, Estimate, FloatArray]:
        """Say whether the challenger earns more; by how much, and what the holder earned.

        Batches double until the matter is decided, or the looks are over. ``luck`` returns the
        generator of a batch: the same one for both.
        """
        gains, held = np.empty(0), np.empty(0)
        batches, gain = 0, Estimate(0.0, 0.0, 0.0)
        for look in range(_LOOKS):
            for batch in range(batches, 2**look):
                ours, theirs = (self.earned(act, luck(batch)) for act in (challenger, holder))
                gains, held = np.append(gains, ours - theirs), np.append(held, theirs)
            batches = 2**look
            gain = estimate(gains, _LOOKS)
            if gain.low > 0 or gain.high < 0 or not gains.any():
                break
        return gain.low > 0, gain, held
