"""The best routes for a weight per arm, where all routes can be listed beforehand."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from sequoia.problem.spaces.mending import without_broken_rows
from sequoia.problem.spaces.team.listing import routes_worth
from sequoia.problem.spaces.team.master import Bracket, Master, Prices
from sequoia.problem.spaces.team.routes import Map
from sequoia.problem.system import LinearSystem, Rows
from sequoia.scaling import unit_of
from sequoia.solvers import LEAN, Highs, HighsSession, Limits, Status
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

# Parts of routes that are looked at: a third of a second, once for each map.
MOST_LISTED = 60_000
# First routes from which others follow: 99.4 % of the best on average, in 0.3 ms with 20 arms and
# in 1.2 ms with 40.
_STARTS = 24
# The best routes mostly lose no more than this share of the bound. Guesses then grow fourfold.
_GUESS, _MORE = 0.01, 4.0
# What a bound and a value may differ by, relative to the bound, and be the same.
_EXACT = 1e-9
_MOST_NODES = 3_000
# Weights change and rows do not, so that whatever is feasible stays so.
_PRIMAL_SIMPLEX = 4


@lru_cache(maxsize=32)
def maximal_routes(own: Map, walker: int) -> list[list[int]] | None:
    """Return the routes of a walker to which no arm can be added; ``None`` where they are many.

    Ways are shortest ones, so that a route stays one when a stop is left out; every set of arms
    that can be served on one route is part of one of these.
    """
    nothing = np.zeros((int(own.limits[walker]) + 1, own.n_arms))
    listed = routes_worth(own, walker, nothing, 0.0, nothing[0], MOST_LISTED)
    if listed is None:
        return None
    sets = [frozenset(route) for route in listed]
    smaller = {arms - {arm} for arms in sets for arm in arms}
    return [route for route, arms in zip(listed, sets, strict=True) if arms not in smaller]


class _Members(NamedTuple):
    """Routes by number, ``(r,)``, and which arms they serve, ``(r, J)``."""

    routes: IntArray
    matrix: NDArray[np.float32]

    def only(self, kept: BoolArray) -> "_Members":
        return _Members(self.routes[kept], self.matrix[kept])


class _Found(NamedTuple):
    """What is served, ``(J,)``, on which routes, and its worth: nothing where rows forbid it."""

    action: ActionArray
    routes: IntArray
    value: float


class _Choice(NamedTuple):
    """The best choice among some routes, a bound on any, and whether a limit was hit."""

    found: _Found
    bound: float
    is_cut_off: bool


class RoutePool:
    """Chooses from all routes to which no arm can be added.

    The linear program over all of them says at once what no routes are worth more than, and what
    each route loses. A solver chooses among those that lose less than a guess of the gap (Balas and
    Zemel 1980): a solution is worth the bound at most, less what its routes lose. What it finds is
    best if it is no farther from the bound than guessed; else a larger gap is guessed.
    """

    def __init__(self, own: Map, master: Master, routes: list[list[list[int]]]) -> None:
        """Take the routes of each group; nobody has to set out, so that there is an empty one."""
        self._master, self._n_arms = master, own.n_arms
        self._routes = [route for of_group in routes for route in ([], *of_group)]
        self._members = np.zeros((len(self._routes), own.n_arms))
        for index, route in enumerate(self._routes):
            self._members[index, route] = 1.0
        self._group = np.repeat(np.arange(len(routes)), [1 + len(own) for own in routes])
        of_group = [np.flatnonzero(self._group == group) for group in range(len(routes))]
        self._all = [_Members(own, self._members[own].astype(np.float32)) for own in of_group]
        # Walkers of one group after the other.
        self._group_of_walker = np.repeat(np.arange(len(routes)), master.rooms.astype(np.int64))

    @property
    def is_shared(self) -> bool:
        """Whether walkers are alike; where they are not, `construct` is 2 to 3 % below the best."""
        return len(self._all) == 1

    def system(self, names: Sequence[str], walker_names: Sequence[str]) -> LinearSystem:
        """Return rows over arms and routes: an arm counts if a route serves it.

        In fractions, actions are mixtures of routes, and next to nothing is lost (Dantzig and Wolfe
        1960).
        """
        n_routes, groups = len(self._routes), self._master.groups
        arms = [csr_array(np.eye(self._n_arms)), csr_array(-self._members.T)]
        of_group = (self._group == np.arange(len(groups))[:, None]).astype(np.float64)
        walkers = [csr_array((len(groups), self._n_arms)), csr_array(of_group)]
        return LinearSystem.from_rows(
            [
                Rows.at_most(
                    hstack(arms, format="csr"),
                    0.0,
                    [f"{name} is served, if acted on" for name in names],
                ),
                Rows.at_most(
                    hstack(walkers, format="csr"),
                    self._master.rooms,
                    [f"walkers like {walker_names[group[0]]}" for group in groups],
                ),
            ],
            self._n_arms,
            [*names, *(f"route {route}" for route in range(n_routes))],
            column_upper=np.ones(self._n_arms + n_routes),
            is_integer=np.ones(self._n_arms + n_routes, dtype=np.bool_),
        )

    @cached_property
    def _relaxation(self) -> HighsSession:
        keys = list(zip(self._group.tolist(), self._routes, strict=True))
        program = self._master.program(np.zeros(self._n_arms), keys, False)
        return Highs(presolve="off", simplex_strategy=_PRIMAL_SIMPLEX).session(program)

    def best(self, weights: FloatArray, gap: float) -> Bracket | None:
        """Return routes within a relative ``gap`` of the best, or as near as work allows.

        ``None`` where none were found that keep the rows.
        """
        unit = unit_of(weights)
        weights = weights / unit
        routes = self._good(weights, self._all)
        best = self._kept(weights, routes, self._served(routes))
        top, loss = self._relax(weights)
        if top - best.value > max(gap, _EXACT) * abs(top):
            among = [own.only(loss[own.routes] <= top - best.value) for own in self._all]
            routes = self._good(weights, among)
            again = self._kept(weights, routes, self._served(routes))
            best = max(best, again, key=lambda found: found.value)
        bound, width, guess = top, -1.0, _GUESS * abs(top)
        while bound - best.value > max(gap, _EXACT) * abs(bound) and width < loss.max():
            width = min(guess, top - best.value)
            guess *= _MORE
            solved = self._choose(weights, np.flatnonzero(loss <= width + _EXACT))
            best = max(best, solved.found, key=lambda found: found.value)
            # No solution with any other route is worth more than what is left of the bound.
            bound = min(bound, max(best.value, solved.bound, top - width))
            if solved.is_cut_off:
                break
        if not np.isfinite(best.value):
            return None
        return Bracket(self._handed_out(best), best.value * unit, max(bound, best.value) * unit)

    def construct(self, weights: FloatArray) -> ActionArray:
        """Return a good action, ``(J,)``, quickly, without regard to rows and without proof."""
        is_served = self._served(self._good(weights, self._all))
        return (is_served & (weights > 0)).astype(np.int8)

    def _good(self, weights: FloatArray, among: Sequence[_Members]) -> IntArray:
        """Return a good route of each walker, ``(W,)``, of some routes of each group.

        From each of the best routes of the first walker, the others choose one after the other what
        is best of what is left; then each chooses anew while the others stay.
        """
        gains, size = np.maximum(weights, 0.0).astype(np.float32), len(self._group_of_walker)
        if not size:
            return np.empty(0, dtype=np.int64)
        pools = [among[group] for group in self._group_of_walker.tolist()]
        starts = np.argsort(-(pools[0].matrix @ gains), kind="stable")[:_STARTS]
        picked = np.zeros((size, len(starts)), dtype=np.int64)
        served = np.zeros((size, len(starts), self._n_arms), dtype=np.bool_)
        picked[0], served[0] = pools[0].routes[starts], pools[0].matrix[starts] > 0
        for walker in [*range(1, size), *range(size)]:
            served[walker] = False
            left = gains * ~served.any(axis=0)
            pick = (left @ pools[walker].matrix.T).argmax(axis=1)
            picked[walker] = pools[walker].routes[pick]
            served[walker] = pools[walker].matrix[pick] > 0
        return picked[:, int((served.any(axis=0) @ gains).argmax())]

    def _relax(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """Return a bound, and what each route loses at the prices that prove it, ``(R,)``."""
        master, n_routes = self._master, len(self._routes)
        # So that an answer depends on the question alone.
        self._relaxation.forget()
        solved = self._relaxation.maximise(master.objective(weights, n_routes, False))
        usual = Prices(np.maximum(weights, 0.0), np.zeros(master.rows.n_rows))
        prices = master.prices(solved, usual)
        worth = self._members @ prices.stops
        best = np.array([worth[own.routes].max() for own in self._all])
        return master.bound(weights, prices, best), best[self._group] - worth

    def _choose(self, weights: FloatArray, among: IntArray) -> _Choice:
        """Return the best choice among some routes."""
        keys = [(int(self._group[route]), self._routes[route]) for route in among]
        program = self._master.program(weights, keys, True)
        # Prices tell more than presolve finds, too.
        solved = Highs(presolve="off", **LEAN).solve(program, Limits(gap=_EXACT, nodes=_MOST_NODES))
        is_cut_off = solved.status is Status.LIMIT
        if solved.values is None:
            nothing = _Found(np.zeros(self._n_arms, dtype=np.int8), among[:0], -np.inf)
            return _Choice(nothing, solved.bound, is_cut_off)
        routes = among[solved.values[self._n_arms :] > 0.5]
        found = self._kept(weights, routes, solved.values[: self._n_arms] > 0.5)
        return _Choice(found, solved.bound, is_cut_off)

    def _served(self, routes: IntArray) -> BoolArray:
        """Return which arms are on some routes, ``(J,)``."""
        served: BoolArray = self._members[routes].max(axis=0, initial=0.0) > 0
        return served

    def _kept(self, weights: FloatArray, routes: IntArray, is_served: BoolArray) -> _Found:
        """Leave out stops that lose something or break rows; routes without them are no longer."""
        rows, action = self._master.rows, is_served.astype(np.int8)
        if not rows.n_rows:
            action[weights <= 0] = 0
        kept = without_broken_rows(rows, action, weights)
        if kept is None:
            return _Found(action, routes, -np.inf)
        return _Found(kept, routes, float(weights @ kept))

    def _handed_out(self, best: _Found) -> list[list[int]]:
        """Return the stops of each walker, each arm once."""
        free = [group.tolist() for group in self._master.groups]
        routes: list[list[int]] = [[] for _ in self._group_of_walker]
        left = best.action.copy()
        for route in best.routes.tolist():
            stops = [arm for arm in self._routes[route] if left[arm]]
            left[stops] = 0
            if stops:
                routes[free[self._group[route]].pop(0)] = stops
        return routes
