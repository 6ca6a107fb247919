"""Episodes that no evaluation with the same seed sees, in which a learner compares policies."""

import numpy as np

from sequoia.problem import Environment, Problem
from sequoia.simulate import Scenarios, Trajectory, rollout
from sequoia.simulate.rollout import Actor
from sequoia.validation import FloatArray

# So that held-out episodes are never those of an evaluation with the same seed.
_APART = 1_000_003


class HeldOut:
    """The same episodes, with the same luck, for each policy."""

    def __init__(self, environment: Environment, episodes: int, seed: int) -> None:
        self._environment = environment
        self._scenarios = Scenarios.sample(environment, episodes, seed + _APART)

    def play(self, policy: Actor, values: FloatArray | None = None) -> FloatArray:
        """Return what a policy earns per step in each episode, ``(E,)``.

        Parameters
        ----------
        values
            About what each state of an arm is worth in each step, ``(T, J, S)``, where that is
            known; most of the luck is then taken off what is earned.
        """
        played = rollout(self._environment, policy, self._scenarios)
        earned: FloatArray = played.rewards.sum(axis=1)
        if values is not None and isinstance(self._environment, Problem):
            earned = earned - luck(self._environment, played, values)
        return earned / self._environment.horizon


def luck(problem: Problem, played: Trajectory, values: FloatArray) -> FloatArray:
    """Return by how much more than expected the states of each episode are worth, ``(E,)``.

    The sum of ``V_t(s_t) - E[V_t(s_t) | s_(t-1), a_(t-1)]`` over steps is zero on average, whatever
    the policy and whatever ``V``, and close to all luck where ``V`` is close to the truth: a
    control variate.
    """
    # Sums are the same to the last digit after a checkpoint, which stores arrays in one order.
    values = np.ascontiguousarray(values)
    arms = np.arange(problem.arms.n_arms)
    total = np.zeros(len(played.rewards))
    for step in range(1, min(problem.horizon, len(values))):
        before, now = played.states[:, step - 1], played.states[:, step]
        shares = problem.next_shares(before, played.actions[:, step - 1])
        total += values[step][arms, now].sum(axis=1)
        total -= np.einsum("ejs,js->e", shares, values[step])
    return total
