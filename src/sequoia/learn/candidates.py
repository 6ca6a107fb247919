"""Which other actions a policy's action is compared with."""

import numpy as np

from sequoia.learn.sizes import CANDIDATES
from sequoia.models.learned_model import LearnedModel
from sequoia.optimize.auto import RolloutAuto, within_limits
from sequoia.problem import Environment, limits_of
from sequoia.problem.environment import States
from sequoia.simulate.paired_rollouts import Candidates, neighbours, that_matter
from sequoia.validation import ActionArray, IntArray

# The share of neighbours that only leave out: they tell what is not worth its cost.
_DROPS = 0.25
# Twice as many are looked at as are played: many change nothing.
_LOOKED_AT = 2


def random_actions(
    environment: Environment,
    argmax: RolloutAuto,
    states: States,
    steps: IntArray,
    rng: np.random.Generator,
) -> ActionArray:
    """Return a random feasible action in each state, ``(B, N)``.

    One of all where they are few. Else the best one by random weights, of which a random share is
    below 0 in half of the states: there fewer columns are chosen than could be.
    """
    count, columns = len(states), environment.space.n_actions
    limits = limits_of(environment, states, steps)
    if limits is None and argmax.all_actions is not None:
        return argmax.all_actions[rng.integers(len(argmax.all_actions), size=count)]
    weights = np.zeros((count, argmax.n_inputs))
    below = rng.random((count, 1)) * (rng.random((count, 1)) < 0.5)
    weights[:, :columns] = rng.random((count, columns)) - below
    return argmax.best(weights, limits)


def candidates(
    environment: Environment,
    argmax: RolloutAuto,
    model: LearnedModel,
    states: States,
    steps: IntArray,
    actions: ActionArray,
    rng: np.random.Generator,
) -> Candidates:
    """Return other feasible actions in each state.

    Where all actions can be listed, half are the best by the model and half are any. Else they are
    neighbours of the policy's action by swaps, additions and omissions.
    """
    limits = limits_of(environment, states, steps)
    each = np.arange(len(states))
    net = model.fold(states, steps)
    every = argmax.all_actions
    if limits is None and every is not None and not argmax.is_batched:
        inputs = np.broadcast_to(argmax.encode(every), (len(states), len(every), net.n_inputs))
        half = min(CANDIDATES // 2, len(every) - 1)
        best = np.argpartition(-net.values(inputs), half, axis=1)[:, :half]
        other = rng.integers(len(every), size=(len(states), CANDIDATES - half))
        found = every[np.concatenate([best, other], axis=1).reshape(-1)]
        return _differing(np.repeat(each, CANDIDATES), found, actions)
    weights = net.slopes(argmax.encode(actions))
    near = neighbours(
        weights, actions, within_limits(argmax, limits), _LOOKED_AT * CANDIDATES, 1, rng, _DROPS
    )
    return that_matter(environment, states, actions, near, CANDIDATES, rng)


def _differing(state: IntArray, found: ActionArray, actions: ActionArray) -> Candidates:
    """Return those that are not the policy's own action."""
    return Candidates(state, found).only((found != actions[state]).any(axis=1))
