"""Which actions an environment allows in which state: the one place that asks it."""

import numpy as np

from sequoia.errors import ProblemError
from sequoia.problem.action_limits import ActionLimits
from sequoia.problem.environment import Environment, States
from sequoia.problem.spaces import ActionSpace
from sequoia.problem.spaces.restricted import restrict
from sequoia.validation import ActionArray, IntArray


def limits_of(environment: Environment, states: States, steps: IntArray) -> ActionLimits | None:
    """Return what is allowed in each state, on top of the rules of the space.

    ``None`` where an environment allows the same in every state: it has no ``action_limits``.

    Parameters
    ----------
    states
        ``(B, D)``.
    steps
        Steps since the beginning of the episode, ``(B,)``.

    Raises
    ------
    ProblemError
        When the limits are of another size.
    """
    ask = getattr(environment, "action_limits", None)
    if ask is None:
        return None
    found = ask(states, steps)
    if found is None:
        return None
    wanted = (len(states), environment.space.n_actions)
    if not isinstance(found, ActionLimits) or found.lower.shape != wanted:
        what = found.lower.shape if isinstance(found, ActionLimits) else type(found).__name__
        raise ProblemError(
            f"action_limits of {environment.name} are {what}; ActionLimits {wanted} are wanted."
        )
    return found


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
