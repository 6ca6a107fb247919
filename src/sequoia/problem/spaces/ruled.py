"""A space with extra rules on top."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sequoia.problem.names import say
from sequoia.problem.rules import Rules
from sequoia.problem.spaces.base import ActionSpace, Extensions
from sequoia.problem.system import Decision, LinearSystem
from sequoia.problem.tables import TableSet
from sequoia.problem.tasks import Task
from sequoia.validation import ActionArray, BoolArray, FloatArray

_TRIES = 20


class Ruled(ActionSpace):
    """``base`` with the rows of ``rules`` added; made by `with_rules`."""

    kind = "ruled"
    is_down_closed = False

    def __init__(self, base: ActionSpace, rules: Rules) -> None:
        self._base = base
        self._rules = rules
        # An unknown name is reported when the space is made, not when it is first used.
        self._today = base.absent(rules.absent)
        self._rows = rules.rows(base.names)

    @property
    def base(self) -> ActionSpace:
        """The space without extra rules, with every worker present."""
        return self._base

    @property
    def rules(self) -> Rules:
        """The extra rules on top of `base`."""
        return self._rules

    @property
    def names(self) -> Sequence[str]:  # type: ignore[override]
        """Names of the action columns of ``base``."""
        return self.base.names

    @cached_property
    def system(self) -> LinearSystem:
        """The rows of the base and those of the rules."""
        return self._today.system.with_rows(self._rows)

    @cached_property
    def compact(self) -> LinearSystem:
        """The compact rows of the base and those of the rules."""
        return self._today.compact.with_rows(self._rows)

    @property
    def slim(self) -> LinearSystem:
        """The slim rows of the base and those of the rules."""
        return self._today.slim.with_rows(self._rows)

    @property
    def knapsack(self) -> tuple[FloatArray, float]:
        """That of the base."""
        return self._today.knapsack

    @cached_property
    def idle(self) -> Decision:
        """The decision to do nothing in the base, whether or not the rules allow it."""
        return self._today.idle

    @cached_property
    def _extra(self) -> LinearSystem:
        return LinearSystem.from_rows([self._rows], self.n_actions, self.names)

    @property
    def has_quick_contains(self) -> bool:
        """Whether that of the base does: rules are rows."""
        return self._today.has_quick_contains

    def contains(self, actions: ArrayLike) -> BoolArray:
        """Ask the rules, then the base."""
        return self._both(actions, self._today.contains)

    def _both(self, actions: ArrayLike, base: Callable[[ActionArray], BoolArray]) -> BoolArray:
        actions = np.asarray(actions, dtype=np.int8)
        allowed = self._extra.holds(actions)
        if allowed.any():
            allowed[allowed] = base(actions[allowed])
        return allowed

    def compact_plan(self, action: ActionArray) -> FloatArray:
        """Ask the base: rules have no columns of their own."""
        return self._today.compact_plan(action)

    def contains_quick(self, actions: ArrayLike) -> BoolArray:
        """Ask the rules, then the base."""
        return self._both(actions, self._today.contains_quick)

    def enumerate(self, cap: int) -> ActionArray:
        """List the actions of the base, then keep what the rules allow."""
        actions = self._today.enumerate(2 * cap)
        actions = actions[self._extra.holds(actions)]
        if len(actions) > cap:
            raise self._too_many(cap)
        return actions

    def sample(self, rng: np.random.Generator) -> Decision:
        """Draw from the base and mend what the rules forbid; ask the solver if that fails."""
        # Where dropping may itself break a rule of the base, there is nothing to mend with.
        for _ in range(_TRIES if self._today.is_down_closed else 0):
            drawn = self._today.sample(rng)
            action = self._mend(drawn.action.copy(), rng)
            if action is None:
                continue
            if np.array_equal(action, drawn.action):
                return drawn
            return self._fill(self._today.certify(action), rng)
        return self._draw_by_program(rng)

    def _mend(self, action: ActionArray, rng: np.random.Generator) -> ActionArray | None:
        """Drop random columns that break a rule; ``None`` when dropping does not help."""
        dense = self._dense_rows
        while True:
            _, low, high = self._extra.broken(action[:, None].astype(np.float64))
            low, high = low[:, 0], high[:, 0]
            if not (low.any() or high.any()):
                return action
            blame = (dense[high] > 0).any(axis=0) | (dense[low] < 0).any(axis=0)
            guilty = np.flatnonzero(blame & (action == 1))
            if not len(guilty):
                return None
            action[rng.choice(guilty)] = 0

    @cached_property
    def _dense_rows(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        dense: np.ndarray[Any, np.dtype[np.float64]] = self._rows.matrix.toarray()
        return dense

    def _fill(self, decision: Decision, rng: np.random.Generator) -> Decision:
        while len(extensions := self.extensions(decision)):
            decision = extensions[int(rng.integers(len(extensions)))]
        return decision

    def extensions(self, decision: Decision) -> Extensions:
        """Keep those extensions of the base that the rules allow."""
        extensions = self._today.extensions(decision)
        actions = np.repeat(decision.action[None, :], len(extensions), axis=0)
        actions[np.arange(len(extensions)), extensions.columns] = 1
        return extensions.only(self._extra.holds(actions))

    def describe(self, decision: Decision) -> list[str]:
        """Say it as the base does."""
        return self._today.describe(decision)

    def tasks(self, decision: Decision) -> list[Task]:
        """Return those of the base."""
        return self._today.tasks(decision)

    def summary(self) -> str:
        """Say it as the base does; the rules are said beside it."""
        return self.base.summary()

    def absent(self, workers: Iterable[str]) -> "Ruled":
        """Add to the workers who are off."""
        return Ruled(self.base, self.rules.and_also(Rules(absent=tuple(workers))))

    def _plan(self, action: ActionArray) -> ActionArray | None:
        if not self._extra.holds(action[None, :])[0]:
            return None
        return self._today._plan(action)

    def _why_not(self, action: ActionArray) -> str:
        broken = self._extra.violations(Decision(action, action[:0]))
        if broken:
            chosen = say(self.chosen(action))
            return f"{chosen}: {'; '.join(broken)}."
        return self._today._why_not(action)

    def to_tables(self) -> TableSet:
        """The sheets of the base; the rules are written beside them."""
        return self.base.to_tables()


def with_rules(space: ActionSpace, rules: Rules) -> Ruled:
    """Return ``space`` with ``rules`` on top; rules on rules are merged."""
    return Ruled(space.base, space.rules.and_also(rules))
