"""The heaviest few columns under rows over groups of which some overlap in part.

`GroupRows` decides groups that are nested or apart. Here some rows are left out, so that the others
are: a relaxation. Where its best action keeps the rows that were left out, it is the best of all;
else the rows that it breaks are the first that the next relaxation takes in. Few rows of many
matter at a time, so that one or two relaxations mostly do; where rows that overlap matter at once,
a solver decides.
"""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from sequoia.problem.spaces.group_rows import GroupRows
from sequoia.problem.system import LinearSystem, Rows
from sequoia.solvers import Limits
from sequoia.validation import ActionArray, FloatArray

# A third relaxation takes as long as a solver.
_MOST_RELAXATIONS = 2


class OverlappingGroups:
    """At most ``limit`` columns are chosen, under rows over any groups."""

    def __init__(self, rows: Rows, limit: int) -> None:
        self._rows, self._limit = rows, limit
        size = rows.matrix.shape[1]
        self._system = LinearSystem.from_rows([rows], size, [""] * size)
        self._groups = lru_cache(maxsize=64)(self._nested)

    def bracket(
        self,
        weights: FloatArray,
        limits: Limits,
    ) -> tuple[ActionArray, float] | None:
        """Return the best action by ``weights``, ``(N,)``, and what it is worth.

        ``None`` where a solver has to decide.
        """
        nothing = np.full(len(weights), -1, dtype=np.int8)
        order = tuple(range(self._system.n_rows))
        for _ in range(_MOST_RELAXATIONS):
            groups = self._groups(order)
            action = None if groups is None else groups.best(weights, nothing)
            if action is None:
                return None
            _, low, high = self._system.broken(action[:, None].astype(np.float64))
            broken = np.flatnonzero((low | high)[:, 0]).tolist()
            if not broken:
                return action, float(weights @ action)
            order = (*broken, *(row for row in order if row not in broken))
        return None

    def _nested(self, order: Iterable[int]) -> GroupRows | None:
        """Take in rows one by one, but those that overlap in part with others before them."""
        kept = np.zeros(self._system.n_rows, dtype=np.bool_)
        groups = GroupRows.of(self._rows.only(kept), self._limit)
        for row in order:
            kept[row] = True
            wider = GroupRows.of(self._rows.only(kept), self._limit)
            if wider is None:
                kept[row] = False
            else:
                groups = wider
        return groups
