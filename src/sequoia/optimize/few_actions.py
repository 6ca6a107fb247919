"""All actions of a space, where they are few."""

from sequoia.errors import TooLarge
from sequoia.problem import ActionSpace
from sequoia.problem.iis import no_decision
from sequoia.validation import ActionArray

# More columns have mostly too many actions, and to find that out takes long.
MAX_COLUMNS = 24
# To multiply more of them by weights takes longer than to solve a program.
MAX_ACTIONS = 50_000


def few_actions(space: ActionSpace, cap: int = MAX_ACTIONS) -> ActionArray | None:
    """Return all feasible actions, ``(A, N)``, or ``None`` where they may be more than ``cap``.

    Raises
    ------
    InfeasibleSpace
        When there is none, naming rows in conflict.
    """
    if space.n_actions > MAX_COLUMNS:
        return None
    try:
        actions = space.enumerate(cap)
    except TooLarge:
        return None
    if not len(actions):
        raise no_decision(space.compact)
    return actions
