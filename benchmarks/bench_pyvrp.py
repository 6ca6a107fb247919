"""Routes of a team by PyVRP, the best open heuristic for routing with prizes, against ours.

Weights are gamma distributed. PyVRP has a client with a prize for each arm, vehicles with a longest
duration, and minutes cost next to nothing, so that what it minimises is the prizes left out. Ours
goes first, to the wanted gap; PyVRP then has ``--times`` its seconds. In percent of the bound that
ours proves.
Options: ``--seeds 3 --times 1 5``. Install pyvrp 0.14.1 beside sequoia for it.
"""

import argparse
import time

import numpy as np
import pyvrp
from pyvrp.stop import MaxRuntime

from sequoia.problem.families import team
from sequoia.problem.spaces import Team
from sequoia.rng import stream
from sequoia.solvers import Limits
from sequoia.validation import FloatArray

SHAPES = {
    "40 stations, 60 minutes, to 1 %": (40, 60, 1, 0.01),
    "40 stations, 90 minutes, to 1 %": (40, 90, 1, 0.01),
    "100 stations, 60 minutes, 3 depots, to 2 %": (100, 60, 3, 0.02),
    "100 stations, 90 minutes, to 2 %": (100, 90, 1, 0.02),
    "100 stations, 150 minutes, to 2 %": (100, 150, 1, 0.02),
}
# Prizes are whole numbers in PyVRP.
UNIT = 10_000


def by_pyvrp(space: Team, weights: FloatArray, seconds: float, seed: int) -> float:
    """Return the weight of what PyVRP serves; its routes are checked by the space."""
    model = pyvrp.Model()
    places = [model.add_location(0, 0) for _ in space.travel]
    depots = {int(place): model.add_depot(places[place]) for place in space.depots}
    for place, (minutes, weight) in enumerate(zip(space.service, weights, strict=True)):
        prize = round(UNIT * weight)
        model.add_client(places[place], service_duration=int(minutes), prize=prize, required=False)
    for place, limit in zip(space.depots.tolist(), space.limits.tolist(), strict=True):
        model.add_vehicle_type(
            1,
            start_depot=depots[place],
            end_depot=depots[place],
            shift_duration=limit,
            unit_distance_cost=0,
            unit_duration_cost=1,
        )
    for start, one in enumerate(places):
        for stop, other in enumerate(places):
            if one is not other:
                model.add_edge(one, other, 0, int(space.travel[start, stop]))
    solved = model.solve(MaxRuntime(seconds), seed=seed, display=False)
    action = np.zeros(space.n_actions, dtype=np.int8)
    if solved.is_feasible():
        action[[stop.idx for r in solved.best.routes() for stop in r if stop.is_client()]] = 1
    space.certify(action)
    return float(weights @ action)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--times", type=float, nargs="+", default=[1.0, 5.0])
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=SHAPES)
    options = parser.parse_args()
    for shape in options.shapes:
        arms, minutes, depots, gap = SHAPES[shape]
        rows = []
        for seed in range(options.seeds):
            space = team(arms=arms, minutes=minutes, depots=depots, seed=seed).space
            weights = stream(seed, "bench:team").gamma(1.0, size=arms)
            space.bracket_linear(np.ones(arms), Limits(gap=0.1))
            began = time.perf_counter()
            action, bound = space.bracket_linear(weights, Limits(gap=gap))
            seconds = time.perf_counter() - began
            shares = [float(weights @ action) / bound]
            shares += [
                by_pyvrp(space, weights, times * seconds, seed) / bound for times in options.times
            ]
            rows.append([seconds, *(100 * share for share in shares)])
        mean = np.mean(rows, axis=0)
        theirs = ", ".join(
            f"{share:.2f} % in {times:g} times the time"
            for share, times in zip(mean[2:], options.times, strict=True)
        )
        print(f"{shape}: ours {mean[1]:.2f} % in {mean[0]:.2f} s; PyVRP {theirs}", flush=True)


if __name__ == "__main__":
    main()
