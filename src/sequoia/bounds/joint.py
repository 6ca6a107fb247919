"""Joint states one by one, for arms whose moves depend on each other's states."""

import numpy as np

from sequoia.arrays import ActionArray, FloatArray, IntArray
from sequoia.problem import Problem


def joint_states(problem: Problem) -> IntArray:
    """Return every joint state, ``(S ** J, J)``, the last arm changing fastest."""
    arms = problem.arms
    grid = np.indices((arms.n_states,) * arms.n_arms)
    states: IntArray = grid.reshape(arms.n_arms, -1).T.astype(np.int64)
    return states


def joint_rewards(problem: Problem, states: IntArray, actions: ActionArray) -> FloatArray:
    """Return the expected next reward of each action in each joint state, ``(A, S ** J)``."""
    rows = [
        problem.expected_reward(states, np.broadcast_to(action, (len(states), len(action))))
        for action in actions
    ]
    return np.array(rows)


def joint_moves(problem: Problem, states: IntArray, levels: IntArray) -> FloatArray:
    """Return the chance of each next joint state, ``(A, S ** J, S ** J)``.

    Given the joint state, arms still move independently of each other.
    """
    arms, model = problem.arms, problem.models(states)
    moves = np.empty((len(levels), len(states), len(states)))
    for index, level in enumerate(levels):
        chance = np.ones((len(states), 1))
        for arm in range(arms.n_arms):
            own = arms.kernels[model[:, arm], level[arm], states[:, arm]]
            chance = (chance[:, :, None] * own[:, None, :]).reshape(len(states), -1)
        moves[index] = chance
    return moves
