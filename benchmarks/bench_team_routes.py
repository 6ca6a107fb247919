"""The best routes for a weight per arm, against HiGHS on the compact formulation.

Three walkers on the London Underground; weights are gamma distributed. Ours stops within the wanted
gap; HiGHS has the same gap and a limit. Options: ``--seeds 3 --questions 3 --limit 20``.
"""

import argparse
import time

import numpy as np

from sequoia.problem.families import team
from sequoia.rng import stream
from sequoia.solvers import Highs, Limits, Status

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


def measure(shape: tuple[int, int, int, float], options: argparse.Namespace) -> None:
    arms, minutes, depots, gap = shape
    ours, gaps, theirs, theirs_gaps, late = [], [], [], [], 0
    for seed in range(options.seeds):
        space = team(arms=arms, minutes=minutes, depots=depots, seed=seed).space
        rng = stream(seed, "bench:team")
        space.bracket_linear(np.ones(arms), 0.1)
        for question in range(options.questions):
            weights = rng.gamma(1.0, size=arms)
            began = time.process_time()
            action, bound = space.bracket_linear(weights, gap)
            ours.append(time.process_time() - began)
            value = float(weights @ action)
            gaps.append(bound / value - 1)
            space.certify(action)
            if question:
                continue
            began = time.process_time()
            limits = Limits(seconds=options.limit, gap=max(gap, 1e-6))
            found = Highs().solve(space.compact.program(weights), limits)
            theirs.append(time.process_time() - began)
            theirs_gaps.append(found.gap)
            late += found.status is Status.LIMIT
            assert bound >= found.objective * (1 - 1e-6)
    print(
        f"{np.median(ours):6.2f} s, at most {max(ours):6.2f} s, gap at most {100 * max(gaps):.2f}"
        f" %; HiGHS {np.median(theirs):6.2f} s, {late} of {len(theirs)} stopped, median gap "
        f"{100 * np.median(theirs_gaps):.2f} %",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=3)
    parser.add_argument("--limit", type=float, default=20.0)
    chosen = parser.parse_args()
    for name, shape in SHAPES.items():
        print(f"{name:<44}", end="", flush=True)
        measure(shape, chosen)
