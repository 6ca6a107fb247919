"""A space with further rows over its action columns."""

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sequoia.errors import InfeasibleSpace
from sequoia.problem.iis import no_decision
from sequoia.problem.names import say
from sequoia.problem.spaces.base import (
    ActionSpace,
    Bracketer,
    Extensions,
    Maximiser,
    Task,
)
from sequoia.problem.spaces.mending import without_broken_rows
from sequoia.problem.spaces.row_prices import RowPrices
from sequoia.problem.system import Decision, LinearSystem, Rows
from sequoia.problem.tables import TableSet
from sequoia.solvers import Limits
from sequoia.validation import ActionArray, BoolArray, FloatArray

_TRIES = 20
# Questions on the way need no better answer than this.
_NEAR = 1e-4


class WithRows(ActionSpace):
    """The space ``below`` with ``rows`` on top, which have no columns of their own."""

    is_down_closed = False

    def __init__(self, below: ActionSpace, rows: Rows) -> None:
        self.names = below.names
        self._below = below
        self._rows = rows

    @cached_property
    def system(self) -> LinearSystem:
        """The rows of the space below, and those on top."""
        return self._below.system.with_rows(self._rows)

    @cached_property
    def compact(self) -> LinearSystem:
        """The compact rows of the space below, and those on top."""
        return self._below.compact.with_rows(self._rows)

    @property
    def slim(self) -> LinearSystem:
        """The slim rows of the space below, and those on top."""
        return self._below.slim.with_rows(self._rows)

    @property
    def knapsack(self) -> tuple[FloatArray, float]:
        """That of the space below."""
        return self._below.knapsack

    @cached_property
    def idle(self) -> Decision:
        """The decision to do nothing, whether or not the rows on top allow it."""
        return self._below.idle

    @cached_property
    def _extra(self) -> LinearSystem:
        return LinearSystem.from_rows([self._rows], self.n_actions, self.names)

    @property
    def has_quick_contains(self) -> bool:
        """Whether that of the space below does."""
        return self._below.has_quick_contains

    @cached_property
    def _is_of_columns(self) -> BoolArray:
        """The rows that say that all of their columns, or none, are chosen, ``(R,)``."""
        rows, size = self._dense_rows, self._dense_rows.sum(axis=1)
        is_plain = ((rows == 0) | (rows == 1)).all(axis=1)
        is_forced = (self._rows.lower == size) & (self._rows.upper >= size)
        result: BoolArray = is_plain & ((self._rows.upper == 0) | is_forced)
        return result

    @cached_property
    def _columns_wanted(self) -> FloatArray:
        """The columns that have to be chosen (1) and must not be (-1), ``(N,)``."""
        is_of_columns = self._is_of_columns
        wanted: FloatArray = np.sign(
            np.where(self._rows.upper[is_of_columns] == 0, -1.0, 1.0)
            @ self._dense_rows[is_of_columns]
        )
        return wanted

    @cached_property
    def settled(self) -> ActionArray:
        """Columns that the rows, or the space below, settle."""
        wanted = self._columns_wanted
        by_rows: ActionArray = np.where(wanted == 0, self._below.settled, wanted > 0).astype(
            np.int8
        )
        return by_rows

    @property
    def _wanted(self) -> FloatArray | None:
        """The wanted value of columns, ``(N,)``, if that is all that the rows say."""
        return self._columns_wanted if self._is_of_columns.all() else None

    @cached_property
    def _other_rows(self) -> Rows:
        """All rows but those of columns."""
        return self._rows.only(~self._is_of_columns)

    @cached_property
    def _maximise(self) -> Maximiser | None:
        """The maximiser of linear functions under rows that are not of columns."""
        return self._below.argmax_under(self._other_rows, self.settled)

    def argmax_linear(self, weights: FloatArray) -> ActionArray | None:
        """Ask the space below; where rows are of columns, what is wanted is made heavy."""
        if self._wanted is None:
            action = None if self._maximise is None else self._maximise(weights)
            return action if action is None or self._extra.holds(action[None])[0] else None
        for pressed, _ in self._pressed(weights):
            action = self._below.argmax_linear(pressed)
            if action is None or self._extra.holds(action[None])[0]:
                return action
        raise self._refusal()

    def argmax_under(self, rows: Rows, settled: ActionArray) -> Maximiser | None:
        """Ask the space below, under all rows together."""
        if ((settled >= 0) & (self.settled >= 0) & (settled != self.settled)).any():
            return None
        both = np.where(settled < 0, self.settled, settled)
        return self._below.argmax_under(self._other_rows.and_also(rows), both)

    def _refusal(self) -> InfeasibleSpace:
        """Say which rules contradict and, if it is the space below that does, in its words."""
        refusal = no_decision(self.compact)
        wanted = (self._columns_wanted > 0).astype(np.int8)
        if not self._below.is_down_closed or self._below.contains(wanted[None])[0]:
            return refusal
        return InfeasibleSpace(f"{refusal} {self._below._why_not(wanted)}")

    def argmax_linear_batch(self, weights: FloatArray) -> ActionArray | None:
        """Ask the space below for all at once, with what is wanted made heavy."""
        if self._wanted is None:
            return None
        total = np.abs(weights).sum(axis=1, keepdims=True)
        # In proportion to the weights, so that sums with it round no small ones away.
        heavy = np.where(total > 0, 3 * total, 1.0) * self._wanted
        actions = self._below.argmax_linear_batch(weights + heavy)
        if actions is not None and not self._extra.holds(actions).all():
            raise self._refusal()
        return actions

    def bracket_linear(
        self, weights: FloatArray, limits: Limits
    ) -> tuple[ActionArray, float] | None:
        """Ask the space below: what columns have to be is made heavy, other rows get prices."""
        if self._wanted is None:
            few = self._below.most_columns_to_list
            is_better_left = self._maximise is not None or (few and self.n_actions <= few)
            return None if is_better_left else self._under_other_rows(weights, limits)
        bracket = self._press(self._below.bracket_linear, weights, limits)
        if bracket is None or self._extra.holds(bracket[0][None])[0]:
            return bracket
        wanted = (self._wanted > 0).astype(np.int8)
        if self._below.is_refusal_final and not self._below.contains(wanted[None])[0]:
            why = self._below._why_not(wanted)
            raise InfeasibleSpace(f"no decision satisfies the rules: {why}")
        return None

    @cached_property
    def _bracket_below(self) -> Bracketer | None:
        return self._below.bracket_under(self._other_rows)

    def bracket_under(self, rows: Rows) -> Bracketer | None:
        """Ask the space below, under all rows together."""
        below = self._below.bracket_under(self._other_rows.and_also(rows))
        return None if below is None else partial(self._press, below)

    def _under_other_rows(
        self, weights: FloatArray, limits: Limits
    ) -> tuple[ActionArray, float] | None:
        """Return an action and a bound, by the space below or by prices of rows."""
        if self._bracket_below is not None:
            bracket = self._press(self._bracket_below, weights, limits)
            if bracket is not None and self._extra.holds(bracket[0][None])[0]:
                return bracket
        return None if self._below.has_quick_program else self._by_row_prices(weights, limits)

    def _press(
        self, ask: Bracketer, weights: FloatArray, limits: Limits
    ) -> tuple[ActionArray, float] | None:
        """Return an action below that does what is wanted of columns, if there is one, and a bound.

        The gap is that of the weights, without what is added to them.
        """
        bracket, until = None, time.monotonic() + limits.seconds
        for pressed, extra in self._pressed(weights):
            share = float(np.abs(weights).sum()) / max(float(np.abs(pressed).sum()), 1e-300)
            left = max(0.0, until - time.monotonic())
            bracket = ask(pressed, replace(limits, gap=limits.gap * share, seconds=left))
            if bracket is None:
                return None
            bracket = bracket[0], bracket[1] - extra
            asked = self._columns_wanted != 0
            if (2 * bracket[0] - 1 == self._columns_wanted)[asked].all():
                break
        return bracket

    def _by_row_prices(
        self, weights: FloatArray, limits: Limits
    ) -> tuple[ActionArray, float] | None:
        """Return an action and a bound, by prices of the rows over several columns."""
        several = ~self._is_of_columns
        rows, low, high = (
            self._dense_rows[several],
            self._rows.lower[several],
            self._rows.upper[several],
        )
        matrix = np.concatenate([-rows[np.isfinite(low)], rows[np.isfinite(high)]])
        limit = np.concatenate([-low[np.isfinite(low)], high[np.isfinite(high)]])

        def ask(priced: FloatArray) -> tuple[ActionArray, float] | None:
            near = replace(limits, gap=max(limits.gap, _NEAR))
            return self._press(self._below.bracket_linear, priced, near)

        prices = RowPrices(weights, matrix, limit)
        if not prices.search(
            ask, lambda action: without_broken_rows(self._extra, action, weights), limits.gap
        ):
            return None
        best = prices.best
        if best is None or not self.contains(best[None])[0]:
            return None
        return best, max(prices.bound, float(weights @ best))

    def _pressed(self, weights: FloatArray) -> Iterator[tuple[FloatArray, float]]:
        """Yield heavier and heavier weights, and what they add to every action that is allowed.

        With a weight of ``m`` more on what has to be chosen, and less on what must not be, actions
        that the rows allow all gain as much, and others less. So the best action of the space below
        is the best that the rows allow, whatever ``m``, if they allow it; and for ``m`` above twice
        the sum of all weights they do, if they allow any (an exact penalty).
        """
        most = 1 + 2 * float(np.abs(weights).sum())
        heavy = min(2 * float(np.abs(weights).max(initial=0.0)) or 1.0, most)
        while True:
            wanted = self._columns_wanted
            yield weights + heavy * wanted, heavy * float((wanted > 0).sum())
            if heavy >= most or not self._columns_wanted.any():
                return
            heavy = min(8 * heavy, most)

    def contains(self, actions: ArrayLike) -> BoolArray:
        """Ask the rows on top, then the space below."""
        return self._both(actions, self._below.contains)

    def _both(self, actions: ArrayLike, below: Callable[[ActionArray], BoolArray]) -> BoolArray:
        actions = np.asarray(actions, dtype=np.int8)
        allowed = self._extra.holds(actions)
        if allowed.any():
            allowed[allowed] = below(actions[allowed])
        return allowed

    def compact_plan(self, action: ActionArray) -> FloatArray:
        """Ask the space below."""
        return self._below.compact_plan(action)

    def contains_quick(self, actions: ArrayLike) -> BoolArray:
        """Ask the rows on top, then the space below."""
        return self._both(actions, self._below.contains_quick)

    def enumerate(self, cap: int) -> ActionArray:
        """List the actions of the space below, then keep what the rows on top allow."""
        actions = self._listed(2 * cap)
        if len(actions) > cap:
            raise self._too_many(cap)
        return actions

    def _listed(self, cap: int) -> ActionArray:
        """Return what is allowed of at most ``cap`` actions of the space below."""
        actions = self._below.enumerate(cap)
        return actions[self._extra.holds(actions)]

    def sample(self, rng: np.random.Generator) -> Decision:
        """Draw below and mend what the rows on top forbid; ask the solver if that fails."""
        # Where dropping may itself break a rule below, there is nothing to mend with.
        for _ in range(_TRIES if self._below.is_down_closed else 0):
            drawn = self._below.sample(rng)
            action = self._mend(drawn.action.copy(), rng)
            if action is None:
                continue
            if np.array_equal(action, drawn.action):
                return drawn
            return self._fill(self._below.certify(action), rng)
        return self._draw_by_program(rng)

    def _mend(self, action: ActionArray, rng: np.random.Generator) -> ActionArray | None:
        """Drop random columns that break a row; ``None`` when dropping does not help."""
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
        """Keep those extensions of the space below that the rows on top allow."""
        extensions = self._below.extensions(decision)
        actions = np.repeat(decision.action[None, :], len(extensions), axis=0)
        actions[np.arange(len(extensions)), extensions.columns] = 1
        return extensions.only(self._extra.holds(actions))

    def describe(self, decision: Decision) -> list[str]:
        """Say it as the space below does."""
        return self._below.describe(decision)

    def tasks(self, decision: Decision) -> list[Task]:
        """Return those of the space below."""
        return self._below.tasks(decision)

    @abstractmethod
    def summary(self) -> str:
        """Say in one line what is allowed."""

    def _plan(self, action: ActionArray) -> ActionArray | None:
        if not self._extra.holds(action[None, :])[0]:
            return None
        return self._below._plan(action)

    def _why_not(self, action: ActionArray) -> str:
        broken = self._extra.violations(Decision(action, action[:0]))
        if broken:
            chosen = say(self.chosen(action))
            return f"{chosen}: {'; '.join(broken)}."
        return self._below._why_not(action)

    def to_tables(self) -> TableSet:
        """The sheets of the space below; what is on top is written beside them."""
        return self.base.to_tables()
