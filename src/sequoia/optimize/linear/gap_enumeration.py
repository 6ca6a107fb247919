"""The best action among those that row prices do not rule out."""

import numpy as np

from sequoia.problem import ActionSpace
from sequoia.validation import ActionArray, FloatArray

# Two to the sixth actions are listed and checked in the time of one call of a solver.
_FIRST_DEVIATIONS = 6
# With more actions than this, a solver is quicker.
_MOST_ACTIONS = 20_000
# Actions that are checked at a time, best first: mostly one of the first is feasible.
_CHUNK = 256
# What rounding leaves of a sum of weights of about 1.
_ROUNDING = 1e-9


def best_within_gap(
    space: ActionSpace, weights: FloatArray, point: FloatArray, losses: FloatArray, bound: float
) -> ActionArray | None:
    """Return the feasible action with the largest sum of ``weights``, ``(N,)``, proven.

    With row prices and what they leave of each weight, no action that differs from ``point`` in
    the columns ``S`` weighs more than ``bound - sum(losses[S])``. So all actions that weigh at
    least ``bound - gap`` are among those whose losses add up to at most ``gap``. These are listed
    for a growing gap, until a feasible one weighs as much as no unlisted action can (an extended
    form of reduced cost fixing; Balas and Zemel 1980, Baldacci, Christofides and Mingozzi 2008).

    Parameters
    ----------
    point
        The best point of the linear relaxation, ``(N,)``.
    losses
        What any other choice in a column loses at least, ``(N,)``.
    bound
        No action weighs more.

    Returns
    -------
    The action, ``(N,)``; ``None`` where more actions had to be listed than a solver is worth.
    """
    losses = np.maximum(losses, 0.0)
    unit = float(np.abs(weights).max(initial=0.0))
    is_tied = losses <= _ROUNDING * unit
    ranked = np.sort(losses)
    gap = float(ranked[min(int(is_tied.sum()) + _FIRST_DEVIATIONS, len(ranked)) - 1])
    nearest = np.rint(point).astype(np.int8)
    while True:
        actions = _actions_within(nearest, losses, gap + _ROUNDING * unit)
        if actions is None:
            return None
        best = _heaviest(space, actions, actions @ weights)
        missed = np.inf if best is None else bound - float(best @ weights)
        if missed <= gap:
            return best
        if len(actions) == 2 ** len(nearest):
            return best
        gap = missed if best is not None else max(2 * gap, _ROUNDING * unit)


def _actions_within(nearest: ActionArray, losses: FloatArray, gap: float) -> ActionArray | None:
    """Return all actions, ``(A, N)``, whose losses add up to at most ``gap``, if they are few."""
    # The largest losses first: then the list stays short for longest.
    open_columns = np.flatnonzero(losses <= gap)
    open_columns = open_columns[np.argsort(-losses[open_columns], kind="stable")]
    differs = np.zeros((1, len(open_columns)), dtype=np.int8)
    lost = np.zeros(1)
    for place, loss in enumerate(losses[open_columns].tolist()):
        fits = lost + loss <= gap
        if len(lost) + int(fits.sum()) > _MOST_ACTIONS:
            return None
        also = differs[fits]
        also[:, place] = 1
        differs = np.concatenate([differs, also])
        lost = np.concatenate([lost, lost[fits] + loss])
    actions = np.repeat(nearest[None], len(differs), axis=0)
    actions[:, open_columns] ^= differs
    return actions


def _heaviest(space: ActionSpace, actions: ActionArray, values: FloatArray) -> ActionArray | None:
    """Return the feasible action with the largest value, or ``None``."""
    order = np.argsort(-values, kind="stable")
    for first in range(0, len(order), _CHUNK):
        tried = actions[order[first : first + _CHUNK]]
        is_feasible = space.contains(tried)
        if is_feasible.any():
            best: ActionArray = tried[int(is_feasible.argmax())]
            return best
    return None
