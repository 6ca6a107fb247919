"""The best routes for a weight per arm: column generation, then all routes that could matter."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.problem.spaces.team.pricing import NgPaths
from sequoia.problem.spaces.team.routes import Map
from sequoia.problem.spaces.team.time_flow import walker_groups
from sequoia.scaling import unit_of
from sequoia.solvers import Highs, Limits, Program
from sequoia.validation import FloatArray, IntArray

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
# About a second of listing; the gap is said where there are more.
_MOST_LABELS = 60_000
_MOST_NODES = 3_000


@dataclass(frozen=True)
class Bracket:
    """Routes, what they are worth, and what no routes are worth more than."""

    routes: list[list[int]]
    value: float
    bound: float


class TeamSearch:
    """Maximises the weights of the arms that a team serves."""

    def __init__(self, own: Map) -> None:
        self._map = own
        self._groups = walker_groups(own)

    @cached_property
    def _paths(self) -> list[NgPaths]:
        return [NgPaths(self._map, int(group[0]), _MEMORY) for group in self._groups]

    def best(self, weights: FloatArray, gap: float) -> Bracket:
        """Return routes within a relative ``gap`` of the best, or as near as work allows."""
        unit = unit_of(weights)
        found = _Question(self._map, self._groups, self._paths, np.maximum(weights / unit, 0.0))
        found.generate(gap)
        if found.gap > gap:
            found.improve(gap)
        if found.gap > gap:
            found.list_all()
        # A path may pass through stops that are worth nothing or less; ways are shortest ones, so
        # that a route without them takes no longer.
        routes = [[arm for arm in route if weights[arm] > 0] for route in found.routes]
        return Bracket(routes, found.value * unit, max(found.bound, found.value) * unit)


class _Question:
    """The routes found for one set of weights, ``(J,)``, and the best bound."""

    def __init__(
        self, own: Map, groups: list[IntArray], paths: list[NgPaths], weights: FloatArray
    ) -> None:
        self._map, self._groups, self._paths, self._weights = own, groups, paths, weights
        self._columns: dict[tuple[int, frozenset[int]], list[int]] = {}
        self._loops: set[tuple[int, tuple[int, ...]]] = set()
        self.routes: list[list[int]] = [[] for _ in own.limits]
        self.value, self.bound = 0.0, float(weights.sum())
        self._prices = np.zeros(len(weights))

    @property
    def gap(self) -> float:
        """How far the routes are from the bound, relative to it."""
        return max(0.0, self.bound - self.value) / max(self.bound, 1e-300)

    def generate(self, gap: float) -> None:
        """Improve routes and bound in turn, by routes that pay more than arms are priced at."""
        for ease in _EASES:
            self._keep(self._map.fill(self.routes, self._weights, ease))
        if self.gap <= _EXACT:
            return
        for _ in range(_MOST_ROUNDS):
            prices, value = self._master()
            is_new = self._price(_SMOOTHING * self._prices + (1 - _SMOOTHING) * prices)
            # Prices that are not those of the mixture may find nothing where those would.
            is_new = is_new or self._price(prices)
            is_settled = self.bound - value <= max(0.1 * gap, _EXACT) * self.bound
            if is_settled or not is_new:
                break
        self._choose()

    def improve(self, gap: float) -> None:
        """Drop some stops and fill up again, by weights that differ a little; then choose anew."""
        rng = np.random.default_rng(0)
        for _ in range(_RUINS):
            kept = [[arm for arm in own if rng.random() > _DROPPED] for own in self.routes]
            weights = self._weights * rng.uniform(0.7, 1.3, len(self._weights))
            self._keep(self._map.fill(kept, weights, float(rng.choice(_EASES))))
            if self.gap <= gap:
                return
        self._choose()

    def _keep(self, routes: Iterable[list[int]]) -> None:
        """Remember routes, one for each walker, as columns, and as the best if they are."""
        routes = list(routes)
        for walker, route in enumerate(routes):
            self._add(self._group_of[walker], route)
        value = float(self._weights[[arm for route in routes for arm in route]].sum())
        if value > self.value:
            self.routes, self.value = routes, value

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

    def _matrix(self, keys: list[tuple[int, Iterable[int]]]) -> tuple[csr_array, csr_array]:
        """Return how often each column serves each arm, and which group it is of."""
        arm = [j for _, arms in keys for j in arms]
        column = np.repeat(np.arange(len(keys)), [len(list(arms)) for _, arms in keys])
        shape = (len(self._weights), len(keys))
        served = csr_array((np.ones(len(arm)), (arm, column)), shape=shape)
        group = [which for which, _ in keys]
        ones = np.ones(len(keys))
        of_group = csr_array((ones, (group, np.arange(len(keys)))), (len(self._groups), len(keys)))
        return served, of_group

    @property
    def _rooms(self) -> FloatArray:
        return np.array([len(group) for group in self._groups], dtype=np.float64)

    def _master(self) -> tuple[FloatArray, float]:
        """Return prices of arms, ``(J,)``, and the value of the best mixture of paths."""
        keys: list[tuple[int, Iterable[int]]] = [*self._columns, *sorted(self._loops)]
        served, of_group = self._matrix(keys)
        matrix = sparse.vstack([served, of_group], format="csr")
        upper = np.concatenate([np.ones(len(self._weights)), self._rooms])
        program = Program(
            self._weights @ served,
            matrix,
            np.full(len(upper), -np.inf),
            upper,
            np.zeros(len(keys)),
            np.full(len(keys), np.inf),
            np.zeros(len(keys), dtype=np.bool_),
        )
        solved = Highs().solve(program)
        if solved.row_duals is None:
            return self._prices, -np.inf
        return np.maximum(solved.row_duals[: len(self._weights)], 0.0), solved.objective

    def _price(self, prices: FloatArray) -> bool:
        """Bound by prices, ``sum p + sum over walkers of max (w - p)(route)``; keep new paths."""
        worth = self._weights - prices
        bound, is_new = float(prices.sum()), False
        for which, (group, paths) in enumerate(zip(self._groups, self._paths, strict=True)):
            paths.solve(worth)
            bound += len(group) * paths.value()
            for route in paths.routes(_ROUTES_A_ROUND):
                is_new |= self._add(which, route)
        if bound < self.bound:
            self.bound, self._prices = bound, prices
        return is_new

    def _choose(self) -> float:
        """Choose the best of all real routes; return a bound on that."""
        keys = list(self._columns)
        served, of_group = self._matrix(list(keys))
        n_arms = len(self._weights)
        matrix = sparse.vstack(
            [
                sparse.hstack([sparse.eye_array(n_arms), -served]),
                sparse.hstack([csr_array((len(self._groups), n_arms)), of_group]),
            ],
            format="csr",
        )
        size = n_arms + len(keys)
        program = Program(
            np.concatenate([self._weights, np.zeros(len(keys))]),
            matrix,
            np.full(matrix.shape[0], -np.inf),
            np.concatenate([np.zeros(n_arms), self._rooms]),
            np.zeros(size),
            np.ones(size),
            np.arange(size) >= n_arms,
        )
        solved = Highs().solve(program, Limits(gap=_EXACT, nodes=_MOST_NODES))
        if solved.values is not None:
            self._hand_out([keys[c] for c in np.flatnonzero(solved.values[n_arms:] > 0.5)])
        return solved.bound

    def _hand_out(self, keys: list[tuple[int, frozenset[int]]]) -> None:
        """Give routes to walkers, each arm once, and fill them up."""
        free = [group.tolist() for group in self._groups]
        routes: list[list[int]] = [[] for _ in self._map.limits]
        served: set[int] = set()
        for key in keys:
            route = [arm for arm in self._columns[key] if arm not in served]
            routes[free[key[0]].pop(0)] = route
            served.update(route)
        for ease in _EASES[:3]:
            self._keep(self._map.fill(routes, self._weights, ease))

    def list_all(self) -> None:
        """List all routes that lose less than the gap at the best prices, and choose of these.

        A solution is worth ``sum p + sum of (w - p)(route)`` at most. So a route that is worth less
        than the best path of its walker by more than the gap is in no better solution.
        """
        worth, gap = self._weights - self._prices, self.bound - self.value
        for which, paths in enumerate(self._paths):
            paths.solve(worth)
            listed = self._listed(which, paths, paths.value() - gap * (1 + 1e-6), worth)
            if listed is None:
                return
            for route in listed:
                self._add(which, route)
        self.bound = min(self.bound, max(self._choose(), self.value))

    def _listed(
        self, which: int, paths: NgPaths, least: float, worth: FloatArray
    ) -> list[list[int]] | None:
        """Return every route worth ``least`` or more; ``None`` where they are too many.

        Routes grow from their end; the best path to their first stop bounds what is still to come.
        Of routes with the same stops and the same first one, only the shortest matters.
        """
        own, walker = self._map, int(self._groups[which][0])
        limit, best = int(own.limits[walker]), paths.by_arm
        out, home = own.out[walker].tolist(), own.home[walker].tolist()
        between, gains = own.between.tolist(), worth.tolist()
        arms = np.flatnonzero(own.is_in_reach[walker]).tolist()
        level = {
            (arm, 1 << arm): (home[arm], gains[arm], [arm])
            for arm in arms
            if best[limit - home[arm], arm] >= least
        }
        found: dict[int, tuple[int, list[int]]] = {}
        labels = 0
        while level:
            labels += len(level)
            if labels > _MOST_LABELS:
                return None
            following: dict[tuple[int, int], tuple[int, float, list[int]]] = {}
            for (arm, mask), (minutes, value, route) in level.items():
                if value >= least and minutes + out[arm] < found.get(mask, (limit + 1, []))[0]:
                    found[mask] = minutes + out[arm], route
                for other in arms:
                    if mask >> other & 1:
                        continue
                    then = minutes + between[other][arm]
                    if then + out[other] > limit or value + best[limit - then, other] < least:
                        continue
                    key = (other, mask | 1 << other)
                    if key not in following or then < following[key][0]:
                        following[key] = then, value + gains[other], [other, *route]
            level = following
        return [route for _, route in found.values()]
