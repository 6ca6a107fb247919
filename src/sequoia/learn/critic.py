"""What a state is worth under the policy: a sum over components, each learned on its own.

``V(s, t) = sum_c psi_c(s) theta_c tau(t)`` by least-squares temporal differences (Bradtke and
Barto 1996), component by component: theta_c answers for the reward of component c alone (Russell
and Zimdars 2003), so that the luck of all others is no noise. What that leaves out is what an
action takes from others: whoever is visited is visited instead of somebody else. So each chosen
column pays a price, the worth that its place would have elsewhere (`displacement`). With arms that
do not interact this is the dual price of a Lagrangian relaxation, found from `step` alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sequoia.learn.play import Play
from sequoia.learn.reward_shares import DeclaredShares, RewardShares
from sequoia.models.scores import batches
from sequoia.models.sight import Sight
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray, IntArray

# How strongly components of a kind are drawn to what they share: as many transitions as it takes
# to believe a component's own.
_OWN_RIDGE, _SHARED_RIDGE = 10.0, 1e-2
# The same for prices of columns, in visits.
_PRICE_RIDGE = 5.0


class Critic(Protocol):
    """What states are worth; 0 when the episode is over."""

    def values(self, states: States, steps: IntArray) -> FloatArray:
        """Return the worth of states, ``(B,)``, up to what all states of a step share."""
        ...


@dataclass(frozen=True, eq=False)
class LocalCritic:
    """A sum over components.

    Attributes
    ----------
    weights
        ``theta``, ``(D, p, T)``.
    """

    sight: Sight
    weights: FloatArray

    def values(self, states: States, steps: IntArray) -> FloatArray:
        """Return the worth of states, ``(B,)``."""
        found = np.empty(len(states))
        size = self.sight.n_components * self.sight.n_local
        for part in batches(len(states), size):
            seen = self.sight.local(states[part]).reshape(-1, size)
            by_time = seen @ self.weights.reshape(size, -1)
            found[part] = (by_time * self.sight.times(steps[part])).sum(axis=1)
        return np.where(self.sight.is_over(steps), 0.0, found)


def fit_critic(
    plays: Sequence[Play],
    sight: Sight,
    shares: RewardShares | DeclaredShares,
    prices: FloatArray,
    discount: float,
) -> LocalCritic:
    """Fit by least-squares temporal differences.

    Parameters
    ----------
    prices
        What each chosen column takes from others, by powers of the time left, ``(N, T)``.
    """
    size, numbers = sight.n_components, sight.n_local * sight.n_times
    products, sums = np.zeros((size, numbers, numbers)), np.zeros((size, numbers))
    for played in plays:
        for part in batches(len(played.steps), 2 * size * numbers):
            states, steps, actions = played.states[part], played.steps[part], played.actions[part]
            following = played.following[part]
            paid = actions * (sight.times(steps) @ prices.T)
            earned = shares.of(states, actions, following) - _at_components(sight, paid)
            now = _with_times(sight, states, steps)
            then = _with_times(sight, following, steps + 1)
            then *= ~sight.is_over(steps + 1)[None, :, None]
            turned = now.transpose(0, 2, 1)
            products += turned @ (now - discount * then)
            sums += (turned @ earned.T[:, :, None])[:, :, 0]
    weights = np.empty((size, numbers))
    for kind in np.unique(sight.kinds):
        own = np.flatnonzero(sight.kinds == kind)
        unit = np.eye(numbers)
        mean = np.linalg.solve(
            products[own].sum(axis=0) + _SHARED_RIDGE * unit, sums[own].sum(axis=0)
        )
        rest = sums[own] - products[own] @ mean
        apart = np.linalg.solve(products[own] + _OWN_RIDGE * unit, rest[:, :, None])[:, :, 0]
        weights[own] = mean + apart
    return LocalCritic(sight, weights.reshape(size, sight.n_local, sight.n_times))


def _at_components(sight: Sight, by_column: FloatArray) -> FloatArray:
    """Share a number of each column, ``(B, N)``, evenly among its components, ``(B, D)``."""
    outlets = np.maximum(np.bincount(sight.column, minlength=sight.n_columns), 1)
    found: FloatArray = (by_column / outlets)[:, sight.column] @ sight.outlets_to_nodes
    return found


def _with_times(sight: Sight, states: States, steps: IntArray) -> FloatArray:
    """Return what is seen times powers of the time left, ``(D, B, pT)``."""
    seen = sight.local(states)[..., None] * sight.times(steps)[:, None, None]
    return np.ascontiguousarray(seen.reshape(*seen.shape[:2], -1).transpose(1, 0, 2))


def displacement(
    sight: Sight,
    steps: IntArray,
    weights: FloatArray,
    values: Callable[[ActionArray], FloatArray],
    best: Callable[[FloatArray], ActionArray],
    rng: np.random.Generator,
) -> FloatArray:
    """Return what a chosen column takes from others, by powers of the time left, ``(N, T)``.

    With w the weights of a state and A its best action, column i of A costs

    ``max { w @ a : a_i = 0 } - (w @ A - w_i)``,

    the worth of the place that i takes (the payment of Vickrey, Clarke and Groves), which is
    regressed on the time left: shared by all columns, with a correction of each column's own.

    Parameters
    ----------
    weights
        Of the inputs in each state, ``(K, I)``.
    values
        Returns ``w @ a`` of actions, ``(K, N)`` to ``(K,)``.
    best
        The argmax within what is allowed in each of the states.
    """
    rows = np.arange(len(weights))
    actions = best(weights)
    luck = rng.random(actions.shape) * actions
    left_out = luck.argmax(axis=1)
    own = weights[rows, left_out]
    without = weights.copy()
    without[rows, left_out] = -1.0 - np.abs(weights).sum(axis=1)
    others = best(without)
    cost = values(others) - (values(actions) - own)
    is_out = (actions[rows, left_out] == 1) & (others[rows, left_out] == 0)
    times, left_out, cost = sight.times(steps)[is_out], left_out[is_out], cost[is_out]
    unit = np.eye(sight.n_times)
    mean = np.linalg.solve(times.T @ times + 1e-3 * unit, times.T @ cost)
    gram = np.zeros((sight.n_columns, sight.n_times, sight.n_times))
    rest = np.zeros((sight.n_columns, sight.n_times))
    np.add.at(gram, left_out, times[:, :, None] * times[:, None])
    np.add.at(rest, left_out, times * (cost - times @ mean)[:, None])
    apart = np.linalg.solve(gram + _PRICE_RIDGE * unit, rest[:, :, None])[:, :, 0]
    return np.asarray(mean + apart, dtype=np.float64)
