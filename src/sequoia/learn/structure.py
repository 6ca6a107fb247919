"""Who depends on whom, found out from `step` alone.

A component of the state is changed, or an action, and `step` is asked twice under the same luck:
what then differs depends on what was changed. An edge that random play seldom shows may be missed.
"""

import numpy as np
from scipy.sparse import csr_array

from sequoia.learn.play import Play
from sequoia.optimize.auto import RolloutAuto
from sequoia.problem import Dependencies, Environment, limits_of
from sequoia.validation import IntArray

# Changes that are tried for each component and column, where the work below allows it: one that
# shows in a hundredth of the tries is then seen with near certainty.
_TRIES = 1_000
# Components times rows of all steps together: a second or two.
_WORK = 60_000_000
# The weakest edge that is kept, as a share of the strongest of the same component or column:
# what is moved a tenth as often matters little, and is mostly moved by way of others.
_WEAKEST = 0.1
# A column reaches the components that it moves at least half as often as the one it moves most;
# what it moves more rarely is moved by way of these.
_REACHED = 0.5


def discover(
    environment: Environment, argmax: RolloutAuto, play: Play, rng: np.random.Generator
) -> Dependencies:
    """Return which components depend on which, and on which columns, with how often as weights."""
    components = _components(environment, play, rng)
    columns = _columns(environment, argmax, play, rng)
    return Dependencies(components, columns, kinds=_kinds(play))


def _components(environment: Environment, play: Play, rng: np.random.Generator) -> csr_array:
    """Return how often a change of component d changes the next value of j, ``(D, D)``.

    The new value is one that d has in play, each as likely: what is rare is tried as often.
    """
    size = play.states.shape[1]
    tries = int(np.clip(_WORK // (size * size), 4, _TRIES))
    changed, moved = np.zeros(size), np.zeros((size, size))
    each = np.arange(size)
    values = [np.unique(own) for own in play.states.T]
    most = np.array([len(own) for own in values])
    for row in rng.integers(len(play.states), size=tries):
        state, action = play.states[row : row + 1], play.actions[row : row + 1]
        noise = rng.random((1, environment.n_noise))
        pick = (rng.random(size) * most).astype(np.int64)
        varied = state.repeat(size, axis=0)
        varied[each, each] = [own[place] for own, place in zip(values, pick, strict=True)]
        differs = np.flatnonzero(varied[each, each] != state[0])
        _, before = environment.step(state, action, noise)
        count = len(differs)
        _, after = environment.step(
            varied[differs], action.repeat(count, axis=0), noise.repeat(count, axis=0)
        )
        moved[differs] += after != before
        changed[differs] += 1
    share = (moved / np.maximum(changed, 1)[:, None]).T
    np.fill_diagonal(share, 0.0)
    strongest = share.max(initial=0.0, axis=1, keepdims=True)
    return csr_array(np.where(share >= _WEAKEST * strongest, share, 0.0))


def _columns(
    environment: Environment,
    argmax: RolloutAuto,
    play: Play,
    rng: np.random.Generator,
) -> csr_array:
    """Return how often a change of column i changes the next value of j, ``(D, N)``.

    Pairs of feasible actions differ in as few columns as the rules allow: one is chosen, and then
    left out.
    """
    size, columns = play.states.shape[1], environment.space.n_actions
    rows = int(np.clip(_WORK // size, 4 * columns, _TRIES * columns // 3))
    seen, moved = np.zeros(columns), np.zeros((columns, size))
    for first in range(0, rows, 4_000):
        count = min(4_000, rows - first)
        row = rng.integers(len(play.states), size=count)
        limits = limits_of(environment, play.states[row], play.steps[row])
        weights = rng.random((count, argmax.n_inputs))
        each, turned = np.arange(count), (first + np.arange(count)) % columns
        weights[each, turned] = columns
        one = argmax.best(weights, limits)
        # What is chosen stays, and nothing else joins in, but for the column that is left out.
        weights[:, :columns] = np.where(one == 1, columns, -columns)
        weights[each, turned] = -(columns**2)
        other = argmax.best(weights, limits)
        noise = rng.random((count, environment.n_noise))
        _, before = environment.step(play.states[row], one, noise)
        _, after = environment.step(play.states[row], other, noise)
        differs = (one != other).astype(np.float64)
        seen += differs.sum(axis=0)
        moved += differs.T @ (after != before)
    share = moved / np.maximum(seen, 1)[:, None]
    most = share.max(axis=1, keepdims=True)
    return csr_array(np.where((share >= _REACHED * most) & (share > 0), share, 0.0).T)


def _kinds(play: Play) -> IntArray:
    """Return components by which values they take, ``(D,)``."""
    values = [tuple(np.unique(own)[:9]) for own in play.states.T]
    known = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return np.array([known[value] for value in values])
