"""Whom to visit, and in which order: routing with prizes at real size, and against what is proven.

Towns are squares of 20 km; people are visited for 15 to 45 minutes, a third of them at certain
hours; weights are gamma distributed. Travel is at 25 km/h on ways 1.3 times as long as the crow's.

``small``: 50 towns that are solved to proven optimality, against the routing engine (PyVRP), the
search that stands in for it where it is missing and, where ortools is installed beside sequoia,
OR-Tools with a second each. ``large``: a decision within a limit of time, and how far it is from
its bound. Options: ``small --instances 50``, ``large --seconds 2 20``.
"""

import argparse
import importlib.util
import multiprocessing
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from unittest import mock

import numpy as np

from sequoia.problem.spaces import Team
from sequoia.problem.spaces.team.engine import better_routes
from sequoia.problem.spaces.team.time_flow import walker_groups
from sequoia.rng import stream
from sequoia.solvers import Limits
from sequoia.validation import FloatArray

# People, workers and minutes of a shift.
LARGE = ((40, 3, 180), (40, 3, 300), (100, 5, 360), (300, 1, 480), (300, 20, 480))
SMALL = ((15, 1, 300), (20, 2, 240), (25, 3, 180), (30, 2, 240), (20, 1, 420))
SECONDS_OF_A_RIVAL = 1.0
PRIZE = 100_000


def town(arms: int, walkers: int, minutes: int, seed: int) -> tuple[Team, FloatArray]:
    """Return a team, and weights."""
    rng = stream(seed, "bench:routes")
    places = rng.uniform(0, 20, (arms + 1, 2))
    away = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
    windows = np.tile([0, 1_440], (arms, 1))
    opens = 480 + 60 * rng.integers(0, 3, arms)
    windows[::3] = np.stack([opens, opens + 120], axis=1)[::3]
    space = Team(
        np.ceil(1.3 * away / 25 * 60),
        rng.integers(15, 46, arms),
        [arms] * walkers,
        [minutes] * walkers,
        windows=windows,
    )
    return space, rng.gamma(1.0, size=arms)


def by_engine(space: Team, weights: FloatArray) -> list[list[int]]:
    """Ask the routing engine."""
    nobody: list[list[int]] = [[] for _ in space.limits]
    own = space._map
    return better_routes(own, walker_groups(own), weights, nobody, Limits(seconds=60))


def by_stand_in(space: Team, weights: FloatArray) -> list[list[int]]:
    """Ask what stands in for it."""
    with mock.patch.dict(sys.modules, {"pyvrp": None}):
        return by_engine(space, weights)


def by_ortools(space: Team, weights: FloatArray) -> list[list[int]]:
    """Ask OR-Tools: guided local search over routes with optional stops."""
    from ortools.constraint_solver import pywrapcp
    from ortools.constraint_solver.routing_enums_pb2 import (
        FirstSolutionStrategy,
        LocalSearchMetaheuristic,
    )

    walkers, depot = len(space.limits), int(space.depots[0])
    index = pywrapcp.RoutingIndexManager(len(space.travel), walkers, depot)
    routing = pywrapcp.RoutingModel(index)
    takes = space.travel.copy()
    takes[: space.n_actions] += space.service[:, None]

    def minutes(start: int, stop: int) -> int:
        return int(takes[index.IndexToNode(start), index.IndexToNode(stop)])

    transit = routing.RegisterTransitCallback(minutes)
    routing.SetArcCostEvaluatorOfAllVehicles(transit)
    most = int((space.begins + space.limits).max())
    routing.AddDimension(transit, most, most, False, "clock")
    clock = routing.GetDimensionOrDie("clock")
    for arm, (first, last) in enumerate(space.windows.tolist()):
        clock.CumulVar(index.NodeToIndex(arm)).SetRange(first, min(last, most))
        prize = max(1, round(PRIZE * float(weights[arm] / weights.max())))
        routing.AddDisjunction([index.NodeToIndex(arm)], prize)
    for walker in range(walkers):
        begin = int(space.begins[walker])
        clock.CumulVar(routing.Start(walker)).SetRange(begin, begin)
        end = begin + int(space.limits[walker])
        clock.CumulVar(routing.End(walker)).SetRange(begin, end)
    asked = pywrapcp.DefaultRoutingSearchParameters()
    asked.first_solution_strategy = FirstSolutionStrategy.PARALLEL_CHEAPEST_INSERTION
    asked.local_search_metaheuristic = LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    asked.time_limit.FromMilliseconds(int(1000 * SECONDS_OF_A_RIVAL))
    found = routing.SolveWithParameters(asked)
    routes: list[list[int]] = [[] for _ in space.limits]
    for walker in range(walkers if found is not None else 0):
        here = found.Value(routing.NextVar(routing.Start(walker)))
        while not routing.IsEnd(here):
            routes[walker].append(index.IndexToNode(here))
            here = found.Value(routing.NextVar(here))
    return routes


