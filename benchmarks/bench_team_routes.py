"""The best routes for a weight per arm, against HiGHS on the plain and the compact formulation.

Three walkers on the London Underground; weights are gamma distributed. Ours stops within the wanted
gap; HiGHS has the same gap and a limit, for the first question of the first ``--rivals`` seeds.
What training takes instead, good routes without proof, is compared with what ours found.
Options: ``--seeds 3 --questions 3 --rivals 1 --limit 10``; times are of the processor.
"""

import argparse
import time

import numpy as np

from sequoia.problem import LinearSystem
from sequoia.problem.families import team
from sequoia.rng import stream
from sequoia.solvers import Highs, Limits, Status
from sequoia.validation import FloatArray

SHAPES = {
    "20 stations, 60 minutes, exact": (20, 60, 1, 1e-9),
    "40 stations, 60 minutes, exact": (40, 60, 1, 1e-9),
    "40 stations, 60 minutes, to 1 %": (40, 60, 1, 0.01),
    "40 stations, 90 minutes, to 1 %": (40, 90, 1, 0.01),
    "40 stations, 60 minutes, 3 depots, to 1 %": (40, 60, 3, 0.01),
    "100 stations, 60 minutes, to 2 %": (100, 60, 1, 0.02),
    "100 stations, 90 minutes, to 2 %": (100, 90, 1, 0.02),
    "100 stations, 60 minutes, 3 depots, to 2 %": (100, 60, 3, 0.02),
}


def by_highs(system: LinearSystem, weights: FloatArray, gap: float, seconds: float) -> str:
    """Say how long HiGHS took, or how far it was from its own bound when time was up."""
    began = time.process_time()
    found = Highs().solve(system.program(weights), Limits(seconds=seconds, gap=max(gap, 1e-6)))
    taken = time.process_time() - began
    if found.status is not Status.LIMIT:
        return f"{taken:.1f} s"
    left = f"gap {100 * found.gap:.0f} %" if found.gap < 10 else "gap over 1,000 %"
    return f"stopped at {taken:.1f} s, {'no solution' if found.values is None else left}"


def measure(shape: tuple[int, int, int, float], options: argparse.Namespace) -> None:
    arms, minutes, depots, gap = shape
    ours, gaps, plain, compact, quick, shares = [], [], [], [], [], []
    for seed in range(options.seeds):
        space = team(arms=arms, minutes=minutes, depots=depots, seed=seed).space
        rng = stream(seed, "bench:team")
        space.bracket_linear(np.ones(arms), Limits(gap=0.1))
        for question in range(options.questions):
            weights = rng.gamma(1.0, size=arms)
            began = time.process_time()
            action, bound = space.bracket_linear(weights, Limits(gap=gap))
            ours.append(time.process_time() - began)
            gaps.append(bound / float(weights @ action) - 1)
            space.certify(action)
            began = time.process_time()
            good = space.construct_linear(weights[None])[0]
            quick.append(time.process_time() - began)
            shares.append(float(weights @ good) / float(weights @ action))
            space.certify(good)
            if seed < options.rivals and not question:
                plain.append(by_highs(space.system, weights, gap, options.limit))
                compact.append(by_highs(space.compact, weights, gap, options.limit))
    print(
        f"{np.median(ours):6.2f} s, at most {max(ours):6.2f} s, gap at most {100 * max(gaps):.2f}"
        f" %; without proof {1e3 * np.median(quick):.1f} ms, {100 * np.mean(shares):.2f} % of that"
        f" (at least {100 * min(shares):.2f}); HiGHS, plain: {'; '.join(plain)}; compact:"
        f" {'; '.join(compact)}",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=3)
    parser.add_argument("--rivals", type=int, default=1)
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=SHAPES)
    chosen = parser.parse_args()
    for name in chosen.shapes:
        print(f"{name:<44}", end="", flush=True)
        measure(SHAPES[name], chosen)
