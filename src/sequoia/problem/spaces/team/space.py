"""A team of walkers on round trips: team orienteering with profits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sequoia.errors import ProblemError
from sequoia.problem.clock import DAY, clock_time
from sequoia.problem.names import between, checked_names, count, index_of, say
from sequoia.problem.spaces.base import ActionSpace, Bracketer, Extensions, Task
from sequoia.problem.spaces.team.bounding import minutes_form
from sequoia.problem.spaces.team.chained import ChainedTeam
from sequoia.problem.spaces.team.finder import PROVEN, RouteFinder
from sequoia.problem.spaces.team.plain import PlainForm
from sequoia.problem.spaces.team.routes import NEVER, Map
from sequoia.problem.spaces.team.tables import ANY_TIME, MORNING, from_tables, to_tables
from sequoia.problem.spaces.team.time_flow import MOST_WAYS, time_flow, walker_groups
from sequoia.problem.spaces.team.travel import shortest
from sequoia.problem.system import Decision, LinearSystem, Rows
from sequoia.problem.tables import TableSet
from sequoia.sizes import MOST_STEPS, require_at_most
from sequoia.solvers import Limits
from sequoia.validation import (
    ActionArray,
    BoolArray,
    FloatArray,
    IntArray,
    frozen,
    require,
    set_fields,
)

if TYPE_CHECKING:
    import networkx as nx

_MOST_PLACES = 2_000


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Team(ActionSpace):
    """Each acted-on arm is served by one walker, on a round trip that takes no longer than allowed.

    Attributes
    ----------
    travel
        Minutes from place to place, ``(P, P)``, in whole numbers, shortest ways taken; the first
        places are the arms, in their order.
    service
        Minutes that serving each arm takes, ``(J,)``, at least 1.
    depots
        The place where each walker begins and ends, ``(W,)``.
    limits
        Minutes of travel and service that each walker has, ``(W,)``.
    may_serve
        Which walkers may serve which arms, ``(W, J)``.
    begins
        When each walker sets out, in minutes since midnight, ``(W,)``; 8:00 unless given.
    windows
        When serving each arm may begin, first and last minute since midnight, ``(J, 2)``; at any
        time unless given. Whoever comes too early waits.
    places
        Names of the places after the arms, ``(P - J,)``.
    positions
        Where the places are drawn, ``(P, 2)``; only pictures use it.

    Examples
    --------
    >>> from sequoia import Team
    >>> team = Team([[0, 5, 9], [5, 0, 9], [9, 9, 0]], [10, 10], [2], [60], names=['Ada', 'Ben'])
    >>> team.describe(team.certify([1, 1]))
    ['Walker 0 goes place 0 → Ben → Ada → place 0, 08:00 to 08:43 (43 of 60 minutes)']
    """

    kind = "team"
    # Beyond, plans for all sets of arms take longer to find than a program takes.
    most_columns_to_list = 12
    has_quick_program = False
    is_refusal_final = True
    why_not_iterative = "there is no simple way to build routes one stop at a time"
    travel: IntArray
    service: IntArray
    depots: IntArray
    limits: IntArray
    may_serve: BoolArray
    begins: IntArray
    windows: IntArray
    names: Sequence[str]
    worker_names: Sequence[str]
    places: Sequence[str]
    positions: FloatArray | None

    @property
    def argmax_microseconds(self) -> float:
        """Routes are searched."""
        return 1.5 * self.n_actions**2

    @property
    def decision_seconds(self) -> float:
        """Where routes cannot be listed, prices, bounds and routing take seconds."""
        return 1e-6 * self.argmax_microseconds if self._finder.pool is not None else 2.0

    def __init__(
        self,
        travel: ArrayLike,
        service: ArrayLike,
        depots: ArrayLike,
        limits: ArrayLike,
        names: Sequence[str] | None = None,
        worker_names: Sequence[str] | None = None,
        places: Sequence[str] | None = None,
        positions: ArrayLike | None = None,
        may_serve: ArrayLike | None = None,
        begins: ArrayLike | None = None,
        windows: ArrayLike | None = None,
    ) -> None:
        """Ways that are not known are infinite in ``travel``; others lead round them."""
        service = frozen("team.service", service, np.int64, (None,))
        require("team.service", service, service >= 1, "serving takes at least 1 minute")
        given = frozen("team.travel", travel, np.float64, (None, None))
        size, n_arms = len(given), len(service)
        require_at_most("team", size, "places", _MOST_PLACES)
        if given.shape != (size, size) or size < n_arms:
            raise ProblemError(
                f"team.travel has shape {given.shape}; as many rows as columns are wanted, and a "
                f"place for each of {count(n_arms, 'arm')}."
            )
        names = checked_names("team.names", names, "arm", n_arms)
        places = checked_names("team.places", places, "place", size - n_arms)
        checked_names("team.names and places", [*names, *places], "", size)
        depots = frozen("team.depots", depots, np.int64, (None,))
        fine = (depots >= 0) & (depots < size)
        require("team.depots", depots, fine, f"places are numbered from 0 to {size - 1}")
        limits = frozen("team.limits", limits, np.int64, (len(depots),))
        fine = (limits >= 0) & (limits <= MOST_STEPS)
        require("team.limits", limits, fine, f"0 to {MOST_STEPS} minutes are wanted")
        if positions is not None:
            positions = frozen("team.positions", positions, np.float64, (size, 2))
            require("team.positions", positions, np.isfinite(positions), "a number is wanted")
        begins = np.full(len(depots), MORNING) if begins is None else begins
        begins = frozen("team.begins", begins, np.int64, (len(depots),))
        fine = (begins >= 0) & (begins < DAY)
        require("team.begins", begins, fine, f"minutes from 0 to {DAY - 1} are wanted")
        windows = np.tile(ANY_TIME, (n_arms, 1)) if windows is None else windows
        windows = frozen("team.windows", windows, np.int64, (n_arms, 2))
        fine = (windows >= 0) & (windows[:, :1] <= windows[:, 1:])
        require(
            "team.windows", windows, fine, "a first minute and a last, not before it, are wanted"
        )
        may_serve = np.ones((len(depots), n_arms)) if may_serve is None else may_serve
        set_fields(
            self,
            may_serve=frozen("team.may_serve", may_serve, np.bool_, (len(depots), n_arms)),
            travel=shortest(given, [*names, *places]),
            service=service,
            depots=depots,
            limits=limits,
            begins=begins,
            windows=windows,
            names=names,
            worker_names=checked_names("team.worker_names", worker_names, "walker", len(depots)),
            places=places,
            positions=positions,
        )

    @classmethod
    def from_graph(
        cls,
        graph: "nx.Graph",
        service: Mapping[str, int],
        depots: Sequence[str],
        limits: ArrayLike,
        worker_names: Sequence[str] | None = None,
    ) -> "Team":
        """Take nodes with ``service`` as arms, edges with ``minutes``, one way in a directed graph.

        Nodes may have ``pos``.
        """
        nodes = [*service, *(node for node in graph.nodes if node not in service)]
        index = {node: place for place, node in enumerate(nodes)}
        travel = np.full((len(nodes), len(nodes)), np.inf)
        np.fill_diagonal(travel, 0.0)
        for a, b, data in graph.edges(data=True):
            ways = [(a, b)] if graph.is_directed() else [(a, b), (b, a)]
            for start, stop in ways:
                travel[index[start], index[stop]] = data["minutes"]
        names = [str(node) for node in nodes]
        positions = [graph.nodes[node].get("pos") for node in nodes]
        return cls(
            travel,
            list(service.values()),
            [index_of("depots", names, str(depot)) for depot in depots],
            limits,
            names[: len(service)],
            worker_names,
            names[len(service) :],
            None if any(p is None for p in positions) else np.array(positions),
        )

    @property
    def place_names(self) -> list[str]:
        """Names of all places, arms first, ``(P,)``."""
        return [*self.names, *self.places]

    @property
    def has_windows(self) -> bool:
        """Whether somebody may not be served at any time."""
        return bool((self.windows != ANY_TIME).any())

    @property
    def has_begins(self) -> bool:
        """Whether somebody sets out at another time than all do unless they say."""
        return bool((self.begins != MORNING).any())

    @cached_property
    def _map(self) -> Map:
        return Map.of(
            self.travel,
            self.service,
            self.depots,
            self.begins,
            self.limits,
            self.may_serve,
            self.windows,
        )

    @cached_property
    def _plain(self) -> PlainForm:
        return PlainForm.over(self._map)

    @cached_property
    def system(self) -> LinearSystem:
        """Who serves an arm, ways between arms, and a clock; see `PlainForm`."""
        return self._plain.system(self.names, self.worker_names)

    @cached_property
    def compact(self) -> LinearSystem:
        """Ways and a clock, walkers that are alike together; see `time_flow`."""
        groups = walker_groups(self._map)
        if len(groups) * self.n_actions**2 > MOST_WAYS:
            return self.system
        return time_flow(self._map, groups, self.names, self.worker_names)

    @cached_property
    def slim(self) -> LinearSystem:
        """All routes as columns, where they are few: prices from them are nearly those of hulls.

        Else rows of minutes, which all routes keep; see `minutes_form`.
        """
        pool = self._finder.pool
        if pool is not None:
            return pool.system(self.names, self.worker_names)
        return minutes_form(self._map, walker_groups(self._map), self.names, self.worker_names)

    @cached_property
    def _finder(self) -> RouteFinder:
        return RouteFinder(self._map)

    def bracket_linear(
        self, weights: FloatArray, limits: Limits
    ) -> tuple[ActionArray, float] | None:
        """Return an action and a bound, by column generation and routing; see `TeamSearch`."""
        return self._bracket(self._finder, weights, limits)

    def bracket_under(self, rows: Rows) -> Bracketer:
        """Do the same with further rows."""
        return partial(self._bracket, RouteFinder(self._map, rows))

    def _bracket(
        self, finder: RouteFinder, weights: FloatArray, limits: Limits
    ) -> tuple[ActionArray, float] | None:
        found = finder.best(weights, limits)
        return None if found is None else (self._map.action(found.routes), found.bound)

    def argmax_linear(self, weights: FloatArray) -> ActionArray | None:
        """Return a best action where column generation proves it; else ``None``."""
        found = self._finder.best(weights, Limits(gap=PROVEN))
        if found is None or found.bound - found.value > PROVEN * max(1.0, abs(found.bound)):
            return None
        return self._map.action(found.routes)

    def construct_linear(self, weights: FloatArray) -> ActionArray:
        """Choose good routes for each row, one row after the other."""
        actions = [self._finder.construct(own) for own in weights]
        return np.array(actions, dtype=np.int8).reshape(weights.shape)

    @property
    def constructs_well(self) -> bool:
        """Whether all routes are listed, and any walker may take any of them."""
        return self._finder.pool is not None and self._finder.pool.is_shared

    def contains(self, actions: ArrayLike) -> BoolArray:
        """Look for routes that serve each action."""
        actions = np.asarray(actions, dtype=np.int8)
        found = [self._finder.routes(action) is not None for action in actions]
        return np.array(found, dtype=np.bool_)

    def contains_quick(self, actions: ArrayLike) -> BoolArray:
        """Insert the arms of each action one by one."""
        actions = np.asarray(actions, dtype=np.int8)
        return np.array([self._finder.inserted(action) is not None for action in actions], np.bool_)

    def _plan(self, action: ActionArray) -> ActionArray | None:
        routes = self._finder.routes(action)
        return None if routes is None else self._plain.plan(routes)

    def routes(self, decision: Decision) -> list[list[int]]:
        """Return the stops of each walker in order."""
        return self._plain.routes(decision.plan)

    def sample(self, rng: np.random.Generator) -> Decision:
        """Arms in random order join a random route at a random place, while they fit."""
        own = self._map
        routes: list[list[int]] = [[] for _ in self.limits]
        for arm in rng.permutation(self.n_actions).tolist():
            ways = [
                (walker, place)
                for walker, route in enumerate(routes)
                for place in range(len(route) + 1)
                if own.is_kept(walker, [*route[:place], arm, *route[place:]])
            ]
            if ways:
                walker, place = ways[int(rng.integers(len(ways)))]
                routes[walker].insert(place, arm)
        return self._decided(routes)

    def _decided(self, routes: list[list[int]]) -> Decision:
        return Decision(self._map.action(routes), self._plain.plan(routes))

    def extensions(self, decision: Decision) -> Extensions:
        """One more arm joins a route where that is the shortest detour."""
        own, routes = self._map, self.routes(decision)
        found: list[tuple[int, int, int]] = []
        costs: list[float] = []
        for walker, route in enumerate(routes):
            detours, places = own.insertion(walker, route)
            fits = (decision.action == 0) & (detours < NEVER)
            for arm in np.flatnonzero(fits).tolist():
                found.append((walker, arm, int(places[arm])))
                costs.append(float(detours[arm]))

        def extend(index: int) -> Decision:
            walker, arm, place = found[index]
            grown = [list(route) for route in routes]
            grown[walker].insert(place, arm)
            return self._decided(grown)

        columns = np.array([arm for _, arm, _ in found], dtype=np.int64)
        turns = np.array([walker for walker, _, _ in found], dtype=np.int64)
        return Extensions(columns, turns, np.array(costs), extend)

    @property
    def _midnight(self) -> int:
        """What the clock of the map is behind that of the day."""
        return int(self.begins.min(initial=DAY))

    def describe(self, decision: Decision) -> list[str]:
        """One line per walker who sets out."""
        lines = []
        for walker, route in enumerate(self.routes(decision)):
            if route:
                depot = self.place_names[self.depots[walker]]
                stops = " → ".join([depot, *(self.names[arm] for arm in route), depot])
                begin = int(self.begins[walker])
                back = self._midnight + self._map.back(walker, route)
                name = self.worker_names[walker]
                name = name[0].upper() + name[1:]
                lines.append(
                    f"{name} goes {stops}, {clock_time(begin)} to {clock_time(back)} "
                    f"({back - begin} of {self.limits[walker]} minutes)"
                )
        return lines or ["Nobody sets out"]

    def tasks(self, decision: Decision) -> list[Task]:
        """Follow each walker; times are when serving begins, and when the walker is back."""
        tasks = []
        for walker, route in enumerate(self.routes(decision)):
            who, ends = self.worker_names[walker], self._map.ends(walker, route)
            for arm, end in zip(route, ends, strict=True):
                minutes = int(self.service[arm])
                when = clock_time(self._midnight + end - minutes)
                tasks.append(Task(who, when, self.names[arm], f"serve, {count(minutes, 'minute')}"))
            if route:
                back = clock_time(self._midnight + self._map.back(walker, route))
                depot = self.place_names[self.depots[walker]]
                tasks.append(Task(who, back, depot, "return"))
        return tasks

    def summary(self) -> str:
        """Say how long routes may be, where they begin, and what ways and services take."""
        ways = self.travel[~np.eye(len(self.travel), dtype=np.bool_)]
        share = self.may_serve.mean() if self.may_serve.size else 1.0
        where = say(sorted({self.place_names[depot] for depot in self.depots.tolist()}))
        return (
            f"team: {count(len(self.limits), 'walker')} with {between(self.limits)} minutes from "
            f"{where} and back; {between(ways)} minutes from place to place, "
            f"{between(self.service)} to serve an arm"
            + ("" if share == 1 else f"; a walker may serve {100 * share:.0f}% of the arms")
            + ("; some only at times of their own" if self.has_windows else "")
        )

    def _with_hours(self, where: str, hours: Mapping[str, float]) -> "Team":
        """Limit walkers to so many hours of travel and service, in whole minutes."""
        limits = self.limits.copy()
        for name, own in hours.items():
            limits[index_of(where, self.worker_names, name)] = int(60 * own + 1e-9)
        return replace(self, limits=limits)

    def usual_hours(self, worker: str) -> float:
        """Return how many hours a walker has."""
        return float(self.limits[index_of("hours", self.worker_names, worker)]) / 60

    def with_lock(self, arm: int, worker: int | None, slot: int | None) -> "Team":
        """Let nobody else come: an arm is served once."""
        if slot is not None:
            raise ProblemError("a team has no slots that could be locked.")
        may_serve = self.may_serve.copy()
        if worker is not None:
            may_serve[:, arm] &= np.arange(len(may_serve)) == worker
        return replace(self, may_serve=may_serve)

    def with_order(self, arms: Sequence[int]) -> ActionSpace:
        """Serve ``arms`` on one route, straight one after the other."""
        return ChainedTeam(self, self._map, self._plain, [list(arms)])

    def _why_not(self, action: ActionArray) -> str:
        """Name the arm that is too far, or the fewest arms that no routes serve together."""
        arms = np.flatnonzero(action)
        far = arms[~self._map.is_in_reach[:, arms].any(axis=0)]
        if len(far):
            arm = int(far[0])
            own = self._map
            trips = own.out + own.home - own.begins[:, None]
            need = trips[:, arm] if len(self.limits) else np.zeros(0)
            least = f"{int(need.min())} minutes" if len(need) else "a walker"
            if len(need) and not self.may_serve[:, arm].any():
                return f"{self.names[arm]} cannot be served: no walker may serve it."
            if (need <= self.limits)[self.may_serve[:, arm]].any():
                first, last = self.windows[arm].tolist()
                return (
                    f"{self.names[arm]} cannot be served: serving it may begin from "
                    f"{clock_time(first)} to {clock_time(last)}, and nobody is at work then."
                )
            return (
                f"{self.names[arm]} cannot be served: the round trip takes {least}, and nobody has "
                "as many to serve it."
            )
        left = arms.tolist()
        for arm in arms.tolist():
            fewer = [other for other in left if other != arm]
            if self._finder.routes(self._map.action([fewer])) is None:
                left = fewer
        return (
            f"{say(self.names[arm] for arm in left)} cannot be served together: no routes of "
            f"{between(self.limits)} minutes from {count(len(self.limits), 'walker')} visit them."
        )

    def to_tables(self) -> TableSet:
        """Options and tables of this space."""
        return to_tables(self)

    @classmethod
    def from_tables(cls, content: TableSet) -> "Team":
        """Build from options and tables; ``travel`` holds all ways, or those of a graph."""
        return cls(**from_tables(content))
