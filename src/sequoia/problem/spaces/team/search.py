"""The best routes for a weight per arm: column generation, then all routes that could matter."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sequoia.problem.names import Numbered
from sequoia.problem.spaces.mending import without_broken_rows
from sequoia.problem.spaces.team.listing import routes_worth
from sequoia.problem.spaces.team.pricing import NgPaths
from sequoia.problem.spaces.team.routes import Map
from sequoia.problem.spaces.team.time_flow import walker_groups
from sequoia.problem.system import LinearSystem, Rows
from sequoia.scaling import unit_of
from sequoia.solvers import Highs, Limits, Program
from sequoia.validation import BoolArray, FloatArray, IntArray

# Arms that a path remembers: more make bounds tighter, and states double with each.
_MEMORY = 8
# Rounds of dropping some stops and filling up again, and the share of stops dropped.
_RUINS, _DROPPED = 150, 0.3
# How much detours count when the first routes grow.
_EASES = (0.0, 2.0, 5.0, 10.0, 30.0)
_MOST_ROUNDS = 150
# New prices keep this share of the best ones (Wentges 1997), which move less from round to round.
_SMOOTHING = 0.5
_ROUTES_A_ROUND = 12
# What a bound and a value may differ by, relative to the bound, and be the same.
_EXACT = 1e-9
# No row is worth more than so many of the largest weight; at first, paths may break rows for it.
_DEAREST = 20.0
_MOST_NODES = 3_000
# Parts of routes that are listed: as long as one round of pricing takes, and about a second.
_FEW_LABELS, _MOST_LABELS = 4_000, 60_000


@dataclass(frozen=True)
class Bracket:
    """Routes, what they are worth, and what no routes are worth more than."""

    routes: list[list[int]]
    value: float
    bound: float


class TeamSearch:
    """Maximises the weights of the arms that a team serves, perhaps under rows over arms."""

    def __init__(self, own: Map, rows: Rows | None = None) -> None:
        self._map = own
        self._groups = walker_groups(own)
        names = Numbered("arm", own.n_arms)
        self._rows = LinearSystem.from_rows([] if rows is None else [rows], own.n_arms, names)

    @cached_property
    def _paths(self) -> list[NgPaths]:
        return [NgPaths(self._map, int(group[0]), _MEMORY) for group in self._groups]

    def best(self, weights: FloatArray, gap: float) -> Bracket | None:
        """Return routes within a relative ``gap`` of the best, or as near as work allows.

        ``None`` where none were found that keep the rows.
        """
        unit = unit_of(weights)
        found = _Question(self._map, self._groups, self._paths, weights / unit, self._rows)
        found.generate(gap)
        # Once paths have prices, few routes are mostly left to list; else better ones leave fewer.
        if found.gap > gap and not found.list_all(_FEW_LABELS):
            found.improve(gap)
            if found.gap > gap:
                found.list_all(_MOST_LABELS)
        if not np.isfinite(found.value):
            return None
        return Bracket(found.routes, found.value * unit, max(found.bound, found.value) * unit)


class _Prices(NamedTuple):
    """What a stop at each arm is worth to a route, ``(J,)``, and prices of rows, ``(R,)``."""

    stops: FloatArray
    rows: FloatArray

    def mixed(self, other: "_Prices", share: float) -> "_Prices":
        """Return prices between both, which are these by a share."""
        return _Prices(
            *(share * own + (1 - share) * new for own, new in zip(self, other, strict=True))
        )


class _Question:
    """The routes found for one set of weights, ``(J,)``, and the best bound.

    The master has a column for each arm and each path::

        max w a  with  a_j <= sum of x_r over paths through j  (price p_j >= 0),
                       sum of x_r over the paths of a group <= its walkers,
                       l <= G a <= u                           (price m),

    so that no routes are worth more than, for any such prices,
    ``sum_j max(0, w - p - m G)_j + sum over walkers of max_r p(r) + max(m l, m u)``.
    """

    def __init__(
        self,
        own: Map,
        groups: list[IntArray],
        paths: list[NgPaths],
        weights: FloatArray,
        rows: LinearSystem,
    ) -> None:
        self._map, self._groups, self._paths, self._weights = own, groups, paths, weights
        self._rows = rows
        self._columns: dict[tuple[int, frozenset[int]], list[int]] = {}
        self._loops: set[tuple[int, tuple[int, ...]]] = set()
        self.routes: list[list[int]] = [[] for _ in own.limits]
        self.value, self.bound = -np.inf, float(np.maximum(weights, 0.0).sum())
        self._keep(self.routes)
        self._prices = _Prices(np.maximum(weights, 0.0), np.zeros(rows.n_rows))

    @property
    def gap(self) -> float:
        """How far the routes are from the bound, relative to it."""
        return max(0.0, self.bound - self.value) / max(abs(self.bound), 1e-300)

    @property
    def _priced(self) -> FloatArray:
        """What each arm is worth with what it does for the rows, ``(J,)``."""
        priced: FloatArray = self._weights - self._prices.rows @ self._rows.matrix
        return priced

    def generate(self, gap: float) -> None:
        """Improve routes and bound in turn, by routes that pay more than arms are priced at."""
        for ease in _EASES:
            self._keep(self._map.fill(self.routes, self._weights, ease))
        if self.gap <= _EXACT:
            return
        for _ in range(_MOST_ROUNDS):
            prices, value = self._master()
            is_new = self._price(self._prices.mixed(prices, _SMOOTHING))
            # Prices that are not those of the mixture may find nothing where those would.
            is_new = is_new or self._price(prices)
            is_settled = self.bound - value <= max(0.1 * gap, _EXACT) * abs(self.bound)
            if is_settled or not is_new:
                break
        self._choose()

    def improve(self, gap: float) -> None:
        """Drop some stops and fill up again, by weights that differ a little; then choose anew."""
        rng = np.random.default_rng(0)
        for _ in range(_RUINS):
            kept = [[arm for arm in own if rng.random() > _DROPPED] for own in self.routes]
            weights = self._priced * rng.uniform(0.7, 1.3, len(self._weights))
            self._keep(self._map.fill(kept, weights, float(rng.choice(_EASES))))
            if self.gap <= gap:
                return
        self._choose()

    def _keep(self, routes: Iterable[list[int]]) -> None:
        """Remember routes, one for each walker, as columns, and as the best if they are.

        Stops that lose something, or break rows, are left out: ways are shortest ones, so that a
        route without them takes no longer.
        """
        routes = list(routes)
        for walker, route in enumerate(routes):
            self._add(self._group_of[walker], route)
        action = self._map.action(routes)
        if not self._rows.n_rows:
            action[self._weights <= 0] = 0
        kept = without_broken_rows(self._rows, action, self._weights)
        if kept is not None and self._weights @ kept > self.value:
            self.routes = [[arm for arm in route if kept[arm]] for route in routes]
            self.value = float(self._weights @ kept)

    @cached_property
    def _group_of(self) -> list[int]:
        group_of = np.zeros(len(self._map.limits), dtype=np.int64)
        for which, group in enumerate(self._groups):
            group_of[group] = which
        return group_of.tolist()

    def _add(self, group: int, route: list[int]) -> bool:
        """Remember a path; say whether it is new."""
        arms = frozenset(route)
        if not arms:
            return False
        if len(arms) < len(route):
            size = len(self._loops)
            self._loops.add((group, tuple(sorted(route))))
            return len(self._loops) > size
        is_new = (group, arms) not in self._columns
        self._columns.setdefault((group, arms), route)
        return is_new

    @property
    def _rooms(self) -> FloatArray:
        return np.array([len(group) for group in self._groups], dtype=np.float64)

    def _program(self, keys: list[tuple[int, Iterable[int]]], is_whole: bool) -> Program:
        """Return the master over some paths; in fractions, rows may be broken at a price."""
        n_arms, n_groups, n_rows = len(self._weights), len(self._groups), self._rows.n_rows
        size, rows = n_arms + len(keys), self._rows.matrix.tocoo()
        broken = np.arange(0 if is_whole else n_rows)
        path = n_arms + np.arange(len(keys))
        stops = [
            (arm, column)
            for column, (_, arms) in zip(path.tolist(), keys, strict=True)
            for arm in arms
        ]
        stop, of = np.array(stops, dtype=np.int64).reshape(-1, 2).T
        arm, below = np.arange(n_arms), n_arms + n_groups
        # Blocks of rows, columns and values: an arm is served by paths, paths are of groups, rules.
        blocks = [
            (arm, arm, np.ones(n_arms)),
            (stop, of, np.full(len(stop), -1.0)),
            (
                n_arms + np.array([group for group, _ in keys], dtype=np.int64),
                path,
                np.ones(len(keys)),
            ),
            (below + rows.row, rows.col, rows.data),
            (below + broken, size + broken, np.ones(len(broken))),
            (below + broken, size + len(broken) + broken, np.full(len(broken), -1.0)),
        ]
        row, column, value = (np.concatenate(part) for part in zip(*blocks, strict=True))
        penalty = np.full(2 * len(broken), -_DEAREST)
        matrix = csr_array((value, (row, column)), (below + n_rows, size + len(penalty)))
        upper = np.concatenate([np.zeros(n_arms), self._rooms, self._rows.upper])
        lower = np.concatenate([np.full(below, -np.inf), self._rows.lower])
        return Program(
            np.concatenate([self._weights, np.zeros(len(keys)), penalty]),
            matrix,
            lower,
            upper,
            np.zeros(size + len(penalty)),
            np.concatenate([np.ones(size), np.full(len(penalty), np.inf)]),
            # With whole routes and no rows, arms are whole by themselves.
            np.arange(size + len(penalty)) >= (0 if n_rows else n_arms)
            if is_whole
            else np.zeros(size + len(penalty), dtype=np.bool_),
        )

    def _master(self) -> tuple[_Prices, float]:
        """Return prices, and the value of the best mixture of paths."""
        solved = Highs().solve(self._program([*self._columns, *sorted(self._loops)], False))
        if solved.row_duals is None:
            return self._prices, -np.inf
        n_arms = len(self._weights)
        stops = np.maximum(solved.row_duals[:n_arms], 0.0)
        rows = solved.row_duals[n_arms + len(self._groups) :]
        is_low, is_high = np.isfinite(self._rows.lower), np.isfinite(self._rows.upper)
        rows = np.where(is_low, np.minimum(rows, 0), 0) + np.where(is_high, np.maximum(rows, 0), 0)
        return _Prices(stops, rows), solved.objective

    def _price(self, prices: _Prices) -> bool:
        """Bound by prices, and keep new paths; return whether there are any."""
        own = self._rows
        side = np.where(prices.rows > 0, own.upper, np.where(prices.rows < 0, own.lower, 0.0))
        left = self._weights - prices.stops - prices.rows @ own.matrix
        bound, is_new = float(np.maximum(left, 0.0).sum() + prices.rows @ side), False
        for which, (group, paths) in enumerate(zip(self._groups, self._paths, strict=True)):
            paths.solve(prices.stops)
            bound += len(group) * paths.value()
            for route in paths.routes(_ROUTES_A_ROUND):
                is_new |= self._add(which, route)
        if bound < self.bound:
            self.bound, self._prices = bound, prices
        return is_new

    def _choose(self) -> float:
        """Choose the best of all real routes; return a bound on that."""
        keys = list(self._columns)
        program = self._program(list(keys), True)
        solved = Highs().solve(program, Limits(gap=_EXACT, nodes=_MOST_NODES))
        if solved.values is not None:
            n_arms = len(self._weights)
            chosen = np.flatnonzero(solved.values[n_arms:] > 0.5).tolist()
            self._hand_out([keys[column] for column in chosen], solved.values[:n_arms] > 0.5)
        return solved.bound

    def _hand_out(self, keys: list[tuple[int, frozenset[int]]], is_served: BoolArray) -> None:
        """Give routes to walkers, each arm once, and fill them up."""
        free = [group.tolist() for group in self._groups]
        routes: list[list[int]] = [[] for _ in self._map.limits]
        served = set(np.flatnonzero(~is_served).tolist())
        for key in keys:
            route = [arm for arm in self._columns[key] if arm not in served]
            routes[free[key[0]].pop(0)] = route
            served.update(route)
        self._keep(routes)
        for ease in _EASES[:3]:
            self._keep(self._map.fill(routes, self._priced, ease))

    def list_all(self, most: int) -> bool:
        """List all routes that lose less than the gap at the best prices, and choose of these.

        Returns whether ``most`` labels were enough.

        A solution is worth the bound at most, less what its routes are worth less than the best
        paths. So a route that is worth less than the best path of its walker by more than the gap
        is in no better solution.
        """
        stops, gap = self._prices.stops, self.bound - self.value
        if not np.isfinite(gap):
            return False
        for which, paths in enumerate(self._paths):
            paths.solve(stops)
            walker = int(self._groups[which][0])
            least = paths.value() - gap * (1 + 1e-6)
            listed = routes_worth(self._map, walker, paths, least, stops, most)
            if listed is None:
                return False
            for route in listed:
                self._add(which, route)
        self.bound = min(self.bound, max(self._choose(), self.value))
        return True
