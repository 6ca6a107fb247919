"""A space in one state, where what is allowed depends on it."""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from sequoia.errors import TooLarge
from sequoia.problem.action_limits import ActionLimits
from sequoia.problem.iis import no_decision
from sequoia.problem.rules import Rules
from sequoia.problem.spaces.base import ActionSpace
from sequoia.problem.spaces.ruled import with_rules
from sequoia.problem.spaces.with_rows import WithRows
from sequoia.problem.system import Decision
from sequoia.validation import ActionArray, FloatArray


class Restricted(WithRows):
    """The space ``below`` within the limits of one state; made by `restrict`."""

    kind = "restricted"

    def __init__(self, below: ActionSpace, limits: ActionLimits) -> None:
        super().__init__(below, limits.rows(0, below.names))
        self._limits = limits

    @property
    def has_quick_program(self) -> bool:  # type: ignore[override]
        """As below."""
        return self._below.has_quick_program

    @property
    def why_not_iterative(self) -> str | None:  # type: ignore[override]
        """As below."""
        return self._below.why_not_iterative

    def absent(self, workers: Iterable[str]) -> "Restricted":
        """Return it on a day when some workers are off."""
        return Restricted(self._below.absent(workers), self._limits)

    def summary(self) -> str:
        """Say it as the space below does."""
        return self._below.summary()

    def sample(self, rng: np.random.Generator) -> Decision:
        """Begin with what is forced, and add at random; else draw below and mend."""
        forced = self._limits.lower[0]
        if forced.any() and self._below.is_down_closed and self.contains(forced[None])[0]:
            return self._fill(self._below.certify(forced), rng)
        return super().sample(rng)

    def _list_below(self, cap: int) -> ActionArray:
        actions = _listed(self._below, cap)
        if actions is None:
            raise self._too_many(cap)
        return actions

    def argmax_linear(self, weights: FloatArray) -> ActionArray | None:
        """Ask the space below, where only columns are bound."""
        if self._has_rows:
            return None
        return self._checked(self._below.argmax_linear(self._limits.weighted(weights[None])[0]))

    def argmax_linear_batch(self, weights: FloatArray) -> ActionArray | None:
        """Ask the space below, where only columns are bound."""
        if self._has_rows:
            return None
        everywhere = self._limits.only(np.zeros(len(weights), dtype=np.int64))
        return self._checked(self._below.argmax_linear_batch(everywhere.weighted(weights)))

    def bracket_linear(self, weights: FloatArray, gap: float) -> tuple[ActionArray, float] | None:
        """Ask the space below, where columns are closed and nothing else."""
        if self._has_rows or self._limits.lower.any():
            return None
        found = self._below.bracket_linear(self._limits.weighted(weights[None])[0], gap)
        return found if found is None or self.contains(found[0][None])[0] else None

    def construct_linear(self, weights: FloatArray) -> ActionArray | None:
        """Ask the space below; ``None`` where it does not keep within the limits."""
        everywhere = self._limits.only(np.zeros(len(weights), dtype=np.int64))
        found = self._below.construct_linear(everywhere.weighted(weights))
        return found if found is None or everywhere.holds(found).all() else None

    @property
    def _has_rows(self) -> bool:
        """Whether more is bound than columns."""
        sides = self._limits.row_lower, self._limits.row_upper
        return any(np.isfinite(side).any() for side in sides)

    def _checked(self, found: ActionArray | None) -> ActionArray | None:
        """Return best actions, or say that there is none within the limits."""
        if found is None:
            return None
        actions = np.atleast_2d(found)
        if not self._limits.only(np.zeros(len(actions), dtype=np.int64)).holds(actions).all():
            raise no_decision(self.compact)
        return found


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
