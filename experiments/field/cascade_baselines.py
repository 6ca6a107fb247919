"""Baselines of `cascade`: indices of nodes, and what was published of others."""

import numpy as np
from scipy.sparse import csr_array

from experiments.field.cascade import Cascade
from experiments.play import Policy, mean_and_half_width, no_action, returns
from sequoia.bounds.whittle import whittle_indices
from sequoia.errors import ProblemError
from sequoia.problem.environment import Environment
from sequoia.rng import stream
from sequoia.validation import ActionArray, FloatArray, IntArray

# What the indices look ahead with. Figures of the lone index are flat from 0.8 to 0.95.
DISCOUNT = 0.8
# Episodes from which the mean activation of nodes is estimated: to about 1 % of it.
_EPISODES = 64


# Lift in total reward over no action and its half width: arXiv 2512.06274, 20 runs on unseeded
# draws. Their Whittle index charges for acting in the active state only and is not converged, and
# their hill climber does not use the probabilities: neither is a yardstick.
PUBLISHED = {
    "cdsqn": (329.0, 16.0),
    "dqn": (301.0, 18.0),
    "whittle": (272.0, 18.0),
    "hill climbing": (246.0, 12.0),
    "random": (136.0, 10.0),
}
# The same dynamics on their graph with right baselines, three seeded draws and 200 episodes each:
# the smallest and the largest lift (the project's notes on benchmarks of the field).
ON_THEIR_GRAPH = {
    "random": (135.0, 145.0),
    "one step ahead": (545.0, 556.0),
    "whittle": (558.0, 575.0),
    "mean field": (565.0, 583.0),
}


def lift(environment: Environment, policy: Policy, episodes: int, seed: int) -> tuple[float, float]:
    """Return the mean gain in total reward over no action, and half of its 95 % interval.

    Undiscounted, and paired: both play with the same luck.
    """
    passive = returns(environment, no_action(environment), episodes, seed, discount=1.0)
    return mean_and_half_width(returns(environment, policy, episodes, seed, discount=1.0) - passive)


def random_nodes(environment: Cascade) -> Policy:
    """Return the policy that acts on random nodes, as many as it may."""

    def policy(states: IntArray, step: int, rng: np.random.Generator) -> ActionArray:  # noqa: ARG001
        return _largest(rng.random(states.shape), environment.limit)

    return policy


def by_index(environment: Cascade, indices: FloatArray) -> Policy:
    """Return the policy that acts on the nodes of the largest indices.

    Parameters
    ----------
    indices
        By node and whether it is active, ``(n, 2)``.
    """
    nodes = np.arange(environment.n_nodes)

    def policy(states: IntArray, step: int, rng: np.random.Generator) -> ActionArray:  # noqa: ARG001
        return _largest(indices[nodes, states], environment.limit)

    return policy


def one_step(environment: Cascade) -> FloatArray:
    """Return what acting adds to the reward of this step by the own move alone, ``(n, 2)``."""
    chances = environment.chances
    gain: FloatArray = environment.values[:, None] * (chances[:, :, 1] - chances[:, :, 0])
    return gain


def whittle(environment: Cascade, discount: float = DISCOUNT) -> FloatArray:
    """Return the Whittle index of each node alone, without ties, ``(n, 2)``; exact.

    The charge for acting is due in both states.
    """
    return _indices(environment.chances, environment.values, discount)


def mean_field(environment: Cascade, discount: float = DISCOUNT, seed: int = 0) -> FloatArray:
    """Return the Whittle index of each node among neighbours who are active as on average.

    Let ``m_j`` be how often node j is active under the policy `whittle`, estimated from episodes,
    and ``s`` the spread. Neighbours change a node in two ways:

    - They activate it: with probability ``q_i = 1 - prod_j (1 - s m_j)`` over its neighbours j. A
      chance ``p`` to be active after the own move becomes ``p + (1 - p) q_i``.
    - It activates them: node j is inactive with probability ``1 - m_j``. Once active it stays so,
      alone, and earns ``w_j = v_j / (1 - discount (p_j(1) - p_j(0)))`` more than otherwise, where
      ``p_j(x)`` is its new chance without an action in state x. So an active node is worth
      ``v_i + s sum_j (1 - m_j) w_j``.

    The index is that of a lone node with these chances and values. The cascade is counted to the
    first generation only.
    """
    count, spread = environment.n_nodes, environment.spread
    one, other = environment.ties.T
    ends = (np.concatenate([one, other]), np.concatenate([other, one]))
    neighbours = csr_array((np.ones(len(ends[0])), ends), shape=(count, count))
    policy = by_index(environment, whittle(environment, discount))
    mean = _mean_activation(environment, policy, seed)
    reached = -np.expm1(neighbours @ np.log1p(-spread * mean))
    chances = environment.chances + (1 - environment.chances) * reached[:, None, None]
    lasting = environment.values / (1 - discount * (chances[:, 1, 0] - chances[:, 0, 0]))
    values = environment.values + spread * (neighbours @ ((1 - mean) * lasting))
    return _indices(chances, values, discount)


def _indices(chances: FloatArray, values: FloatArray, discount: float) -> FloatArray:
    """Return Whittle indices of nodes, ``(n, 2)``, from chances, ``(n, 2, 2)``, and values."""
    active = np.swapaxes(chances, 1, 2)
    kernels = np.stack([1 - active, active], axis=3)
    indices = whittle_indices(kernels, active * values[:, None, None], discount)
    if not indices.is_indexable.all():
        raise ProblemError("a node is not indexable.")
    return indices.indices


def _mean_activation(environment: Cascade, policy: Policy, seed: int) -> FloatArray:
    """Return how often each node is active at the end of a step, ``(n,)``."""
    rng = stream(seed, "mean activation")
    states = environment.draw_start(rng, _EPISODES)
    total = np.zeros(environment.n_nodes)
    for step in range(environment.horizon):
        noise = rng.random((_EPISODES, environment.n_noise))
        states = environment.step(states, policy(states, step, rng), noise)[1]
        total += states.mean(axis=0)
    return total / environment.horizon


def _largest(scores: FloatArray, count: int) -> ActionArray:
    """Choose the ``count`` columns of the largest scores in each row, ``(B, n)``."""
    actions = np.zeros(scores.shape, dtype=np.int8)
    chosen = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    np.put_along_axis(actions, chosen, 1, axis=1)
    return actions
