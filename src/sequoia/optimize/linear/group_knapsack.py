"""The best combinations for groups that share a few arms, within one budget: no solver."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sequoia.optimize.dose_groups import DoseGroup
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import LinearSystem
from sequoia.problem.system import room
from sequoia.validation import ActionArray, FloatArray, IntArray

# Ways to go on, times amounts, of all groups: a few milliseconds for one state.
_MOST_CELLS = 2_000_000
# The same times states that are gone through together: some ten megabytes.
_TOGETHER = 4_000_000
# Ways to go on from one group: beyond, groups hang together too much, and a program is quicker.
_MOST_WAYS = 4_096


@dataclass(frozen=True, eq=False)
class _Stage:
    """The ways in which one group goes on from the groups before it.

    A *way* is a combination of the group together with what arms of earlier groups get that later
    ones share, and that agrees with it.

    Attributes
    ----------
    group
        Which one.
    before, combination, costs
        Of each way, ``(W,)``: what earlier arms get, by its number after the stage before; the
        group's combination; what arms that are new here cost.
    ways
        By what arms that later groups share get, ``(T, m)``: the ways that lead there; W for none.
    """

    group: int
    before: IntArray
    combination: IntArray
    costs: IntArray
    ways: IntArray


class GroupKnapsack:
    """A knapsack over tables of groups that overlap, many at once, exact.

    Groups are gone through so that few arms are shared between those before and those after. With
    f what the shared arms get and l the amount left, the best so far is
    ``V_g(f', l) = max v_g(d) + V_(g-1)(f, l - c(d))`` over the ways (f, d) that lead to f':
    nonserial dynamic programming (Bertelè and Brioschi 1972) with a knapsack's amounts.
    """

    def __init__(
        self, stages: Sequence[_Stage], limit: int, groups: Sequence[DoseGroup], columns: IntArray
    ) -> None:
        self._stages, self._limit = stages, limit
        self._groups, self._columns = groups, columns
        widest = max(stage.ways.size for stage in stages)
        self._size = max(1, _TOGETHER // (widest * (limit + 1)))

    @classmethod
    def of(cls, encoding: ActionEncoding, groups: Sequence[DoseGroup]) -> "GroupKnapsack | None":
        """Return it where one row of whole costs is all the rules, and groups hang loosely."""
        whole = _whole_costs(encoding.system)
        if whole is None or encoding.dose_indicators is not None:
            return None
        costs, limit = whole
        reads = encoding.level_input.max(axis=1)  # (J,): no arm has more than one column
        arms = np.unique(np.concatenate([group.arms for group in groups]))
        inputs = reads[arms][reads[arms] >= 0]
        if len(np.unique(inputs)) < len(inputs):
            return None
        by_level = np.where(
            encoding.level_input >= 0, np.append(costs, 0)[encoding.level_input], -1
        )
        by_level[:, 0] = 0
        stages = []
        for stage in _stages(groups, by_level):
            stages.append(stage)
            if stage is None or stage.ways.size * (limit + 1) * len(groups) > _MOST_CELLS:
                return None
        return cls([stage for stage in stages if stage is not None], limit, groups, reads)

    def best(self, tables: Sequence[FloatArray], n_actions: int) -> ActionArray:
        """Return the best actions, ``(B, N)``, by ``(B, D)`` for each group."""
        starts = range(0, len(tables[0]), self._size)
        parts = [
            self._best([table[first : first + self._size] for table in tables], n_actions)
            for first in starts
        ]
        return np.concatenate([np.zeros((0, n_actions), np.int8), *parts])

    def _best(self, tables: Sequence[FloatArray], n_actions: int) -> ActionArray:
        each = np.arange(len(tables[0]))
        values = np.zeros((len(each), 1, self._limit + 1))
        picked = []
        for stage in self._stages:
            gains = tables[stage.group][:, stage.combination]
            after = np.full((len(each), len(stage.costs) + 1, self._limit + 1), -np.inf)
            for cost in np.unique(stage.costs[stage.costs <= self._limit]).tolist():
                way = np.flatnonzero(stage.costs == cost)
                earlier = values[:, stage.before[way], : self._limit + 1 - cost]
                after[:, way, cost:] = earlier + gains[:, way, None]
            tried = after[:, stage.ways]  # (B, T, m, L)
            pick = tried.argmax(axis=2)
            values = np.take_along_axis(tried, pick[:, :, None], axis=2)[:, :, 0]
            picked.append(pick)
        actions = np.zeros((len(each), n_actions), dtype=np.int8)
        reached, left = np.zeros(len(each), np.int64), values[:, 0].argmax(axis=1)
        for stage, pick in zip(reversed(self._stages), reversed(picked), strict=True):
            way = stage.ways[reached, pick[each, reached, left]]
            group = self._groups[stage.group]
            columns = self._columns[group.arms]
            is_own = columns >= 0
            levels = group.doses[stage.combination[way]][:, is_own]
            actions[:, columns[is_own]] = levels > 0
            reached, left = stage.before[way], left - stage.costs[way]
        return actions


def _whole_costs(system: LinearSystem) -> tuple[IntArray, int] | None:
    """Return the costs and the limit of the only row, where they are whole or all the same."""
    is_plain = system.n_rows == 1 and system.n_columns == system.n_actions
    if not is_plain or (system.column_upper != 1).any() or system.lower[0] > 0:
        return None
    costs = system.matrix.toarray()[0]
    least, limit = float(costs.min(initial=np.inf)), float(room(system.upper[0]))
    if least > 0 and (costs == least).all():
        return np.ones(len(costs), dtype=np.int64), int(min(limit / least, len(costs)))
    if least < 0 or (costs != np.rint(costs)).any():
        return None
    return costs.astype(np.int64), int(min(limit, costs.sum()))


def _stages(groups: Sequence[DoseGroup], by_level: IntArray) -> Iterator[_Stage | None]:
    """Yield a stage for each group; ``None`` for one with too many ways, or none.

    ``by_level`` is what each level of each arm costs, ``(J, L)``; -1 where it is not possible.
    """
    shared = np.empty(0, dtype=np.int64)  # arms before that are still needed
    known = np.zeros((1, 0), dtype=np.int64)  # what they may get
    met: set[int] = set()
    for place, needed in _order(groups):
        group = groups[place]
        possible = np.flatnonzero((by_level[group.arms, group.doses] >= 0).all(axis=1))
        both, here, there = np.intersect1d(shared, group.arms, return_indices=True)
        if len(known) * len(possible) > _MOST_WAYS**2:
            yield None
            return
        agrees = (known[:, None, here] == group.doses[possible][None, :, there]).all(axis=2)
        before, way = np.nonzero(agrees)
        combination = possible[way]
        if not 0 < len(way) <= _MOST_WAYS:
            yield None
            return
        is_new = ~np.isin(group.arms, list(met))
        costs = by_level[group.arms, group.doses[combination]][:, is_new].sum(axis=1)
        every = np.concatenate([shared, group.arms[~np.isin(group.arms, both)]])
        levels = np.concatenate(
            [known[before], group.doses[combination][:, ~np.isin(group.arms, both)]], axis=1
        )
        is_kept = np.isin(every, list(needed))
        shared = every[is_kept]
        known, leads = np.unique(levels[:, is_kept], axis=0, return_inverse=True)
        met |= set(group.arms.tolist())
        yield _Stage(place, before, combination, costs, _by_target(leads.reshape(-1), len(known)))


def _by_target(leads: IntArray, count: int) -> IntArray:
    """Return the ways that lead to each of some places, ``(T, m)``, filled up with W."""
    sizes = np.bincount(leads, minlength=count)
    leading = np.full((count, sizes.max()), len(leads))
    order = np.argsort(leads, kind="stable")
    column = np.arange(len(leads)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    leading[leads[order], column] = order
    return leading


def _order(groups: Sequence[DoseGroup]) -> Iterator[tuple[int, set[int]]]:
    """Yield groups so that few arms are shared with those left, and the arms of those left."""
    members = [set(group.arms.tolist()) for group in groups]
    left = dict(enumerate(members))
    count = {arm: sum(arm in own for own in members) for arm in set().union(*members)}
    shared: set[int] = set()
    while left:

        def kept(place: int) -> tuple[int, int]:
            own = shared | left[place]  # noqa: B023 (used at once)
            return sum(count[arm] > (arm in left[place]) for arm in own), place

        place = min(left, key=kept)
        own = left.pop(place)
        for arm in own:
            count[arm] -= 1
        shared = {arm for arm in shared | own if count[arm]}
        yield place, {arm for arm, times in count.items() if times}
