"""Routes for given arms, and the best routes for given weights; what was found is kept."""

from collections import OrderedDict
from functools import cached_property

import numpy as np

from sequoia.errors import SolverFailed
from sequoia.problem.names import Numbered
from sequoia.problem.spaces.team.master import Bracket
from sequoia.problem.spaces.team.pool import RoutePool
from sequoia.problem.spaces.team.routes import MOST_STOPS_BY_SETS, Map
from sequoia.problem.spaces.team.search import TeamSearch
from sequoia.problem.spaces.team.time_flow import MOST_WAYS, routes_of, time_flow, walker_groups
from sequoia.problem.system import LinearSystem, Rows
from sequoia.solvers import Highs, Limits, Status
from sequoia.validation import ActionArray, FloatArray

# What a bound and a value may differ by, relative to the bound, and be the same.
PROVEN = 1e-9
# Routes of actions found lately, which are asked for next.
_MOST_ROUTES = 256


class RouteFinder:
    """Answers questions about one map; the best routes are perhaps under rows over arms."""

    def __init__(self, own: Map, rows: Rows | None = None) -> None:
        self._map, self._rows = own, rows
        self._known: OrderedDict[bytes, list[list[int]] | None] = OrderedDict()
        self._last: tuple[bytes, Limits, Bracket | None] | None = None

    @cached_property
    def _search(self) -> TeamSearch:
        return TeamSearch(self._map, self._rows)

    @cached_property
    def _flow(self) -> LinearSystem:
        own = self._map
        walkers = Numbered("walker", len(own.limits))
        return time_flow(own, walker_groups(own), Numbered("arm", own.n_arms), walkers)

    def best(self, weights: FloatArray, limits: Limits) -> Bracket | None:
        """Ask the search; the last answer is kept, as it is asked for a bracket, then a proof.

        So is what it had found when Ctrl-C ended it, for whoever asks again.
        """
        key = weights.tobytes()
        if self._last is None or self._last[0] != key or not _is_within(self._last[1], limits):
            try:
                self._last = key, limits, self._search.best(weights, limits)
            except KeyboardInterrupt:
                if self._search.unfinished is not None:
                    self._last = key, Limits(gap=0.0), self._search.unfinished
                raise
        found = self._last[2]
        if found is not None:
            self._remember(self._map.action(found.routes), found.routes)
        return found

    @property
    def pool(self) -> RoutePool | None:
        """All routes, where they are few enough to list."""
        return self._search.pool

    def construct(self, weights: FloatArray) -> ActionArray:
        """Return a good action, ``(J,)``, quickly and without proof: from the list of all routes.

        Where they are too many, routes grow by what weighs most for its detour.
        """
        if self.pool is not None:
            return self.pool.construct(weights)
        nobody: list[list[int]] = [[] for _ in self._map.limits]
        grown = [self._map.fill(nobody, weights, ease) for ease in (2.0, 10.0)]
        actions = [self._map.action(routes) for routes in grown]
        return max(actions, key=lambda action: float(weights @ action))

    def inserted(self, action: ActionArray) -> list[list[int]] | None:
        """Return routes through all of ``action``, by insertion, if that finds some."""
        if not self._map.is_in_reach[:, action == 1].any(axis=0).all():
            return None
        nobody: list[list[int]] = [[] for _ in self._map.limits]
        weights = action.astype(np.float64)
        for ease in (0.0, 5.0, 1e6):
            routes = self._map.fill(nobody, weights, ease)
            if sum(map(len, routes)) == action.sum():
                return routes
        return None

    def routes(self, action: ActionArray) -> list[list[int]] | None:
        """Return routes through all of ``action``; ``None`` if it is proven that there are none."""
        key = action.tobytes()
        if key not in self._known:
            self._remember(action, self._find(action))
        self._known.move_to_end(key)
        return self._known[key]

    def _remember(self, action: ActionArray, routes: list[list[int]] | None) -> None:
        self._known[action.tobytes()] = routes
        if len(self._known) > _MOST_ROUTES:
            self._known.popitem(last=False)

    def _find(self, action: ActionArray) -> list[list[int]] | None:
        if not self._map.is_in_reach[:, action == 1].any(axis=0).all():
            return None
        routes = self.inserted(action)
        if routes is not None:
            return routes
        arms = np.flatnonzero(action).tolist()
        if len(arms) <= MOST_STOPS_BY_SETS:
            return self._map.split(arms)
        found = self._search.best(action.astype(np.float64), Limits(gap=PROVEN))
        assert found is not None  # nobody has to set out
        if round(found.value) == len(arms):
            return found.routes
        if found.bound < len(arms) - 0.5:
            return None
        if len(walker_groups(self._map)) * len(action) ** 2 > MOST_WAYS:
            raise SolverFailed(
                f"whether {len(arms)} stops have routes could not be settled: none were found, and "
                "it is not proven that there are none."
            )
        solution = Highs().solve(self._flow.program(np.zeros(len(action)), fixed=action))
        if solution.values is None and solution.status is not Status.INFEASIBLE:
            raise SolverFailed("the solver could not settle the routes of a team.")
        if solution.values is None:
            return None
        return routes_of(self._map, walker_groups(self._map), solution.values)


def _is_within(asked: Limits, limits: Limits) -> bool:
    """Say whether an answer to what was asked is one within other limits, too."""
    return asked.gap <= limits.gap and asked.seconds >= limits.seconds