def small(instances: int) -> None:
    """Compare with proven optima."""
    rivals: dict[str, Callable[[Team, FloatArray], list[list[int]]]] = {
        "PyVRP": by_engine,
        "the stand-in": by_stand_in,
    }
    # In a process of its own: HiGHS is in ortools as well, and one does not do for the other.
    apart = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
    if importlib.util.find_spec("ortools") is None:
        print("ortools is not installed, and left out")
    else:
        rivals["OR-Tools"] = lambda space, weights: apart.submit(
            by_ortools, replace(space), weights
        ).result()
    shares: dict[str, list[float]] = {name: [] for name in rivals}
    seconds: dict[str, list[float]] = {name: [] for name in ("proof", *rivals)}
    seed = 0
    while len(seconds["proof"]) < instances:
        space, weights = town(*SMALL[seed % len(SMALL)], seed)
        seed += 1
        began = time.perf_counter()
        best = space.argmax_linear(weights)
        if best is None:
            print(f"seed {seed - 1} is not proven, and left out", flush=True)
            continue
        seconds["proof"].append(time.perf_counter() - began)
        for name, ask in rivals.items():
            began = time.perf_counter()
            action = space._map.action(ask(space, weights))
            seconds[name].append(time.perf_counter() - began)
            space.certify(action)
            shares[name].append(float(weights @ action) / float(weights @ best))
    print(f"proof: {np.median(seconds['proof']):.2f} s in the median")
    for name, own in shares.items():
        print(
            f"{name}: {100 * np.mean(own):.2f} % of the optimum in the mean, at least "
            f"{100 * min(own):.2f} %, optimal {sum(share > 1 - 1e-9 for share in own)} of "
            f"{len(own)}; {np.median(seconds[name]):.2f} s in the median"
        )


def large(limits: list[float], seeds: int) -> None:
    """Decide within limits of time."""
    for arms, walkers, minutes in LARGE:
        for limit in limits:
            gaps, taken, served = [], [], []
            for seed in range(seeds):
                space, weights = town(arms, walkers, minutes, seed)
                began = time.perf_counter()
                action, bound = space.bracket_linear(weights, Limits(seconds=limit))
                space.certify(action)
                taken.append(time.perf_counter() - began)
                gaps.append(bound / float(weights @ action) - 1)
                served.append(int(action.sum()))
            print(
                f"{arms} people, {walkers} workers, {minutes} minutes, {limit:g} s: "
                f"{np.mean(served):.0f} visited, gap {100 * np.mean(gaps):.1f} %, "
                f"{max(taken):.1f} s at most with the check",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("small", "large"))
    parser.add_argument("--instances", type=int, default=50)
    parser.add_argument("--seconds", type=float, nargs="+", default=[2.0, 20.0])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    if options.what == "small":
        small(options.instances)
    else:
        large(options.seconds, options.seeds)


if __name__ == "__main__":
    main()
