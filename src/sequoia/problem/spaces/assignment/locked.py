"""An assignment in which some visits are settled: others share the hours that are left."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from sequoia.problem.rules import Lock
from sequoia.problem.spaces.base import Maximiser
from sequoia.problem.spaces.locked import Locked
from sequoia.problem.system import Decision, Rows, room
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from sequoia.problem.spaces.assignment.space import Assignment


class LockedAssignment(Locked):
    """``whole`` with visits that take place: an assignment of all other arms, with fewer hours.

    Parameters
    ----------
    visits
        Arm and worker of each.
    """

    def __init__(self, whole: "Assignment", visits: Sequence[tuple[int, int]]) -> None:
        arms, workers = np.array(visits, dtype=np.int64).T
        names = [Lock(whole.names[arm], whole.worker_names[worker]) for arm, worker in visits]
        columns = whole.n_actions * (1 + workers) + arms
        entries = (np.ones(len(visits)), (np.arange(len(visits)), columns))
        each = sparse.csr_array(entries, shape=(len(visits), whole.system.n_columns))
        super().__init__(whole, [Rows.at_least(each, 1.0, [f"locked: {name}" for name in names])])
        self.worker_names = whole.worker_names
        self._whole, self._visits = whole, list(visits)
        self._is_locked = np.isin(np.arange(whole.n_actions), arms)

    def with_lock(
        self, arm: int, worker: int | None, slot: int | None
    ) -> "LockedAssignment | None":
        """Settle one visit more."""
        if worker is None or slot is not None:
            return None
        if self._is_locked.sum() + (not self._is_locked[arm]) == self.n_actions:
            # Nobody else is left, of whom all is asked here.
            return None
        return LockedAssignment(self._whole, [*self._visits, (arm, worker)])

    def visit_columns(self, arm: int, worker: int | None, slot: int | None) -> IntArray:
        """Those of the whole."""
        return self._whole.visit_columns(arm, worker, slot)

    @cached_property
    def _rest(self) -> "Assignment | None":
        """The assignment of all others; ``None`` where hours do not suffice for what is settled."""
        left = self._whole.capacities.copy()
        for arm, worker in dict.fromkeys(self._visits):
            left[worker] -= self._whole.costs[arm]
        if (left < self._whole.capacities - room(self._whole.capacities)).any():
            return None
        others = np.flatnonzero(~self._is_locked)
        return replace(
            self._whole,
            costs=self._whole.costs[others],
            capacities=np.maximum(left, 0.0),
            names=[self.names[arm] for arm in others.tolist()],
        )

    @property
    def settled(self) -> ActionArray:
        """Arms whose visits are settled are acted on."""
        locked: ActionArray = np.where(self._is_locked, 1, -1).astype(np.int8)
        return locked

    @property
    def has_quick_contains(self) -> bool:
        """Whether that of the others does."""
        return self._rest is None or self._rest.has_quick_contains

    def contains(self, actions: ArrayLike) -> BoolArray:
        """Ask about all others, where what is settled is chosen."""
        actions = np.asarray(actions, dtype=np.int8)
        allowed: BoolArray = (actions[:, self._is_locked] == 1).all(axis=1)
        if self._rest is None:
            return np.zeros_like(allowed)
        return allowed & self._rest.contains(actions[:, ~self._is_locked])

    def argmax_linear(self, weights: FloatArray) -> ActionArray | None:
        """Ask about all others."""
        if self._rest is None:
            return None
        return self._with_locked(self._rest.argmax_linear(weights[~self._is_locked]))

    def argmax_under(self, rows: Rows, settled: ActionArray) -> Maximiser | None:
        """Ask about all others, under rows from which what is settled is taken."""
        if self._rest is None or (settled[self._is_locked] == 0).any():
            return None
        matrix = rows.matrix.tocsc()
        taken = np.asarray(matrix[:, self._is_locked].sum(axis=1)).reshape(-1)
        left = replace(
            rows,
            matrix=matrix[:, ~self._is_locked].tocsr(),
            lower=rows.lower - taken,
            upper=rows.upper - taken,
        )
        ask = self._rest.argmax_under(left, settled[~self._is_locked])
        if ask is None:
            return None
        return lambda weights: self._with_locked(ask(weights[~self._is_locked]))

    def _with_locked(self, action: ActionArray | None) -> ActionArray | None:
        """Return an action of the others with what is settled."""
        if action is None:
            return None
        whole = np.ones(self.n_actions, dtype=np.int8)
        whole[~self._is_locked] = action
        return whole

    def sample(self, rng: np.random.Generator) -> Decision:
        """Draw for all others."""
        if self._rest is None:
            return super().sample(rng)
        drawn = self._rest.sample(rng)
        action = self._with_locked(drawn.action)
        assert action is not None
        return Decision(action, self._with_visits(drawn.plan))

    def _plan(self, action: ActionArray) -> ActionArray | None:
        if self._rest is None or not (action[self._is_locked] == 1).all():
            return None
        plan = self._rest._plan(action[~self._is_locked])
        return None if plan is None else self._with_visits(plan)

    def _with_visits(self, plan: ActionArray) -> ActionArray:
        """Return a plan of the others with the visits that are settled."""
        visits = np.zeros((self._whole.n_workers, self.n_actions), dtype=np.int8)
        visits[:, ~self._is_locked] = plan.reshape(self._whole.n_workers, -1)
        for arm, worker in self._visits:
            visits[worker, arm] = 1
        return visits.reshape(-1)
