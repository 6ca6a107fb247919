"""The best routes for a weight per arm: of a list of all, or by routing with prizes and bounds."""

import time
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

import numpy as np

from sequoia.problem.names import Numbered
from sequoia.problem.spaces.mending import without_broken_rows
from sequoia.problem.spaces.team.bounding import minutes_form
from sequoia.problem.spaces.team.engine import Interrupted, better_routes
from sequoia.problem.spaces.team.listing import routes_worth
from sequoia.problem.spaces.team.master import Bracket, Master, Prices
from sequoia.problem.spaces.team.pool import RoutePool, maximal_routes
from sequoia.problem.spaces.team.pricing import NgPaths
from sequoia.problem.spaces.team.routes import Map
from sequoia.problem.spaces.team.time_flow import walker_groups
from sequoia.problem.system import LinearSystem, Rows
from sequoia.scaling import unit_of
from sequoia.solvers import Highs, Limits
from sequoia.validation import BoolArray, FloatArray

# Arms that a path remembers: more make bounds tighter, and states double with each.
_MEMORY, _LEAST_MEMORY = 8, 3
# Minutes times moves between states that one round of pricing may look at: about a second.
_MOST_MOVES = 50_000_000
# The share of the time that prices may take, and of what is left then that routing may take.
_PRICING_SHARE, _ROUTING_SHARE = 0.4, 0.8
# How much detours count when the first routes grow.
_EASES = (0.0, 2.0, 5.0, 10.0, 30.0)
_MOST_ROUNDS = 150
# New prices keep this share of the best ones (Wentges 1997), which move less from round to round.
_SMOOTHING = 0.5
_ROUTES_A_ROUND = 12
# What a bound and a value may differ by, relative to the bound, and be the same.
_EXACT = 1e-9
# What the optimum of a linear program may be above what a solver says.
_CARE = 1e-6
_MOST_NODES = 3_000
# For a choice among routes, when time is up.
_LEAST_SECONDS = 0.1
# Parts of routes that are listed: as long as one round of pricing takes, and about a second.
_FEW_LABELS, _MOST_LABELS = 4_000, 60_000


class TeamSearch:
    """Maximises the weights of the arms that a team serves, perhaps under rows over arms."""

    def __init__(self, own: Map, rows: Rows | None = None) -> None:
        self._map, self._further = own, rows
        names = Numbered("arm", own.n_arms)
        system = LinearSystem.from_rows([] if rows is None else [rows], own.n_arms, names)
        self._master = Master(walker_groups(own), system)
        # What a search had found that Ctrl-C ended.
        self.unfinished: Bracket | None = None

    @cached_property
    def pool(self) -> RoutePool | None:
        """All routes, where they are few enough to list."""
        listed = [maximal_routes(self._map, int(group[0])) for group in self._master.groups]
        routes = [own for own in listed if own is not None]
        return RoutePool(self._map, self._master, routes) if len(routes) == len(listed) else None

    @cached_property
    def _paths(self) -> list[NgPaths]:
        """Paths of each group; none where they are too many to have prices."""
        groups, own = self._master.groups, self._map
        reach = [int(own.is_in_reach[group[0]].sum()) for group in groups]
        minutes = [int(own.limits[group[0]] - own.begins[group[0]]) for group in groups]
        moves = sum(n**2 * m for n, m in zip(reach, minutes, strict=True))
        memory = _MEMORY
        while memory > _LEAST_MEMORY and moves * 2 ** (memory - 1) > _MOST_MOVES:
            memory -= 1
        if moves * 2 ** (memory - 1) > _MOST_MOVES:
            return []
        return [NgPaths(own, int(group[0]), memory) for group in groups]

    @cached_property
    def _minutes(self) -> LinearSystem:
        own = self._map
        names, walkers = Numbered("arm", own.n_arms), Numbered("walker", len(own.limits))
        form = minutes_form(own, self._master.groups, names, walkers)
        return form if self._further is None else form.with_rows(self._further)

    def best(self, weights: FloatArray, limits: Limits) -> Bracket | None:
        """Return routes within a relative gap of the best, or as near as limits and work allow.

        ``None`` where none were found that keep the rows.
        """
        if self.pool is not None:
            return self.pool.best(weights, limits.gap)
        self.unfinished = None
        unit = unit_of(weights)
        found = _Question(self._map, self._paths, weights / unit, self._master)
        try:
            self._search(found, limits)
        except KeyboardInterrupt:
            self.unfinished = found.bracket(unit)
            raise
        return found.bracket(unit)

    def _search(self, found: "_Question", limits: Limits) -> None:
        until, gap = time.monotonic() + limits.seconds, limits.gap
        found.begin(self._minutes)
        if self._paths and found.gap > gap:
            found.generate(gap, until - (1 - _PRICING_SHARE) * limits.seconds)
        # Once paths have prices, few routes are mostly left to list; else better ones leave fewer.
        if found.gap > gap and not found.list_all(_FEW_LABELS, until):
            left = max(0.0, until - time.monotonic())
            found.improve(replace(limits, seconds=_ROUTING_SHARE * left))
            found.choose(until)
            if found.gap > gap and time.monotonic() < until:
                found.list_all(_MOST_LABELS, until)


