"""The space of one state, and random actions that states allow."""

import numpy as np

from sequoia.problem.capabilities import limits_of
from sequoia.problem.environment import Environment, States
from sequoia.problem.spaces import ActionSpace
from sequoia.problem.spaces.restricted import restrict
from sequoia.validation import ActionArray, IntArray


def space_at(environment: Environment, state: States, step: int) -> ActionSpace:
    """Return the actions that are allowed in one state, ``(D,)``, as a space."""
    limits = limits_of(environment, state[None], np.array([step]))
    return environment.space if limits is None else restrict(environment.space, limits)


def sample_actions(
    environment: Environment, states: States, steps: IntArray, rng: np.random.Generator
) -> ActionArray:
    """Draw a random feasible action for each state, ``(B, N)``."""
    limits = limits_of(environment, states, steps)
    space = environment.space
    drawn = [
        (space if limits is None else restrict(space, limits.only([row]))).sample(rng).action
        for row in range(len(states))
    ]
    return np.array(drawn, dtype=np.int8).reshape(len(states), space.n_actions)
