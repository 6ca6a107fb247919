"""A space in which some visits, or the order of some routes, are settled or barred."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from sequoia.errors import TooLarge
from sequoia.problem.names import count, index_of
from sequoia.problem.rules import Bar, Lock, Rules
from sequoia.problem.spaces.base import ActionSpace, Extensions, Task
from sequoia.problem.system import Decision, LinearSystem, Rows
from sequoia.problem.tables import TableSet
from sequoia.validation import ActionArray, IntArray

# A plan is looked for by a solver for each action that is listed: milliseconds each.
_MOST_LISTED = 200


class Locked(ActionSpace):
    """``base`` with rows over its plan columns: who comes or does not, when, in what order.

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
        extensions = self._base.extensions(decision)
        fine = [not self.system.violations(extensions[index]) for index in range(len(extensions))]
        return extensions.only(np.array(fine, dtype=np.bool_))

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
    for preference in rules.preferences:
        worker = index_of("rules.preferences", space.worker_names, preference.worker)
        bonus[worker, index_of("rules.preferences", space.names, preference.arm)] += (
            preference.bonus
        )
    return space.with_bonus(bonus)


def with_locks(space: ActionSpace, rules: Rules) -> ActionSpace:
    """Return ``space`` with the locks, orders, bars and most visits of ``rules``.

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
    blocks = [_lock_row(space, *row) for row in rows]
    blocks += [_bar_row(space, bar) for bar in rules.bars]
    blocks += [_most_row(space, worker, most) for worker, most in rules.most.items()]
    return Locked(space, blocks) if blocks else space


def _lock_row(
    space: ActionSpace, lock: Lock, arm: int, worker: int | None, slot: int | None
) -> Rows:
    """Return the row that says: at least one of the visits that may be meant takes place."""
    columns = space.visit_columns(arm, worker, slot)
    entries = (np.ones(len(columns)), (np.zeros_like(columns), columns))
    row = csr_array(entries, shape=(1, space.system.n_columns))
    never = "" if len(columns) else ", which is never possible"
    return Rows.at_least(row, 1.0, [f"locked: {lock}{never}"])


def _bar_row(space: ActionSpace, bar: Bar) -> Rows:
    """Return the row that says: none of these workers visits the arm."""
    arm = index_of("rules.bars", space.names, bar.arm)
    who = [index_of("rules.bars", space.worker_names, worker) for worker in bar.workers]
    columns = [space.visit_columns(arm, worker, None) for worker in who]
    return Rows.at_most(_sum_of(space, columns), 0.0, [bar.why])


def _most_row(space: ActionSpace, name: str, most: int) -> Rows:
    """Return the row that says how many visits a worker makes at most."""
    worker = index_of("rules.most", space.worker_names, name)
    columns = [space.visit_columns(arm, worker, None) for arm in range(space.n_actions)]
    text = f"at most {count(most, 'visit')} by {name}"
    return Rows.at_most(_sum_of(space, columns), float(most), [text])


def _sum_of(space: ActionSpace, columns: Sequence[IntArray]) -> csr_array:
    chosen = np.concatenate([np.zeros(0, dtype=np.int64), *columns])
    entries = (np.ones(len(chosen)), (np.zeros_like(chosen), chosen))
    return csr_array(entries, shape=(1, space.system.n_columns))
