"""Exact dynamic programming over joint states, for tiny problems."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sequoia.errors import ProblemError, TooLarge
from sequoia.problem import Decision, Problem, capabilities_of, limits_of, space_at
from sequoia.problem.capabilities import KnowsChances
from sequoia.problem.iis import no_decision
from sequoia.rng import stream
from sequoia.scaling import unit_of
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

# What a state that allows nothing is worth, in units of the largest reward, and how rare it may be
# and still be seen: far below what any number of steps earns.
_STUCK, _RARE = -1e18, 1e-9
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
    """The optimum of an environment.

    Attributes
    ----------
    value
        Best expected total reward from the start distribution.
    values
        The same from each of the Z joint states, and for each step of a finite horizon,
        ``(H, Z)``; ``(1, Z)`` for the discounted infinite horizon.
    choices
        Which row of ``actions`` is best, in the shape of ``values``.
    actions
        The feasible actions that differ in what they do, ``(A, N)``.
    """

    environment: KnowsChances
    is_discounted: bool
    value: float
    values: FloatArray
    choices: IntArray
    actions: ActionArray

    def act(self, state: ArrayLike, step: int = 0) -> Decision:
        """Return a best decision in ``state``, ``(D,)``, at ``step``."""
        chosen = self.actions[self.choices[self._place(state, step)]]
        return self.environment.space.certify(chosen)

    def value_of(self, state: ArrayLike, step: int = 0) -> float:
        """Return the best expected total from ``state``, ``(D,)``, at ``step`` on."""
        return float(self.values[self._place(state, step)])

    def _place(self, state: ArrayLike, step: int) -> tuple[int, int]:
        """Return where a state at a step stands in the tables."""
        shape = tuple(self.environment.component_sizes.tolist())
        where = int(np.ravel_multi_index(tuple(np.asarray(state)), shape))
        return (0 if self.is_discounted else step), where


def solve_exactly(problem: KnowsChances, discounted: bool = False) -> Exact:
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
    joint = math.prod(problem.component_sizes.tolist())
    kept = 1 if discounted else problem.horizon
    if joint * kept > _MAX_ENTRIES:
        raise TooLarge(
            f"{_size(problem)} × {kept} steps are too many; exact solving is for at most "
            f"{_MAX_ENTRIES:.0e} together."
        )
    actions = problem.space.enumerate(_MAX_ACTIONS)
    if not len(actions):
        raise no_decision(problem.space.compact)
    levels, actions = _different(problem, actions)
    sweeps = problem.horizon if not discounted else _sweeps(problem)
    _limit_work(problem, joint, len(actions))
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
        for index in range(len(actions)):
            total = rewards[index] + discount * expect(index, following)
            if closed is not None:
                total[closed[:, index]] = -np.inf
            better = total > best + _TIE
            best[better] = total[better]
            choice[better] = index
        best[best == -np.inf] = _STUCK
        following = best
        if not discounted:
            values.append(best)
            choices.append(choice)
    if discounted:
        values, choices = [following], [choice]
    value = float(_joint_start(problem) @ values[-1])
    _require_reachable(problem, actions, value)
    return Exact(
        problem,
        discounted,
        value * unit,
        np.array(values[::-1]) * unit,
        np.array(choices[::-1]),
        actions,
    )


def _size(problem: KnowsChances) -> str:
    """Say how many joint states there are, such as ``2^10``."""
    values, counts = np.unique(problem.component_sizes, return_counts=True)
    pairs = zip(values.tolist(), counts.tolist(), strict=True)
    return " · ".join(f"{value}^{count}" for value, count in pairs) + " joint states"


def _different(problem: KnowsChances, actions: ActionArray) -> tuple[IntArray, ActionArray]:
    """Return the doses of each action, and the actions; of those that do the same, one.

    Where states allow different actions, one that does the same may be allowed elsewhere.
    """
    arms = capabilities_of(problem).problem
    if arms is None:
        return actions.astype(np.int64), actions
    levels = arms.levels(actions)
    if limits_of(problem, problem.draw_start(stream(0, "exact"), 1), np.zeros(1, int)) is not None:
        return levels, actions
    levels, first = np.unique(levels, axis=0, return_index=True)
    return levels, actions[first]


def _closed(problem: KnowsChances, actions: ActionArray, step: int) -> BoolArray | None:
    """Say which actions are not allowed in which joint state, ``(Z, A)``."""
    if limits_of(problem, problem.draw_start(stream(0, "exact"), 1), np.full(1, step)) is None:
        return None
    states = joint_states(problem)
    limits = limits_of(problem, states, np.full(len(states), step))
    assert limits is not None
    closed: BoolArray = ~limits.allowed(actions)
    return closed


def _require_reachable(problem: KnowsChances, actions: ActionArray, value: float) -> None:
    """Raise `InfeasibleSpace` when every policy may end in a state that allows nothing."""
    if value > _STUCK * _RARE:
        return
    states = joint_states(problem)
    for step in range(problem.horizon):
        closed = _closed(problem, actions, step)
        if closed is not None and closed.all(axis=1).any():
            stuck = states[int(closed.all(axis=1).argmax())]
            raise no_decision(space_at(problem, stuck, step).compact)


def _separate_arms(environment: KnowsChances) -> Problem | None:
    """Return the problem of arms if a step is one of each arm by itself."""
    problem = capabilities_of(environment).problem
    is_separate = problem is not None and problem.is_decoupled and problem.purse is None
    return problem if is_separate else None


def _limit_work(problem: KnowsChances, joint: int, actions: int) -> None:
    """Raise `TooLarge` when one step takes too much; joint moves are kept where there are any."""
    moves, most = joint, _MAX_MOVES
    if _separate_arms(problem) is not None:
        moves, most = int(problem.component_sizes.sum()), _MAX_WORK
    work = joint * actions * moves
    if work > most:
        raise TooLarge(
            f"{_size(problem)} × {actions} actions need {work:.1e} "
            f"operations a step; exact solving is for at most {most:.0e}."
        )


def _sweeps(problem: KnowsChances) -> int:
    """Return after how many sweeps value iteration is accurate: ``discount ** n * scale`` is left.

    The scale is what all arms together can earn for ever, in units of the largest reward.
    """
    scale = len(problem.component_sizes) / (1 - problem.discount)
    return max(1, int(np.ceil(np.log(_ACCURACY / scale) / np.log(problem.discount))))


def _outlook(
    problem: KnowsChances, actions: ActionArray, levels: IntArray
) -> tuple[FloatArray, Callable[[int, FloatArray], FloatArray]]:
    """Return what each action earns next, and the expectation of values after it, by number."""
    arms = _separate_arms(problem)
    if arms is not None:
        rewards = _joint_rewards(arms, levels)
        return rewards, lambda index, values: _expect(arms, levels[index], values)
    states = joint_states(problem)
    moves = joint_moves(problem, states, actions)
    return joint_rewards(problem, states, actions), lambda index, values: moves[index] @ values


def _joint_rewards(problem: Problem, levels: IntArray) -> FloatArray:
    """Return the expected next reward of each action in each joint state, ``(A, S ** J)``."""
    arms = problem.arms
    result = np.zeros((len(levels), 1))
    for arm in range(arms.n_arms):
        earned = arms.next_rewards[arms.model[arm]][levels[:, arm]]
        result = (result[:, :, None] + earned[:, None, :]).reshape(len(levels), -1)
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


def _joint_start(problem: KnowsChances) -> FloatArray:
    result = np.ones(1)
    for start, size in zip(problem.start, problem.component_sizes.tolist(), strict=True):
        result = np.outer(result, start[:size]).reshape(-1)
    return result


def joint_states(problem: KnowsChances) -> IntArray:
    """Return every joint state, ``(Z, D)``, the last component changing fastest."""
    grid = np.indices(tuple(problem.component_sizes.tolist()))
    states: IntArray = grid.reshape(len(grid), -1).T.astype(np.int64)
    return states


def joint_rewards(problem: KnowsChances, states: IntArray, actions: ActionArray) -> FloatArray:
    """Return the expected reward of each action in each joint state, ``(A, Z)``."""
    rows = [
        problem.expected_reward(states, np.broadcast_to(action, (len(states), len(action))))
        for action in actions
    ]
    return np.array(rows)


def joint_moves(problem: KnowsChances, states: IntArray, actions: ActionArray) -> FloatArray:
    """Return the chance of each next joint state, ``(A, Z, Z)``.

    Given the joint state, components move independently of each other.
    """
    sizes = problem.component_sizes.tolist()
    moves = np.empty((len(actions), len(states), len(states)))
    for index, action in enumerate(actions):
        shares = problem.next_shares(states, np.broadcast_to(action, (len(states), len(action))))
        chance = np.ones((len(states), 1))
        for component, size in enumerate(sizes):
            chances = shares[:, component, :size]
            chance = (chance[:, :, None] * chances[:, None, :]).reshape(len(states), -1)
        moves[index] = chance
    return moves
