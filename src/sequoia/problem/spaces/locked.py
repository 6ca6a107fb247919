"""A space in which some visits, or the order of some routes, are settled."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from sequoia.errors import TooLarge
from sequoia.problem.names import index_of
from sequoia.problem.rules import Lock, Rules
from sequoia.problem.spaces.base import ActionSpace, Extensions, Task
from sequoia.problem.system import Decision, LinearSystem, Rows
from sequoia.problem.tables import TableSet
from sequoia.validation import ActionArray

# A plan is looked for by a solver for each action that is listed: milliseconds each.
_MOST_LISTED = 200


class Locked(ActionSpace):
    """``base`` with rows over its plan columns: who comes, when, in what order.

    Whatever a space knows beyond its rows, such as a compact form that does not ask who visits
    whom, does not know of locks. So everything goes through the one `system`.
    """

    kind = "locked"
    is_down_closed = False

    def __init__(self, base: ActionSpace, blocks: Sequence[Rows]) -> None:
        self.names = base.names
        self._base = base
        self._system = base.system
        for block in blocks:
            self._system = self._system.with_rows(block)

    @property
    def system(self) -> LinearSystem:
        """The rows of the base and those of the locks."""
        return self._system

    def enumerate(self, cap: int) -> ActionArray:
        """List the actions of the base, then keep those that have a plan."""
        actions = self._base.enumerate(2 * cap)
        if len(actions) > _MOST_LISTED:
            raise TooLarge(f"listing {len(actions)} actions with locked visits takes too long.")
        return actions[self.contains(actions)]

    def sample(self, rng: np.random.Generator) -> Decision:
        """Ask the solver."""
        return self._draw_by_program(rng)

    def extensions(self, decision: Decision) -> Extensions:
        """Keep those extensions of the base that the locks allow."""
        found = self._base.extensions(decision)
        fine = [not self.system.violations(found[index]) for index in range(len(found))]
        return found.only(np.array(fine, dtype=np.bool_))

    def describe(self, decision: Decision) -> list[str]:
        """Say it as the base does."""
        return self._base.describe(decision)

    def tasks(self, decision: Decision) -> list[Task]:
        """Return those of the base."""
        return self._base.tasks(decision)

    def to_tables(self) -> TableSet:
        """The sheets of the base; locks are written beside them, as rules."""
        return self._base.to_tables()


def with_preferences(space: ActionSpace, rules: Rules) -> ActionSpace:
    """Return ``space`` with what the preferences of ``rules`` are worth."""
    if not rules.preferences:
        return space
    bonus = np.zeros((len(space.worker_names), space.n_actions))
    for one in rules.preferences:
        worker = index_of("rules.preferences", space.worker_names, one.worker)
        bonus[worker, index_of("rules.preferences", space.names, one.arm)] += one.bonus
    return space.with_bonus(bonus)


def with_locks(space: ActionSpace, rules: Rules) -> ActionSpace:
    """Return ``space`` with the locks and orders of ``rules``.

    A space that can say it by who may come, and when, stays of its kind, and as quick as it is.
    That locked arms are acted on at all is a row of the rules.
    """
    rows = []
    for lock in rules.locks:
        where = "rules.locks"
        arm = index_of(where, space.names, lock.arm)
        worker = None if lock.worker is None else index_of(where, space.worker_names, lock.worker)
        slot = None if lock.slot is None else index_of(where, space.slot_names, lock.slot)
        narrowed = space.with_lock(arm, worker, slot)
        if narrowed is not None:
            space = narrowed
        else:
            rows.append((lock, arm, worker, slot))
    for order in rules.orders:
        space = space.with_order([index_of("rules.orders", space.names, name) for name in order])
    if not rows:
        return space
    return Locked(space, [_lock_row(space, *row) for row in rows])


def _lock_row(
    space: ActionSpace, lock: Lock, arm: int, worker: int | None, slot: int | None
) -> Rows:
    """Return the row that says: at least one of the visits that may be meant takes place."""
    columns = space.visit_columns(arm, worker, slot)
    entries = (np.ones(len(columns)), (np.zeros_like(columns), columns))
    row = csr_array(entries, shape=(1, space.system.n_columns))
    never = "" if len(columns) else ", which is never possible"
    return Rows.at_least(row, 1.0, [f"locked: {lock}{never}"])
