"""Which policy is kept: one that wins a paired test on fresh luck (Student's t).

An episode's luck is taken out as far as a critic V knows it. With ``x = r + g V(s')`` what a step
brought, and ``x_k`` what it would have brought by other luck, the sum of ``x - mean_k x_k`` over an
episode has mean 0 whatever V is, and nearly all the luck where V is right: a martingale control
variate (Henderson and Glynn 2002).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sequoia.evaluation.intervals import Estimate, estimate
from sequoia.learn.critic import Critic
from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray, IntArray

# Looks at the data: after one, two and four batches of episodes. Each spends its share of the 5 %.
_LOOKS = 3
# Other draws K that each step is played with: at best 1 / (K + 1) of the variance is left.
OTHER_LUCK = 4
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

    def earned(
        self, act: Play, rng: np.random.Generator, critic: Critic | None = None
    ) -> FloatArray:
        """Return what a policy earns per step in a batch of episodes, and its luck, ``(2, E)``.

        Discounted rewards are weighed so that a reward of 1 in each step is 1, too. Without a
        critic, luck is 0.
        """
        environment, horizon = self.environment, self.environment.horizon
        weights = self.discount ** np.arange(horizon)
        weights = weights / weights.sum()
        states = environment.draw_start(rng, self.episodes)
        result = np.zeros((2, self.episodes))
        for step in range(horizon):
            noise = rng.random((1 + OTHER_LUCK, self.episodes, environment.n_noise))
            steps = np.full(self.episodes, step)
            actions = act(states, steps)
            rewards, following = environment.step(states, actions, noise[0])
            result[0] += weights[step] * rewards
            if critic is not None:
                brought = rewards + self.discount * critic.values(following, steps + 1)
                for other in noise[1:]:
                    rewards, after = environment.step(states, actions, other)
                    values = rewards + self.discount * critic.values(after, steps + 1)
                    result[1] += weights[step] * (brought - values) / OTHER_LUCK
            states = following
        return result

    def test(
        self,
        challenger: Play,
        holder: Play,
        critic: Critic | None,
        luck: Callable[[int], np.random.Generator],
    ) -> tuple[bool, Estimate, FloatArray]:
        """Say whether the challenger earns more; by how much, and what the holder earned.

        Batches double until the matter is decided, or the looks are over. ``luck`` returns the
        generator of a batch: the same one for both.
        """
        apart, held = np.empty((2, 0)), np.empty((2, 0))
        batches, gain = 0, Estimate(0.0, 0.0, 0.0)
        for look in range(_LOOKS):
            for batch in range(batches, 2**look):
                ours, theirs = (
                    self.earned(act, luck(batch), critic) for act in (challenger, holder)
                )
                apart = np.concatenate([apart, ours - theirs], axis=1)
                held = np.concatenate([held, theirs], axis=1)
            batches = 2**look
            gain = estimate(without_luck(apart), _LOOKS)
            if gain.low > 0 or gain.high < 0 or not apart[0].any():
                break
        return gain.low > 0, gain, without_luck(held)


def without_luck(earned: FloatArray) -> FloatArray:
    """Return what was earned, ``(E,)``, less the share of luck that leaves the least variance."""
    total, luck = earned
    variance = luck.var()
    share = np.cov(total, luck)[0, 1] / variance if variance > 0 else 0.0
    return np.asarray(total - share * luck)
