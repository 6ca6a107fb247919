"""Reasons why arms cannot be visited: alone, or together."""

from typing import TYPE_CHECKING

import numpy as np

from sequoia.problem.names import count, say
from sequoia.problem.spaces.rota.packing import Openings
from sequoia.validation import ActionArray, BoolArray

if TYPE_CHECKING:
    from sequoia.problem.spaces.rota.space import Rota

# To find the smallest conflict takes a plan for each arm.
_MOST_IN_CONFLICT = 60


def why_not(space: "Rota", openings: Openings, is_visitable: BoolArray, action: ActionArray) -> str:
    """Name the arm that nobody can visit, or the fewest arms that do not fit together.

    Parameters
    ----------
    is_visitable
        Which arms could be acted on alone, ``(J,)``.
    """
    arms = np.flatnonzero(action)
    if len(arms) > space.limit:
        return (
            f"{say(space.chosen(action))}: {count(len(arms), 'arm')} chosen; at most "
            f"{space.limit} may be."
        )
    alone = arms[~is_visitable[arms]]
    if len(alone):
        return _why_never(space, int(alone[0]))
    conflict = _conflict(space, arms.tolist())
    pairs = openings.pairs
    where = np.unique(pairs[np.isin(pairs[:, 0], conflict), 1])
    needed = (space.lengths * space.visits)[conflict].sum()
    given = openings.minutes[where].sum()
    names = [f"{space.say_opening(b)}" for b in where.tolist()]
    names = names if len(names) <= 6 else [*names[:5], f"{len(names) - 5} more"]
    return (
        f"{say(space.names[arm] for arm in conflict)} cannot be visited together: "
        f"{needed:g} minutes of visits do not fit into the {given:g} minutes of {say(names)}."
    )


def _why_never(space: "Rota", arm: int) -> str:
    """Say why no worker can ever visit an arm as often as it needs."""
    name, slots = space.names[arm], space.arm_slots[arm]
    if not slots.any():
        return f"{name} cannot be visited: no slot suits it."
    when = say(space.slot_names[k] for k in np.flatnonzero(slots).tolist())
    minutes = space.minutes[space.may_visit[:, arm]][:, slots]
    if not (minutes > 0).any():
        return f"{name} cannot be visited: no worker who may visit it works in {when}."
    if (minutes < space.lengths[arm]).all():
        return (
            f"{name} cannot be visited: a visit takes {space.lengths[arm]:g} minutes, and no "
            f"worker who may visit it has more than {minutes.max():g} in {when}."
        )
    return (
        f"{name} cannot be visited: {count(int(space.visits[arm]), 'visit')} are needed, which "
        f"the workers who may visit it cannot make in {when}."
    )


def _conflict(space: "Rota", arms: list[int]) -> list[int]:
    """Return arms that do not fit together, while all but any one of them do."""
    for arm in arms[:_MOST_IN_CONFLICT]:
        fewer = [other for other in arms if other != arm]
        action = np.zeros(space.n_actions, dtype=np.int8)
        action[fewer] = 1
        if not space.contains(action[None])[0]:
            arms = fewer
    return arms
