"""Exact dynamic programming over joint states, for tiny problems."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sequoia.errors import ProblemError, TooLarge
from sequoia.problem import Decision, Problem, limits_of, space_at
from sequoia.problem.iis import no_decision
from sequoia.rng import stream
from sequoia.scaling import unit_of
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

# Multiplications a step: some seconds.
_MAX_WORK = 2e9
# With contagion the chance of every move is kept: 0.8 GB.
_MAX_MOVES = 1e8
# Values and choices that are kept: 3.2 GB.
_MAX_ENTRIES = 2e8
# Each is one pass over all joint states; listing more takes longer than solving.
_MAX_ACTIONS = 100_000
# What value iteration may leave, beside rewards of about 1.
_ACCURACY = 1e-10
# Of actions as good as each other up to rounding, the first is chosen; rewards are about 1.
_TIE = 1e-12


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
        return self.problem.space.certify(self.actions[self.choices[self._place(state, step)]])

    def value_of(self, state: ArrayLike, step: int = 0) -> float:
        """Return the best expected total from ``state``, ``(J,)``, at ``step`` on."""
        return float(self.values[self._place(state, step)])

    def _place(self, state: ArrayLike, step: int) -> tuple[int, int]:
        """Return where a state at a step stands in the tables."""
        shape = (self.problem.arms.n_states,) * self.problem.arms.n_arms
        where = int(np.ravel_multi_index(tuple(np.asarray(state)), shape))
        return (0 if self.is_discounted else step), where


def solve_exactly(problem: Problem, discounted: bool = False) -> Exact:
    """Solve by backward induction, or by value iteration when ``discounted``.

    Backward induction (Bellman 1957) over joint states ``s`` and feasible actions ``a``:
    ``V_t(s) = max_a r(s, a) + discount * sum_s' P(s' | s, a) V_{t+1}(s')``.

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
        raise no_decision(problem.space.compact)
    levels, actions = _different(problem, actions)
    sweeps = problem.horizon if not discounted else _sweeps(problem)
    _limit_work(problem, joint, len(levels))
    rewards, expect = _outlook(problem, actions, levels)
    unit = unit_of(rewards)
    rewards = rewards / unit
    discount = problem.discount if discounted else 1.0
    following = np.zeros(joint)
    values, choices = [], []
    for sweep in range(sweeps):
        closed = _closed(problem, actions, 0 if discounted else sweeps - 1 - sweep)
        best = np.full(joint, -np.inf)
        choice = np.zeros(joint, dtype=np.int64)
        for index in range(len(levels)):
            total = rewards[index] + discount * expect(index, following)
            if closed is not None:
                total[closed[:, index]] = -np.inf
            better = total > best + _TIE
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
        float(start @ values[-1]) * unit,
        np.array(values[::-1]) * unit,
        np.array(choices[::-1]),
        actions,
    )


def _different(problem: Problem, actions: ActionArray) -> tuple[IntArray, ActionArray]:
    """Return the doses of each action, and the actions; of those that do the same, one.

    Where states allow different actions, one that does the same may be allowed elsewhere.
    """
    levels = problem.levels(actions)
    if limits_of(problem, problem.draw_start(stream(0, "exact"), 1), np.zeros(1, int)) is not None:
        return levels, actions
    levels, first = np.unique(levels, axis=0, return_index=True)
    return levels, actions[first]


def _closed(problem: Problem, actions: ActionArray, step: int) -> BoolArray | None:
    """Say which actions are not allowed in which joint state, ``(S ** J, A)``.

    Raises
    ------
    InfeasibleSpace
        When a state allows none.
    """
    if limits_of(problem, problem.draw_start(stream(0, "exact"), 1), np.full(1, step)) is None:
        return None
    states = joint_states(problem)
    limits = limits_of(problem, states, np.full(len(states), step))
    assert limits is not None
    closed = ~limits.allowed(actions)
    stuck = np.flatnonzero(closed.all(axis=1))
    if len(stuck):
        raise no_decision(space_at(problem, states[stuck[0]], step).compact)
    return closed


def _limit_work(problem: Problem, joint: int, actions: int) -> None:
    """Raise `TooLarge` when one step takes too much; with contagion, moves are kept as well."""
    arms = problem.arms
    own, most = arms.n_arms * arms.n_states, _MAX_WORK
    if problem.contagion is not None:
        own, most = joint, _MAX_MOVES
    work = joint * actions * own
    if work > most:
        raise TooLarge(
            f"{arms.n_states}^{arms.n_arms} joint states × {actions} actions need {work:.1e} "
            f"operations a step; exact solving is for at most {most:.0e}."
        )


def _sweeps(problem: Problem) -> int:
    """Return after how many sweeps value iteration is accurate: ``discount ** n * scale`` is left.

    The scale is what all arms together can earn for ever, in units of the largest reward.
    """
    scale = problem.arms.n_arms / (1 - problem.discount)
    return max(1, int(np.ceil(np.log(_ACCURACY / scale) / np.log(problem.discount))))


def _outlook(
    problem: Problem, actions: ActionArray, levels: IntArray
) -> tuple[FloatArray, Callable[[int, FloatArray], FloatArray]]:
    """Return what each action earns next, and the expectation of values after it, by number."""
    if problem.contagion is None:
        rewards = _joint_rewards(problem, levels)
        return rewards, lambda index, values: _expect(problem, levels[index], values)
    states = joint_states(problem)
    moves = joint_moves(problem, states, levels)
    return joint_rewards(problem, states, actions), lambda index, values: moves[index] @ values


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
