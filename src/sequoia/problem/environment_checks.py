"""Does an environment keep its promises? Found out by playing it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sequoia.errors import ProblemError
from sequoia.problem.capabilities import dependencies_of, limits_of, sample_actions
from sequoia.problem.dependencies import Dependencies
from sequoia.problem.environment import Environment, States
from sequoia.problem.spaces import ActionSpace
from sequoia.rng import stream
from sequoia.validation import ActionArray, FloatArray, IntArray

# Episodes that are played side by side, and steps of each: enough for slips of shape and luck, and
# done in a moment.
_BATCH, _STEPS = 8, 20
# Of dependencies: enough that each of some hundred components is changed a dozen times. Steps that
# follow each other are much alike.
_TRIES, _TRIED, _EVERY = 2_048, 256, 4
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

    Examples
    --------
    >>> import sequoia
    >>> sequoia.check_environment(sequoia.make('trap'))
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
    own_reward, single = _result(environment, where, states[alone], actions[alone], noise[alone])
    if not (np.allclose(own_reward, rewards[alone]) and np.allclose(single, following[alone])):
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


def _numbers(given: Any, where: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Return ``found`` if it is an array of finite numbers of this shape."""
    array = np.asarray(given)
    wanted = str(tuple("any" if size is None else size for size in shape)).replace("'", "")
    is_shaped = array.ndim == len(shape) and all(
        size is None or length == size for length, size in zip(array.shape, shape, strict=True)
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


def require_dependencies(environment: Environment, claimed: Dependencies) -> None:
    """Try by sampling whether ``claimed`` holds.

    In each try one component, or one column of the action, gets another value; under the same
    noise only what depends on it may then change.

    Raises
    ------
    ProblemError
        One line: what changed that should not have.
    """
    rng = stream(0, "dependencies")
    may_change = {
        "component": (claimed.components + sparse.eye_array(claimed.n_components)).tocsr(),
        "column": claimed.columns.tocsr(),
    }
    for states, actions in _visited(environment, rng):
        noise = rng.random((len(states), environment.n_noise))
        _, before = environment.step(states, actions, noise)
        for what, moved in _changes(states, actions, rng):
            _, after = environment.step(moved.states, moved.actions, noise)
            row, changed = np.nonzero(np.asarray(after) != np.asarray(before))
            if not len(row):
                continue
            cause = moved.where[row]
            wrong = np.flatnonzero(np.asarray(may_change[what][changed, cause]) == 0)
            if len(wrong):
                first, second = changed[wrong[0]], f"{what} {cause[wrong[0]]}"
                raise ProblemError(
                    f"the dependencies of {environment.name} say that component {first} does not "
                    f"depend on {second}, but it changed when only {second} was changed, under "
                    "the same noise."
                )


@dataclass(frozen=True, eq=False)
class _Moved:
    """States and actions after one change in each row, and where it was made, ``(B,)``."""

    states: States
    actions: ActionArray
    where: IntArray


def _changes(
    states: States, actions: ActionArray, rng: np.random.Generator
) -> Iterator[tuple[str, _Moved]]:
    row = np.arange(len(states))
    component = rng.integers(0, states.shape[1], len(states))
    other = states.copy()
    # A value that another state has there is one that can occur.
    other[row, component] = states[rng.permutation(len(states)), component]
    yield "component", _Moved(other, actions, component)
    column = rng.integers(0, actions.shape[1], len(states))
    flipped = actions.copy()
    flipped[row, column] ^= 1
    yield "column", _Moved(states, flipped, column)


def _visited(
    environment: Environment, rng: np.random.Generator
) -> Iterator[tuple[States, ActionArray]]:
    """Yield states of random play with the actions taken there, some hundred at a time."""
    episodes = -(-_TRIES // (_TRIED * -(-environment.horizon // _EVERY)))
    for _ in range(episodes):
        states = environment.draw_start(rng, _TRIED)
        for step in range(environment.horizon):
            few = sample_actions(
                environment, states[: _TRIED // 16], np.full(_TRIED // 16, step), rng
            )
            picked = rng.integers(0, len(few), _TRIED)
            actions = few[picked]
            if limits_of(environment, states[:1], np.array([step])) is not None:
                # Each action only where it is allowed: others may lead where nothing is.
                states = states[picked]
            if step % _EVERY == 0:
                yield states, actions
            noise = rng.random((_TRIED, environment.n_noise))
            _, states = environment.step(states, actions, noise)
