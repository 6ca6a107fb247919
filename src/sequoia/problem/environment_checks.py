"""Does an environment keep its promises? Found out by playing it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sequoia.errors import ProblemError
from sequoia.problem.action_sets import sample_actions
from sequoia.problem.dependencies import dependencies_of, require_dependencies
from sequoia.problem.environment import Environment, States
from sequoia.problem.spaces import ActionSpace
from sequoia.rng import stream
from sequoia.validation import ActionArray, FloatArray

# Episodes that are played side by side, and steps of each: enough for slips of shape and luck, and
# done in a moment.
_BATCH, _STEPS = 8, 20
_MEMBERS = (
    *("name", "fingerprint", "space", "horizon", "discount", "n_noise"),
    *("draw_start", "features", "step"),
)


def check_environment(environment: Environment) -> None:
    """Play ``environment`` a little and check what `Environment` promises.

    Raises
    ------
    ProblemError
        One line: what was found and what is wanted.
    """
    _check_members(environment)
    name = environment.name
    states = _starts(environment)
    rng = stream(0, "check environment")
    for step in range(min(environment.horizon, _STEPS)):
        _numbers(environment.features(states), f"features of {name}", (_BATCH, None))
        actions = sample_actions(environment, states, np.full(_BATCH, step), rng)
        noise = rng.random((_BATCH, environment.n_noise))
        states = _step(environment, states, actions, noise)
    claimed = dependencies_of(environment)
    if claimed is not None:
        require_dependencies(environment, claimed)


def _check_members(environment: Environment) -> None:
    kind = type(environment).__name__
    for member in _MEMBERS:
        if not hasattr(environment, member):
            raise ProblemError(f"{kind} has no {member}; see the protocol Environment.")
    for member in ("name", "fingerprint"):
        text = getattr(environment, member)
        if not isinstance(text, str) or not text:
            raise ProblemError(f"{kind}.{member} is {text!r}; a text is wanted.")
    if not isinstance(environment.space, ActionSpace):
        raise ProblemError(f"{kind}.space is {environment.space!r}; an ActionSpace is wanted.")
    for member, least in (("horizon", 1), ("n_noise", 0)):
        size = getattr(environment, member)
        if not isinstance(size, int | np.integer) or isinstance(size, bool) or size < least:
            raise ProblemError(
                f"{kind}.{member} is {size!r}; a whole number from {least} on is wanted."
            )
    if not 0 < environment.discount <= 1:
        raise ProblemError(f"{kind}.discount is {environment.discount!r}; (0, 1] is wanted.")


def _starts(environment: Environment) -> States:
    """Return first states; drawing them again with the same generator gives the same."""
    where = f"draw_start of {environment.name}"
    first, again = (
        _numbers(environment.draw_start(stream(0, "start"), _BATCH), where, (_BATCH, None))
        for _ in range(2)
    )
    if not np.array_equal(first, again):
        raise ProblemError(
            f"{where} gives other states for an equal generator; all luck comes from rng."
        )
    return first


def _step(
    environment: Environment, states: States, actions: ActionArray, noise: FloatArray
) -> States:
    """Return the next states of one checked step."""
    where = f"step of {environment.name}"
    given = (states.copy(), actions.copy(), noise.copy())
    rewards, following = _result(environment, where, states, actions, noise)
    for what, before, after in zip(
        ("states", "actions", "noise"), given, (states, actions, noise), strict=True
    ):
        if not np.array_equal(np.asarray(before), np.asarray(after)):
            raise ProblemError(f"{where} changes the {what} it is given; it must work on a copy.")
    same_rewards, same = _result(environment, where, states, actions, noise)
    if not (np.array_equal(rewards, same_rewards) and np.array_equal(following, same)):
        raise ProblemError(
            f"{where} gives other results for equal noise; all luck comes from noise."
        )
    alone = slice(_BATCH - 1, None)
    own_reward, own = _result(environment, where, states[alone], actions[alone], noise[alone])
    if not (np.allclose(own_reward, rewards[alone]) and np.allclose(own, following[alone])):
        raise ProblemError(
            f"{where} gives a state another result alone than in a batch; rows are independent."
        )
    return following


def _result(
    environment: Environment, where: str, states: States, actions: ActionArray, noise: FloatArray
) -> tuple[NDArray[Any], States]:
    result = environment.step(states, actions, noise)
    if not isinstance(result, tuple) or len(result) != 2:
        raise ProblemError(f"{where} returns {type(result).__name__}; (rewards, states) is wanted.")
    rewards = _numbers(result[0], f"rewards in {where}", (len(states),))
    return rewards, _numbers(result[1], f"states in {where}", states.shape)


def _numbers(found: Any, where: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Return ``found`` if it is an array of finite numbers of this shape."""
    array = np.asarray(found)
    wanted = str(tuple("any" if size is None else size for size in shape)).replace("'", "")
    is_shaped = array.ndim == len(shape) and all(
        size is None or own == size for own, size in zip(array.shape, shape, strict=True)
    )
    if not is_shaped:
        raise ProblemError(f"{where}: an array {array.shape} is found, {wanted} is wanted.")
    if array.dtype.kind not in "biuf" or not np.isfinite(array).all():
        raise ProblemError(f"{where}: {_odd(array)} is found, finite numbers are wanted.")
    return array


def _odd(array: NDArray[Any]) -> str:
    """Return what is no finite number."""
    if array.dtype.kind not in "biuf":
        return f"{array.reshape(-1)[0]!r}"
    return str(array[~np.isfinite(array)][0])
