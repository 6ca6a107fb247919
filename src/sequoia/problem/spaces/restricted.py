"""A space in one state, where what is allowed depends on it."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from sequoia.errors import TooLarge
from sequoia.problem.action_limits import ActionLimits
from sequoia.problem.rules import Rules
from sequoia.problem.spaces.base import ActionSpace
from sequoia.problem.spaces.ruled import with_rules
from sequoia.problem.spaces.with_rows import WithRows
from sequoia.problem.system import Decision
from sequoia.validation import ActionArray, FloatArray, IntArray


class Restricted(WithRows):
    """The space ``below`` within the limits of one state; made by `restrict`."""

    kind = "restricted"

    def __init__(self, below: ActionSpace, limits: ActionLimits) -> None:
        super().__init__(below, limits.rows(0, below.names))
        self._limits = limits
        self.has_quick_program = below.has_quick_program
        self.why_not_iterative = below.why_not_iterative
        self.worker_names, self.slot_names = below.worker_names, below.slot_names

    def _with_hours(self, where: str, hours: Mapping[str, float]) -> "Restricted":
        return Restricted(self._below._with_hours(where, hours), self._limits)

    def with_lock(self, arm: int, worker: int | None, slot: int | None) -> "Restricted | None":
        """Ask the space below."""
        below = self._below.with_lock(arm, worker, slot)
        return None if below is None else Restricted(below, self._limits)

    def with_bonus(self, bonus: FloatArray) -> "Restricted":
        """Ask the space below."""
        return Restricted(self._below.with_bonus(bonus), self._limits)

    def with_order(self, arms: Sequence[int]) -> "Restricted":
        """Ask the space below."""
        return Restricted(self._below.with_order(arms), self._limits)

    def visit_columns(self, arm: int, worker: int | None, slot: int | None) -> IntArray:
        """Ask the space below."""
        return self._below.visit_columns(arm, worker, slot)

    def summary(self) -> str:
        """Say it as the space below does."""
        return self._below.summary()

    def sample(self, rng: np.random.Generator) -> Decision:
        """Begin with what is forced, and add at random; else draw below and mend."""
        forced = self._limits.lower[0]
        if forced.any() and self._below.is_down_closed and self.contains(forced[None])[0]:
            return self._fill(self._below.certify(forced), rng)
        return super().sample(rng)

    def _listed(self, cap: int) -> ActionArray:
        actions = _listed(self._below, cap)
        if actions is None:
            raise self._too_many(cap)
        allowed: ActionArray = actions[self._limits.allowed(actions)[0]]
        return allowed

    def construct_linear(self, weights: FloatArray) -> ActionArray | None:
        """Ask the space below; ``None`` where it does not keep within the limits."""
        everywhere = self._limits.only(np.zeros(len(weights), dtype=np.int64))
        built = self._below.construct_linear(everywhere.weighted(weights))
        return built if built is None or everywhere.holds(built).all() else None


def restrict(space: ActionSpace, limits: ActionLimits) -> ActionSpace:
    """Return ``space`` within limits for one state; extra rules stay on top."""
    within = Restricted(space.base, limits)
    return within if space.rules == Rules() else with_rules(within, space.rules)


@lru_cache(maxsize=4)
def _listed(space: ActionSpace, cap: int) -> ActionArray | None:
    """Return all actions of a space, listed once for all states; ``None`` where too many."""
    try:
        return space.enumerate(cap)
    except TooLarge:
        return None
