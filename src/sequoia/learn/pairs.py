"""What other actions would have earned: candidates and the policy's action under the same luck."""

from dataclasses import dataclass

import numpy as np

from sequoia.learn.critic import Critic
from sequoia.learn.play import Act
from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.simulate.paired_rollouts import Candidates
from sequoia.validation import ActionArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Pairs:
    """C candidates in K states, each played R times beside the policy's own action.

    What a critic thinks of where they end is asked anew in every round, so comparisons stay of use
    while the critic gets better.

    Attributes
    ----------
    states, steps, actions
        Where actions are compared, and the policy's own ones: ``(K, D)``, ``(K,)``, ``(K, N)``.
    state, tried
        Which state each candidate is for, ``(C,)``, and its actions, ``(C, N)``.
    gained
        What a candidate earned more in the first ``depth`` steps, discounted, mean of R, ``(C,)``.
    own, other
        Where the policy's action and the candidate ended, ``(R, K, D)`` and ``(R, C, D)``.
    depth
        How many steps were played: the action itself, and then the policy.
    """

    states: States
    steps: IntArray
    actions: ActionArray
    state: IntArray
    tried: ActionArray
    gained: FloatArray
    own: States
    other: States
    depth: int

    @property
    def apart(self) -> IntArray:
        """In which columns candidates differ from the policy's action, and how, ``(C, N)``."""
        return self.tried.astype(np.int64) - self.actions[self.state]

    def advantages(self, critic: Critic, discount: float) -> FloatArray:
        """Return what each candidate is worth more, ``(C,)``.

        ``y = sum_{k < d} g^k (r'_k - r_k) + g^d (V(s'_d) - V(s_d))``.
        """
        found = self.gained.copy()
        ends = self.steps + self.depth
        weight = discount**self.depth / len(self.own)
        for own, other in zip(self.own, self.other, strict=True):
            ours = critic.values(own, ends)
            found += weight * (critic.values(other, ends[self.state]) - ours[self.state])
        return found


def compare(
    environment: Environment,
    act: Act,
    states: States,
    steps: IntArray,
    actions: ActionArray,
    tried: Candidates,
    depth: int,
    rollouts: int,
    discount: float,
    rng: np.random.Generator,
) -> Pairs:
    """Play candidates and the policy's actions under the same luck (Glasserman and Yao 1992).

    A candidate that comes to the state of its twin stays there, and is played no further.
    """
    last = environment.horizon if discount == 1 else 10**9
    count, chances = len(tried.state), len(states)
    twin = (np.arange(rollouts)[:, None] * chances + tried.state).reshape(-1)
    at = np.tile(steps, rollouts)
    own, other = np.tile(states, (rollouts, 1)), np.tile(states[tried.state], (rollouts, 1))
    gained = np.zeros(len(twin))
    lives = np.ones(len(twin), dtype=np.bool_)
    for ahead in range(depth):
        lives &= at[twin] + ahead < last
        rows = np.flatnonzero(lives)
        if not len(rows):
            break
        needed, place = np.unique(twin[rows], return_inverse=True)
        noise = rng.random((len(needed), environment.n_noise))
        if ahead:
            both = np.concatenate([own[needed], other[rows]])
            acted = act(both, np.concatenate([at[needed], at[twin[rows]]]) + ahead, rng)
            ours, theirs = acted[: len(needed)], acted[len(needed) :]
        else:
            ours, theirs = actions[needed % chances], tried.actions[rows % count]
        reward, after = environment.step(own[needed], ours, noise)
        rewards, afters = environment.step(other[rows], theirs, noise[place])
        gained[rows] += discount**ahead * (rewards - reward[place])
        own[needed], other[rows] = after, afters
        lives[rows] = (afters != after[place]).any(axis=1)
        merged = rows[~lives[rows]]
        other[merged] = own[twin[merged]]
    # A twin went on where another candidate needed it; a candidate that met it went with it.
    meets = ~lives & (at[twin] + depth <= last)
    other[meets] = own[twin[meets]]
    return Pairs(
        states,
        steps,
        actions,
        tried.state,
        tried.actions,
        gained.reshape(rollouts, count).mean(axis=0),
        _small(own).reshape(rollouts, chances, states.shape[1]),
        _small(other).reshape(rollouts, count, states.shape[1]),
        depth,
    )


def _small(states: States) -> States:
    """Return states in as few bytes as they need."""
    if states.dtype.kind in "iu" and states.size and -128 <= states.min() <= states.max() < 128:
        return states.astype(np.int8)
    return states
