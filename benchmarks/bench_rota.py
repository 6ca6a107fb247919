"""The best rota for a weight per arm, against HiGHS on the plain formulation, both proven.

100 arms, 20 workers, 10 slots; weights are gamma distributed, a tenth of them zero. Options:
``--seeds 3 --first 0 --questions 8 --limit 10 --shapes "as it is made"``.
"""

import argparse
import time

import numpy as np

from sequoia.problem.families import rota
from sequoia.rng import stream
from sequoia.solvers import Highs, Limits, Status

SHAPES = {
    "as it is made": {},
    "1 or 2 visits": {"visits": 2},
    "1 or 2 visits by different workers": {"visits": 2, "distinct_workers": True},
    "2 slots a worker": {"slots_per_worker": 2},
    "2 slots, at most 25 arms": {"slots_per_worker": 2, "budget": 25},
    "3 slots, no two in a row": {"slots_per_worker": 3, "most_in_a_row": 1},
}


def measure(knobs: dict, seeds: range, questions: int, limit: float) -> None:
    ours, plain, late, arms = [], [], 0, []
    for seed in seeds:
        space = rota(arms=100, workers=20, slots=10, seed=seed, **knobs).space
        rng = stream(seed, "bench:rota")
        # What is built once for a space is not counted.
        space.argmax_linear(np.ones(space.n_actions))
        for _ in range(questions):
            weights = rng.gamma(1.0, size=space.n_actions) * (rng.random(space.n_actions) < 0.9)
            began = time.process_time()
            action = space.argmax_linear(weights)
            ours.append(time.process_time() - began)
            began = time.process_time()
            found = Highs().solve(space.system.program(weights), Limits(seconds=limit))
            plain.append(time.process_time() - began)
            assert action is not None
            assert weights @ action >= found.objective * (1 - 1e-6)
            late += found.status is Status.LIMIT
            arms.append(int(action.sum()))
    print(
        f"{1e3 * np.median(ours):7.0f} ms, {1e3 * np.quantile(ours, 0.9):5.0f} ms in 9 of 10;"
        f" HiGHS {1e3 * np.median(plain):7.0f} ms, {late} of {len(plain)} not proven in "
        f"{limit:g} s; {np.mean(arms):.0f} arms acted on",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=SHAPES)
    parser.add_argument("--questions", type=int, default=8)
    parser.add_argument("--limit", type=float, default=10.0)
    options = parser.parse_args()
    for shape in options.shapes:
        print(f"{shape:<36}", end="", flush=True)
        seeds = range(options.first, options.first + options.seeds)
        measure(SHAPES[shape], seeds, options.questions, options.limit)
