"""One step of every arm, for a batch of episodes at once."""

import numpy as np
from numpy.typing import ArrayLike

from sequoia.arrays import FloatArray, IntArray
from sequoia.problem import Problem


def transition(
    problem: Problem, states: ArrayLike, actions: ArrayLike, noise: ArrayLike
) -> IntArray:
    """Return the next state of every arm.

    Parameters
    ----------
    states
        Current states, ``(B, J)`` integers in ``[0, S)``.
    actions
        Binary, ``(B, N)``; need not be feasible.
    noise
        Uniforms in ``[0, 1)``, ``(B, J)``; equal noise gives equal luck.
    """
    rows = _table_rows(problem, states, actions)
    noise = np.asarray(noise)
    following = np.zeros(rows.shape, dtype=np.int64)
    for threshold in problem.arms.cumulative:
        following += noise >= threshold.take(rows)
    return following


def expected_reward(problem: Problem, states: ArrayLike, actions: ArrayLike) -> FloatArray:
    """Return the expected reward of the next state, summed over arms, ``(B,)``."""
    rows = _table_rows(problem, states, actions)
    rewards: FloatArray = problem.arms.next_rewards.reshape(-1).take(rows).sum(axis=1)
    return rewards


def _table_rows(problem: Problem, states: ArrayLike, actions: ArrayLike) -> IntArray:
    """Return where each arm's (model, dose, state) stands in the flattened tables, ``(B, J)``."""
    arms = problem.arms
    rows = problem.levels(actions)
    rows += arms.model * arms.n_doses
    rows *= arms.n_states
    rows += np.asarray(states)
    return rows
