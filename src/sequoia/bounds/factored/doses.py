"""Which dose levels a few arms can get together."""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from sequoia.optimize.encoding import ActionEncoding, few_actions
from sequoia.problem import Problem
from sequoia.validation import IntArray

# Few enough to go through for every cluster that is tried.
_MAX_ACTIONS = 10_000
# Of the room for costs: what rounding may add to their sum.
_ROUNDING = 1e-9


class DoseCombinations:
    """Combinations of dose levels that the rules may allow.

    Where actions are few, exactly those that some feasible action brings about. Else those are
    left out in which an action column is both chosen and not and, where columns are arms, those
    that cost more than any action may.
    """

    def __init__(self, problem: Problem, encoding: ActionEncoding) -> None:
        self._problem = problem
        self._encoding = encoding
        self._allowed = encoding.allowed

    def most(self, arms: Sequence[int]) -> float:
        """Return a number that `of` does not exceed, quickly."""
        return float(np.prod(self._allowed[np.asarray(arms)].sum(axis=1).astype(np.float64)))

    def of(self, arms: Sequence[int]) -> IntArray:
        """Return combinations of levels of some arms, ``(D, n)``, no doses first."""
        chosen = np.asarray(arms)
        if self._listed is not None:
            return np.unique(self._listed[:, chosen], axis=0)
        combos = product([np.flatnonzero(row).tolist() for row in self._allowed[chosen]])
        inputs = self._encoding.level_input[chosen]
        taken = inputs[np.arange(len(chosen)), combos]
        fine = np.ones(len(combos), dtype=np.bool_)
        for read in np.unique(inputs[inputs >= 0]):
            readers = np.flatnonzero((inputs == read).any(axis=1))
            is_on = taken[:, readers] == read
            fine &= is_on.all(axis=1) | ~is_on.any(axis=1)
        if self._problem.is_identity:
            costs, room = self._problem.space.knapsack
            fine &= (taken >= 0) @ costs[chosen] <= room + _ROUNDING * abs(room)
        return combos[fine]

    @cached_property
    def _listed(self) -> IntArray | None:
        """The levels that each arm gets from the feasible actions, ``(A, J)``, if they are few."""
        actions = few_actions(self._problem.space, _MAX_ACTIONS)
        if actions is None:
            return None
        return np.unique(self._problem.levels(actions), axis=0)


def product(choices: Sequence[Iterable[int]]) -> IntArray:
    """Return every way to choose one of each, ``(count, len(choices))``, the last one fastest."""
    lists = [np.asarray(list(one), dtype=np.int64) for one in choices]
    if not lists:
        return np.zeros((1, 0), dtype=np.int64)
    grid = np.meshgrid(*lists, indexing="ij")
    return np.stack([axis.reshape(-1) for axis in grid], axis=1)
