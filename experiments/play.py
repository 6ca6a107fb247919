"""Episodes of an environment under a policy that is a function of the state."""

from collections.abc import Callable

import numpy as np

from sequoia.evaluation.intervals import half_width
from sequoia.problem.environment import Environment, States
from sequoia.rng import streams
from sequoia.validation import ActionArray, FloatArray

# From states, ``(B, D)``, the step of the episode and a generator to actions, ``(B, N)``.
Policy = Callable[[States, int, np.random.Generator], ActionArray]


def returns(
    environment: Environment,
    policy: Policy,
    episodes: int,
    seed: int,
    discount: float | None = None,
) -> FloatArray:
    """Return the sum of discounted rewards of each episode, ``(E,)``.

    Equal seeds give equal first states and equal noise, whatever the policy draws: returns of two
    policies may be subtracted episode by episode.

    Parameters
    ----------
    discount
        Weight of the next step; that of the environment unless given.
    """
    weight = environment.discount if discount is None else discount
    starts, luck, choices = streams(seed, "starts", "luck", "choices")
    states = environment.draw_start(starts, episodes)
    total = np.zeros(episodes)
    for step in range(environment.horizon):
        actions = policy(states, step, choices)
        noise = luck.random((episodes, environment.n_noise))
        rewards, states = environment.step(states, actions, noise)
        total += weight**step * rewards
    return total


def mean_and_half_width(values: FloatArray) -> tuple[float, float]:
    """Return the mean of independent values, ``(E,)``, and half of its 95 % interval."""
    return float(values.mean()), float(half_width(values))


def no_action(environment: Environment) -> Policy:
    """Return the policy that never acts."""
    columns = environment.space.n_actions

    def policy(states: States, step: int, rng: np.random.Generator) -> ActionArray:  # noqa: ARG001
        return np.zeros((len(states), columns), dtype=np.int8)

    return policy
