"""Exact dynamic programming over joint states, for tiny problems."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sequoia.arrays import ActionArray, FloatArray, IntArray
from sequoia.errors import InfeasibleSpace, ProblemError, TooLarge
from sequoia.problem import Decision, Problem

_MAX_WORK = 2e9
_MAX_ENTRIES = 2e8
_MAX_ACTIONS = 100_000
_ACCURACY = 1e-10


@dataclass(frozen=True, eq=False)
class Exact:
    """The optimum of a problem.

    Attributes
    ----------
    value
        Best expected total reward from the start distribution.
    values
        The same from each joint state, and for each step of a finite horizon, ``(H, S ** J)``;
        ``(1, S ** J)`` for the discounted infinite horizon.
    choices
        Which row of ``actions`` is best, in the shape of ``values``.
    actions
        The feasible actions that differ in what they do, ``(A, N)``.
    """

    problem: Problem
    is_discounted: bool
    value: float
    values: FloatArray
    choices: IntArray
    actions: ActionArray

    def act(self, state: ArrayLike, step: int = 0) -> Decision:
        """Return a best decision in ``state``, ``(J,)``, at ``step``."""
        shape = (self.problem.arms.n_states,) * self.problem.arms.n_arms
        where = np.ravel_multi_index(tuple(np.asarray(state)), shape)
        row = 0 if self.is_discounted else step
        return self.problem.space.certify(self.actions[self.choices[row, where]])


def solve_exactly(problem: Problem, discounted: bool = False) -> Exact:
    """Solve by backward induction, or by value iteration when ``discounted``.

    Without discounting, the value is the expected sum over the horizon of the expected reward of
    the next state: the same number that an evaluation averages. With discounting, the horizon is
    infinite and step t counts ``discount ** t``.

    Raises
    ------
    TooLarge
        With the size it would need.
    """
    if discounted and problem.discount >= 1:
        raise ProblemError("problem.discount is 1; the discounted optimum needs less than 1.")
    arms = problem.arms
    joint = arms.n_states**arms.n_arms
    kept = 1 if discounted else problem.horizon
    size = f"{arms.n_states}^{arms.n_arms} joint states"
    if joint * kept > _MAX_ENTRIES:
        raise TooLarge(
            f"{size} × {kept} steps are too many; exact solving is for at most "
            f"{_MAX_ENTRIES:.0e} together."
        )
    actions = problem.space.enumerate(_MAX_ACTIONS)
    if not len(actions):
        raise InfeasibleSpace("no decision satisfies the rules.")
    levels, first = np.unique(problem.levels(actions), axis=0, return_index=True)
    sweeps = problem.horizon if not discounted else _sweeps(problem)
    work = joint * len(levels) * arms.n_arms * arms.n_states
    if work > _MAX_WORK:
        raise TooLarge(
            f"{size} × {len(levels)} actions need {work:.1e} operations a step; "
            f"exact solving is for at most {_MAX_WORK:.0e}."
        )
    rewards = _joint_rewards(problem, levels)
    discount = problem.discount if discounted else 1.0
    following = np.zeros(joint)
    values, choices = [], []
    for _ in range(sweeps):
        best = np.full(joint, -np.inf)
        choice = np.zeros(joint, dtype=np.int64)
        for index, level in enumerate(levels):
            total = rewards[index] + discount * _expect(problem, level, following)
            better = total > best + 1e-12
            best[better] = total[better]
            choice[better] = index
        following = best
        if not discounted:
            values.append(best)
            choices.append(choice)
    if discounted:
        values, choices = [following], [choice]
    start = _joint_start(problem)
    return Exact(
        problem,
        discounted,
        float(start @ values[-1]),
        np.array(values[::-1]),
        np.array(choices[::-1]),
        actions[first],
    )


def _sweeps(problem: Problem) -> int:
    """Return after how many sweeps value iteration is accurate, from the largest reward."""
    largest = np.abs(problem.arms.rewards).max(axis=1)[problem.arms.model].sum()
    scale = max(largest, 1e-9) / (1 - problem.discount)
    return max(1, int(np.ceil(np.log(_ACCURACY / scale) / np.log(problem.discount))))


def _joint_rewards(problem: Problem, levels: IntArray) -> FloatArray:
    """Return the expected next reward of each action in each joint state, ``(A, S ** J)``."""
    arms = problem.arms
    result = np.zeros((len(levels), 1))
    for arm in range(arms.n_arms):
        own = arms.next_rewards[arms.model[arm]][levels[:, arm]]
        result = (result[:, :, None] + own[:, None, :]).reshape(len(levels), -1)
    return result


def _expect(problem: Problem, level: IntArray, values: FloatArray) -> FloatArray:
    """Return the expectation of ``values`` after one step, one arm at a time."""
    arms = problem.arms
    states = arms.n_states
    for arm in range(arms.n_arms):
        kernel = arms.kernels[arms.model[arm], level[arm]]
        # The arm's axis is first: contract it, and the next state's axis comes out last.
        values = (kernel @ values.reshape(states, -1)).T.reshape(-1)
    return values


def _joint_start(problem: Problem) -> FloatArray:
    result = np.ones(1)
    for start in problem.start:
        result = np.outer(result, start).reshape(-1)
    return result