class _Question:
    """The routes found for one set of weights, ``(J,)``, and the best bound."""

    def __init__(self, own: Map, paths: list[NgPaths], weights: FloatArray, master: Master) -> None:
        self._map, self._paths, self._weights = own, paths, weights
        self._master, self._groups, self._rows = master, master.groups, master.rows
        self._columns: dict[tuple[int, frozenset[int]], list[int]] = {}
        self._loops: set[tuple[int, tuple[int, ...]]] = set()
        self.routes: list[list[int]] = [[] for _ in own.limits]
        self.value, self.bound = -np.inf, float(np.maximum(weights, 0.0).sum())
        self._keep(self.routes)
        # Those that prove the bound of paths; a list of routes by any others would miss some.
        self._prices = Prices(np.zeros(len(weights)), np.zeros(self._rows.n_rows))
        self._by_prices = float(np.maximum(weights, 0.0).sum())
        self._scarce = weights

    @property
    def gap(self) -> float:
        """How far the routes are from the bound, relative to it."""
        return max(0.0, self.bound - self.value) / max(abs(self.bound), 1e-300)

    def bracket(self, unit: float) -> Bracket | None:
        """Return what is found and proven until now; ``None`` where no routes keep the rows."""
        if not np.isfinite(self.value):
            return None
        return Bracket(self.routes, self.value * unit, max(self.bound, self.value) * unit)

    @property
    def _priced(self) -> FloatArray:
        """What each arm is worth with what it does for the rows, ``(J,)``."""
        priced: FloatArray = self._weights - self._prices.rows @ self._rows.matrix
        return priced

    def begin(self, minutes: LinearSystem) -> None:
        """Grow first routes; bound them by rows of minutes, whose prices tell what is scarce."""
        for ease in _EASES:
            self._keep(self._map.fill(self.routes, self._weights, ease))
        if self.gap <= _EXACT:
            return
        solved = Highs().solve(minutes.program(self._weights, relaxed=True))
        if solved.row_duals is None:
            return
        self.bound = min(self.bound, solved.objective + _CARE * max(1.0, abs(solved.objective)))
        of_rows = solved.row_duals[minutes.n_rows - self._rows.n_rows :]
        self._scarce = self._weights - of_rows @ self._rows.matrix

    def generate(self, gap: float, until: float) -> None:
        """Improve routes and bound in turn, by routes that pay more than arms are priced at."""
        for _ in range(_MOST_ROUNDS):
            prices, value = self._mixture()
            is_new = self._price(self._prices.mixed(prices, _SMOOTHING))
            # Prices that are not those of the mixture may find nothing where those would.
            is_new = is_new or self._price(prices)
            is_settled = self.bound - value <= max(0.1 * gap, _EXACT) * abs(self.bound)
            if is_settled or not is_new or time.monotonic() > until:
                break
        self.choose(until)

    def improve(self, limits: Limits) -> None:
        """Route anew from the best routes, by weights that rows have their price in."""
        weights = self._priced if self._paths else self._scarce
        try:
            self._keep(better_routes(self._map, self._groups, weights, self.routes, limits))
        except Interrupted as stopped:
            self._keep(stopped.routes)
            raise

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

    def _mixture(self) -> tuple[Prices, float]:
        """Return prices, and the value of the best mixture of paths."""
        keys = [*self._columns, *sorted(self._loops)]
        solved = Highs().solve(self._master.program(self._weights, keys, False))
        value = -np.inf if solved.row_duals is None else solved.objective
        return self._master.prices(solved, self._prices), value

    def _price(self, prices: Prices) -> bool:
        """Bound by prices, and keep new paths; return whether there are any."""
        best, is_new = np.zeros(len(self._paths)), False
        for which, paths in enumerate(self._paths):
            paths.solve(prices.stops)
            best[which] = paths.value()
            for route in paths.routes(_ROUTES_A_ROUND):
                is_new |= self._add(which, route)
        bound = self._master.bound(self._weights, prices, best)
        if bound < self._by_prices:
            self._by_prices, self._prices = bound, prices
        self.bound = min(self.bound, bound)
        return is_new

    def choose(self, until: float) -> float:
        """Choose the best of all real routes; return a bound on that."""
        keys = list(self._columns)
        program = self._master.program(self._weights, keys, True)
        seconds = max(_LEAST_SECONDS, until - time.monotonic())
        solved = Highs().solve(program, Limits(seconds, _EXACT, _MOST_NODES))
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

    def list_all(self, most: int, until: float) -> bool:
        """List all routes that lose less than the gap at the best prices, and choose of these.

        Returns whether ``most`` labels were enough.

        A solution is worth the bound at most, less what its routes are worth less than the best
        paths. So a route that is worth less than the best path of its walker by more than the gap
        is in no better solution.
        """
        stops, gap = self._prices.stops, self._by_prices - self.value
        if not np.isfinite(gap) or not self._paths:
            return False
        for which, paths in enumerate(self._paths):
            paths.solve(stops)
            walker = int(self._groups[which][0])
            least = paths.value() - gap * (1 + 1e-6)
            listed = routes_worth(self._map, walker, paths.by_arm, least, stops, most)
            if listed is None:
                return False
            for route in listed:
                self._add(which, route)
        self.bound = min(self.bound, max(self.choose(until), self.value))
        return True
