"""A budget on the chosen actions: the standard restless bandit."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike

from sequoia.problem.names import between, checked_names, say
from sequoia.problem.spaces.base import ActionSpace, Bracketer, Extensions, Maximiser
from sequoia.problem.spaces.group_rows import GroupRows, OverlappingGroups
from sequoia.problem.system import Decision, LinearSystem, Rows, room
from sequoia.problem.tables import TableSet, table
from sequoia.validation import (
    ActionArray,
    FloatArray,
    IntArray,
    frozen,
    is_not_negative,
    real,
    require,
    set_fields,
)

# Columns times amounts that a dynamic program goes through for one row of weights: a millisecond,
# and alone it is slower than a program where there are more.
_MOST_CELLS = 50_000
# The same times rows that are gone through together: some ten megabytes.
_TOGETHER = 10_000_000


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Budget(ActionSpace):
    """The costs of the chosen actions add up to at most ``limit``.

    Attributes
    ----------
    costs
        Cost of each action column, ``(N,)``, not negative.
    limit
        Total that may be spent in one step.

    Examples
    --------
    >>> from sequoia import Budget
    >>> Budget([1, 2, 3], 4).contains([[1, 0, 1], [0, 1, 1]]).tolist()
    [True, False]
    """

    kind = "budget"
    costs: FloatArray
    limit: float
    names: Sequence[str]

    def __init__(self, costs: ArrayLike, limit: float, names: Sequence[str] | None = None) -> None:
        costs = frozen("budget.costs", costs, np.float64, (None,))
        require("budget.costs", costs, np.isfinite(costs) & (costs >= 0), "a cost is not negative")
        set_fields(
            self,
            costs=costs,
            limit=real("budget.limit", limit, 0),
            names=checked_names("budget.names", names, "arm", len(costs)),
        )

    @cached_property
    def system(self) -> LinearSystem:
        """One row: the costs of what is chosen stay within the limit."""
        spent = Rows.at_most(self.costs[None, :], self.limit, ["budget"])
        return LinearSystem.from_rows([spent], self.n_actions, self.names)

    @property
    def knapsack(self) -> tuple[FloatArray, float]:
        """Costs and limit."""
        return self.costs, float(room(self.limit))

    @cached_property
    def _most(self) -> int | None:
        """The number of columns that may be chosen, where only their number matters."""
        cost = self.costs.min(initial=np.inf)
        if (self.costs != cost).any():
            return None
        return int(min(room(self.limit) / cost, self.n_actions)) if cost else self.n_actions

    def argmax_linear(self, weights: FloatArray) -> ActionArray | None:
        """Choose the heaviest few, where all cost the same."""
        return None if self._most is None else self._heaviest(weights[None], self._most)[0]

    def argmax_linear_batch(self, weights: FloatArray) -> ActionArray | None:
        """Choose the heaviest few of each row, or what is best within the limit."""
        if self._most is not None:
            return self._heaviest(weights, self._most)
        if self._whole_costs is None:
            return None
        size = max(1, _TOGETHER // (self.n_actions * (int(room(self.limit)) + 1)))
        parts = [weights[first : first + size] for first in range(0, len(weights), size)]
        best = [self._by_dynamic_program(part, self._whole_costs) for part in parts]
        return np.concatenate([np.zeros((0, self.n_actions), np.int8), *best])

    def argmax_under(self, rows: Rows, settled: ActionArray) -> Maximiser | None:
        """Choose the heaviest few by groups, where all cost the same and rows are over groups."""
        groups = None if self._most is None else GroupRows.of(rows, self._most)
        return None if groups is None else partial(groups.best, settled=settled)

    def bracket_under(self, rows: Rows) -> Bracketer | None:
        """Choose the heaviest few by groups that may overlap in part, where all cost the same."""
        return None if self._most is None else OverlappingGroups(rows, self._most).bracket

    @cached_property
    def _whole_costs(self) -> IntArray | None:
        """The costs, where they and the limit are whole numbers small enough to go through."""
        is_small = self.n_actions * (room(self.limit) + 1) <= _MOST_CELLS
        if not is_small or (self.costs != np.rint(self.costs)).any():
            return None
        return self.costs.astype(np.int64)

    def _by_dynamic_program(self, weights: FloatArray, costs: IntArray) -> ActionArray:
        """Go through all columns and amounts left: ``V(l) = max(V(l), w + V(l - c))``, exact."""
        count, most = len(weights), int(room(self.limit))
        values = np.zeros((count, most + 1))
        taken = np.zeros((self.n_actions, count, most + 1), dtype=np.bool_)
        for column in np.flatnonzero(costs <= most).tolist():
            cost = int(costs[column])
            with_it = values[:, : most + 1 - cost] + weights[:, column, None]
            taken[column, :, cost:] = with_it > values[:, cost:]
            values[:, cost:] = np.maximum(with_it, values[:, cost:])
        actions = np.zeros(weights.shape, dtype=np.int8)
        left = np.full(count, most)
        for column in range(self.n_actions - 1, -1, -1):
            actions[:, column] = taken[column, np.arange(count), left]
            left -= costs[column] * actions[:, column]
        return actions

    def _heaviest(self, weights: FloatArray, most: int) -> ActionArray:
        """Choose up to ``most`` of each row."""
        if most == self.n_actions:
            return (weights > 0).astype(np.int8)
        actions = np.zeros(weights.shape, dtype=np.int8)
        row = np.arange(len(weights))[:, None]
        few = (-weights).argpartition(most, axis=1)[:, :most]
        actions[row, few] = weights[row, few] > 0
        return actions

    def sample(self, rng: np.random.Generator) -> Decision:
        """Take the actions in random order while they are affordable."""
        order = rng.permutation(self.n_actions)
        left = float(room(self.limit))
        chosen = []
        cheapest = self.costs.min(initial=np.inf)
        for column in order.tolist():
            if self.costs[column] <= left:
                chosen.append(column)
                left -= self.costs[column]
                if left < cheapest:
                    break
        return self._decision(chosen)

    def extensions(self, decision: Decision) -> Extensions:
        """Add any one action that is affordable."""
        left = room(self.limit) - self.costs @ decision.action
        columns = np.flatnonzero((decision.action == 0) & (self.costs <= left))

        def extend(index: int) -> Decision:
            action = decision.action.copy()
            action[columns[index]] = 1
            return Decision(action, decision.plan)

        return Extensions(columns, np.zeros_like(columns), self.costs[columns], extend)

    def describe(self, decision: Decision) -> list[str]:
        """Say what is chosen and what it costs."""
        chosen = say(self.chosen(decision.action))
        return [f"Act on {chosen} ({self.costs @ decision.action:g} of {self._units()} used)"]

    def summary(self) -> str:
        """Say the limit and the costs."""
        costs = between(self.costs)
        return f"budget: at most {self._units()} in all; an action costs {costs}"

    def _units(self) -> str:
        return f"{self.limit:g} {'unit' if self.limit == 1 else 'units'}"

    def to_tables(self) -> TableSet:
        """Options and tables of this space."""
        return TableSet({"limit": self.limit}, table("actions", name=self.names, cost=self.costs))

    @classmethod
    def from_tables(cls, content: TableSet) -> "Budget":
        """Build from options and tables."""
        content.known({"kind", "limit"})
        actions = content.table("actions")
        costs = actions.floats("cost", is_not_negative, "a cost is not negative")
        limit = content.option("limit", float, least=0)
        names = actions.names("name")
        content.settle()
        return cls(costs, limit, names)
