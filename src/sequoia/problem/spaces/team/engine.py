"""Good routes for a weight per arm, without proof: by PyVRP or, where it is missing, by ours."""

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from sequoia.problem.spaces.team.routes import Map
from sequoia.solvers import Limits
from sequoia.validation import FloatArray, IntArray

# The largest weight as a prize. PyVRP reckons in whole numbers, and a minute costs 1, so that of
# what is worth the same, the shorter route is better.
_LARGEST_PRIZE = 100_000
# What nobody can do takes longer than anybody has, and no sum of such ways overflows.
_BARRED = 10**7
# Work, not time: rounds without anything better after which either search ends.
_PATIENCE, _RUINS = 3_000, 150
# The share of stops that is dropped before routes are filled again, and how much detours count.
_DROPPED, _EASES = 0.3, (0.0, 2.0, 5.0, 10.0, 30.0)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C was pressed; the best routes until then are not lost."""

    def __init__(self, routes: list[list[int]]) -> None:
        super().__init__()
        self.routes = routes


def better_routes(
    own: Map,
    groups: Sequence[IntArray],
    weights: FloatArray,
    routes: list[list[int]],
    limits: Limits,
) -> list[list[int]]:
    """Return routes that are worth no less than ``routes``, one for each walker.

    Every one of them is checked by the map.

    Raises
    ------
    Interrupted
        When Ctrl-C is pressed, with the best routes until then.
    """
    best, is_stopped = _Best(own, weights, routes), False
    try:
        try:
            import pyvrp
        except ModuleNotFoundError:
            _ruin_and_recreate(best, limits)
        else:
            _by_pyvrp(pyvrp, best, groups, limits)
    except KeyboardInterrupt:
        is_stopped = True
    best.keep(own.fill(best.routes, weights))
    if is_stopped:
        raise Interrupted(best.routes)
    return best.routes


class _Best:
    """The best routes of a search until now."""

    def __init__(self, own: Map, weights: FloatArray, routes: list[list[int]]) -> None:
        self.map, self.weights, self.routes = own, weights, routes

    def keep(self, routes: list[list[int]]) -> None:
        """Keep routes that are worth no less, if the map says that they can be taken."""
        is_better = _worth(self.weights, routes) >= _worth(self.weights, self.routes)
        if is_better and all(self.map.is_kept(walker, own) for walker, own in enumerate(routes)):
            self.routes = routes


def _worth(weights: FloatArray, routes: Sequence[Sequence[int]]) -> float:
    return float(weights[[arm for route in routes for arm in route]].sum())


def _ruin_and_recreate(best: _Best, limits: Limits) -> None:
    """Drop some stops and fill up again, by weights that differ a little (Schrimpf et al. 2000)."""
    rng, until = np.random.default_rng(0), time.monotonic() + limits.seconds
    for _ in range(_RUINS):
        kept = [[arm for arm in route if rng.random() > _DROPPED] for route in best.routes]
        tilted = best.weights * rng.uniform(0.7, 1.3, len(best.weights))
        best.keep(best.map.fill(kept, tilted, float(rng.choice(_EASES))))
        if time.monotonic() > until:
            break


def _by_pyvrp(pyvrp: Any, best: _Best, groups: Sequence[IntArray], limits: Limits) -> None:
    """Minimise the weights left out, and minutes, by iterated local search.

    Prize-collecting routing with hours of vehicles and of clients (PyVRP; Wouda, Lan and Kool
    2024). A group of walkers that are alike is a type of vehicle, with minutes of its own.
    """
    own, weights, routes = best.map, best.weights, best.routes
    arms = np.flatnonzero((weights > 0) & own.is_in_reach.any(axis=0))
    if not len(arms) or not groups:
        return
    data = _data(pyvrp, own, groups, weights, arms)
    place_of = {int(arm): place for place, arm in enumerate(arms)}
    types = np.repeat(np.arange(len(groups)), [len(group) for group in groups]).tolist()
    walkers = np.concatenate(groups).tolist()
    begin = [
        pyvrp.Route(data, [place_of[arm] for arm in routes[walker] if arm in place_of], kind)
        for walker, kind in zip(walkers, types, strict=True)
        if any(arm in place_of for arm in routes[walker])
    ]
    stop = pyvrp.stop.MultipleCriteria(
        [
            pyvrp.stop.NoImprovement(_PATIENCE),
            pyvrp.stop.MaxRuntime(min(limits.seconds, 1e6)),
        ]
    )

    class Keep(pyvrp.IteratedLocalSearchCallbacks):  # type: ignore[misc]
        """Keeps what is found, so that it is there when the search is stopped."""

        def on_best(self, solution: Any) -> None:
            free = [group.tolist() for group in groups]
            found: list[list[int]] = [[] for _ in own.limits]
            for route in solution.routes():
                walker = free[route.vehicle_type()].pop(0)
                found[walker] = [int(arms[stop.idx]) for stop in route if stop.is_client()]
            best.keep(found)

    with warnings.catch_warnings():
        # What it warns of are prizes that are too small for somebody to set out.
        warnings.simplefilter("ignore")
        pyvrp.solve(
            data,
            stop,
            seed=0,
            collect_stats=False,
            display=False,
            params=pyvrp.SolveParams(ils=pyvrp.IteratedLocalSearchParams(callbacks=Keep())),
            initial_solution=pyvrp.Solution(data, begin) if begin else None,
        )


def _data(
    pyvrp: Any,
    own: Map,
    groups: Sequence[IntArray],
    weights: FloatArray,
    arms: IntArray,
) -> Any:
    """Return arms as clients, and for each group of walkers a depot and ways of its own.

    Places are the depots, one for each group, and then the arms.
    """
    n_groups, size = len(groups), len(groups) + len(arms)
    ways = own.between[np.ix_(arms, arms)] - own.service[arms]
    durations = []
    for which, group in enumerate(groups):
        walker = int(group[0])
        matrix = np.full((size, size), _BARRED, dtype=np.int64)
        matrix[n_groups:, n_groups:] = ways
        out = own.out[walker, arms] - own.begins[walker] - own.service[arms]
        matrix[which, n_groups:] = out
        matrix[n_groups:, which] = own.home[walker, arms]
        barred = n_groups + np.flatnonzero(~own.is_in_reach[walker, arms])
        matrix[:, barred] = matrix[barred, :] = _BARRED
        np.fill_diagonal(matrix, 0)
        durations.append(matrix)
    unit = _LARGEST_PRIZE / float(weights.max())
    clients = [
        pyvrp.Client(
            n_groups + place,
            service_duration=int(own.service[arm]),
            tw_early=int(own.early[arm] - own.service[arm]),
            tw_late=int(own.late[arm] - own.service[arm]),
            prize=max(1, round(unit * float(weights[arm]))),
            required=False,
        )
        for place, arm in enumerate(arms.tolist())
    ]
    vehicles = [
        pyvrp.VehicleType(
            len(group),
            start_depot=which,
            end_depot=which,
            tw_early=int(own.begins[group[0]]),
            tw_late=int(own.limits[group[0]]),
            unit_distance_cost=0,
            unit_duration_cost=1,
            profile=which,
        )
        for which, group in enumerate(groups)
    ]
    nowhere = np.zeros((size, size), dtype=np.int64)
    return pyvrp.ProblemData(
        [pyvrp.Location(0, 0) for _ in range(size)],
        clients,
        [pyvrp.Depot(which) for which in range(n_groups)],
        vehicles,
        [nowhere] * n_groups,
        durations,
    )
