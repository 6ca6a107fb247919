"""The heaviest few columns under rows over groups of columns, exactly, by sorting.

Groups are nested or apart: a laminar family. For a number ``m`` of chosen columns, each row asks
for at least and at most so many of a group. What a group is worth with ``k`` columns is then
concave in ``k``, so that one price of a column, lower in groups that have to be filled and higher
in those that are full, decides all (greedy on a generalised polymatroid; Frank and Tardos 1988).

Where some groups overlap in part, some rows are left out, so that the others are nested or apart: a
relaxation. Where its best action keeps the rows that were left out, it is the best of all; else the
rows that it breaks are the first that the next relaxation takes in. Few rows of many matter at a
time, so that one or two relaxations mostly do; where rows that overlap matter at once, a solver
decides.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sequoia.problem.system import TOLERANCE, LinearSystem, Rows
from sequoia.solvers import Limits
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class GroupRows:
    """At most so many columns are chosen, under rows over groups.

    Attributes
    ----------
    group_of
        The innermost group of each column, ``(N,)``; the last one holds all.
    parent
        The group around each group, ``(G,)``, which comes later; -1 for the last.
    least, most
        How many of each group, where ``m`` are chosen in all, ``(G, M + 1)``.
    """

    group_of: IntArray
    parent: tuple[int, ...]
    least: IntArray
    most: IntArray

    @classmethod
    def of(cls, rows: Rows, limit: int) -> "GroupRows | None":
        """Return the rows as groups; ``None`` where they are something else."""
        dense = rows.matrix.toarray()
        size = dense.shape[1]
        total = np.arange(limit + 1)
        groups_by_columns: dict[bytes, tuple[BoolArray, IntArray, IntArray]] = {}
        for row, lower, upper in zip(dense, rows.lower, rows.upper, strict=True):
            values = np.unique(row)
            if len(values) > 2:
                return None
            # A count has nothing outside; of a share, the outside is on its other side.
            outside = 0.0 if len(values) == 1 or 0.0 in values else float(values[0])
            inside = row != outside
            value = float(row[inside][0]) if inside.any() else 1.0
            least, most = _numbers(value, outside, float(lower), float(upper), total)
            before = groups_by_columns.get(inside.tobytes(), (inside, np.zeros_like(total), total))
            groups_by_columns[inside.tobytes()] = (
                inside,
                np.maximum(before[1], least),
                np.minimum(before[2], most),
            )
        everything = np.ones(size, dtype=np.bool_)
        total_group = groups_by_columns.pop(everything.tobytes(), (everything, total, total))
        groups = sorted(groups_by_columns.values(), key=lambda group: int(group[0].sum()))
        return cls._nested(
            [*groups, (everything, np.maximum(total_group[1], total), total_group[2])]
        )

    @classmethod
    def _nested(cls, groups: list[tuple[BoolArray, IntArray, IntArray]]) -> "GroupRows | None":
        """Return a tree of groups, the smallest first; ``None`` where some overlap in part."""
        parent = []
        group_of = np.full(len(groups[-1][0]), len(groups) - 1)
        for index, (inside, _, _) in enumerate(groups):
            around = -1
            for other in range(len(groups) - 1, index, -1):
                shared = (inside & groups[other][0]).sum()
                if shared not in (0, inside.sum()):
                    return None
                around = other if shared == inside.sum() else around
            parent.append(around)
            group_of[inside & (group_of == len(groups) - 1)] = index
        least, most = (np.array([group[side] for group in groups]) for side in (1, 2))
        # What groups inside need is needed outside, and no more is had than they and others give.
        sizes = np.bincount(group_of, minlength=len(groups))
        needed, had = np.zeros_like(least), np.repeat(sizes[:, None], least.shape[1], axis=1)
        for index, around in enumerate(parent):
            least[index] = np.maximum(least[index], needed[index])
            most[index] = np.minimum(most[index], had[index])
            if around >= 0:
                needed[around] += least[index]
                had[around] += most[index]
        return cls(group_of, tuple(parent), least, most)

    def best(self, weights: FloatArray, settled: ActionArray) -> ActionArray | None:
        """Return the best action by ``weights``, ``(N,)``; ``None`` where there is none.

        What is settled, 0 or 1 instead of -1, ``(N,)``, weighs more than all else together: an
        exact penalty. The numbers in all are tried one by one, those first that could be best.
        Each leaves a bound on all the others: see `_Ranked.bounds`.
        """
        is_possible = (self.least <= self.most).all(axis=0)
        if not is_possible.any():
            return None
        heavy = 1 + 2 * float(np.abs(weights).sum())
        weights = weights + heavy * np.array([-1.0, 1.0, 0.0])[settled]
        ranked = _Ranked(self, weights)
        bounds = np.where(is_possible, np.inf, -np.inf)
        possible = np.flatnonzero(is_possible)
        wanted = int((weights > 0).sum())
        number = int(possible[min(int(np.searchsorted(possible, wanted)), len(possible) - 1)])
        best = ranked.cut(number)
        cut = best
        while True:
            bounds = np.minimum(bounds, ranked.bounds(cut))
            bounds[cut.number] = -np.inf
            number = int(bounds.argmax())
            if bounds[number] <= best.value:
                action = ranked.action(best)
                return action if ((settled < 0) | (action == settled)).all() else None
            cut = ranked.cut(number)
            best = max(best, cut, key=lambda candidate: candidate.value)


class _Prices(NamedTuple):
    """A price of a column in each group.

    Attributes
    ----------
    rank
        So many of all columns, the heaviest first, are at least as heavy as it, ``(G,)``: those of
        a group are chosen.
    price
        ``(G,)``.
    """

    rank: IntArray
    price: FloatArray


class _Cut(NamedTuple):
    """The best choice of so many columns, and what prices it is best at, the highest and lowest."""

    number: int
    value: float
    highest: _Prices
    lowest: _Prices


class _Ranked:
    """The columns in the order of their weights."""

    def __init__(self, groups: GroupRows, weights: FloatArray) -> None:
        self._groups = groups
        self._order = np.argsort(-weights, kind="stable")
        self._weights = weights[self._order]
        self._of = groups.group_of[self._order]
        size, count = len(weights), len(groups.parent)
        self._places = np.arange(size)
        # How many of each group's own are among the first, (G, N + 1).
        self._own = np.zeros((count, size + 1), dtype=np.int64)
        np.cumsum(self._of == np.arange(count)[:, None], axis=1, out=self._own[:, 1:])

    def cut(self, number: int) -> _Cut:
        """Return the best choice of ``number`` columns."""
        groups, counts, w = self._groups, self._own.copy(), self._weights
        # With one price for all, how many of each group are chosen: never too few or too many.
        for index, around in enumerate(groups.parent[:-1]):
            least, most = groups.least[index, number], groups.most[index, number]
            counts[around] += np.minimum(np.maximum(counts[index], least), most)
        first = int(counts[-1].searchsorted(number))
        last = min(int(counts[-1].searchsorted(number + 1)), len(w)) - 1
        highest = self._prices(counts, number, first, w[max(first - 1, 0)])
        lowest = self._prices(counts, number, max(last, first), w[last])
        return _Cut(number, float(w[self._chosen(highest)].sum()), highest, lowest)

    def _prices(self, counts: IntArray, number: int, rank: int, price: float) -> _Prices:
        """Return prices of all groups, given that of the last, from the outermost inwards."""
        groups = self._groups
        ranks, prices = [rank] * len(counts), [price] * len(counts)
        for index in range(len(counts) - 2, -1, -1):
            around = groups.parent[index]
            ranks[index], prices[index] = ranks[around], prices[around]
            had = counts[index, ranks[around]]
            wanted = min(max(had, groups.least[index, number]), groups.most[index, number])
            if wanted != had:
                # What is forced costs as much as its last column; what is full, as the next one.
                end = ranks[index] = int(counts[index].searchsorted(wanted))
                prices[index] = self._weights[end - 1 if wanted > had else end]
        return _Prices(np.array(ranks), np.array(prices))

    def bounds(self, cut: _Cut) -> FloatArray:
        """Return what no choice of another number is worth more than, ``(M + 1,)``.

        With prices ``p`` of groups, of which one inside another differs by ``d`` from it,
        ``V(m') <= V(m) + p (m' - m) - sum of d (b(m') - b(m))``, where ``b`` is the least of a
        group whose columns are cheaper than around it, and the most of one whose are dearer: weak
        duality, with equality at ``m``.
        """
        groups, number = self._groups, cut.number
        around = np.array(groups.parent[:-1], dtype=np.int64)
        result = np.arange(groups.least.shape[1], dtype=np.float64) - number
        for price, side in (
            (cut.highest.price, slice(None, number)),
            (cut.lowest.price, slice(number, None)),
        ):
            rebate = (price[around] - price[:-1])[:, None]
            limits = np.where(rebate > 0, groups.least[:-1], groups.most[:-1])
            more = limits[:, side] - limits[:, [number]]
            result[side] = cut.value + price[-1] * result[side] - (rebate * more).sum(axis=0)
        return result

    def _chosen(self, prices: _Prices) -> BoolArray:
        chosen: BoolArray = self._places < prices.rank[self._of]
        return chosen

    def action(self, cut: _Cut) -> ActionArray:
        """Return the action, ``(N,)``."""
        action = np.zeros(len(self._order), dtype=np.int8)
        action[self._order[self._chosen(cut.highest)]] = 1
        return action


def _numbers(
    inside: float, outside: float, lower: float, upper: float, total: IntArray
) -> tuple[IntArray, IntArray]:
    """Return how many of a group a row asks for, at least and at most, ``(M + 1,)`` each.

    ``lower <= inside k + outside (m - k) <= upper`` for ``k`` of the group and ``m`` in all, judged
    as `LinearSystem.broken` does.
    """

    def excess(number: FloatArray, side: float, sign: float) -> BoolArray:
        """Say where ``number`` breaks a side: sums are too low, or with a sign of -1 too high."""
        sums = inside * number + outside * (total - number)
        size = abs(inside) * np.abs(number) + abs(outside) * np.abs(total - number)
        broken: BoolArray = sign * (side - sums) > TOLERANCE * (size + abs(side))
        return broken

    step, most_of_all = inside - outside, len(total)
    least, most = np.zeros(most_of_all), total.astype(np.float64)
    for side, sign in ((lower, 1.0), (upper, -1.0)):
        if not np.isfinite(side):
            continue
        number = (side - outside * total) / step
        if sign * step > 0:
            number = np.floor(number)
            least = np.maximum(least, number + excess(number, side, sign))
        else:
            number = np.ceil(number)
            most = np.minimum(most, number - excess(number, side, sign))
    return least.astype(np.int64), np.maximum(most, -1).astype(np.int64)


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
