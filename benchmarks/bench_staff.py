"""How close prices come to the hull bound in a family, and SEQUOIA to prices.

Options: ``--family rota --arms 20 40 --seeds 5 --first 0 --episodes 50 --seconds 120``, and
``--train`` for SEQUOIA, trained on top of prices with the default preset.
"""

import argparse
import time

import numpy as np

from sequoia.bounds.lagrangian.relax import relax
from sequoia.evaluation import evaluate
from sequoia.evaluation.intervals import estimate
from sequoia.learn import train
from sequoia.problem import Problem
from sequoia.problem.families import make


def score(problem: Problem, seed: int, options: argparse.Namespace) -> dict[str, float]:
    bound = relax(problem, "hull", seconds=options.seconds).bound
    q = train(problem, seed=seed).q if options.train else None
    names = ["random", "myopic", "price", *(["sequoia"] if options.train else [])]
    found = evaluate(problem, names, options.episodes, seed, q=q, bound="none")
    means = {name: found.mean(name).mean for name in found.names}
    shares = {name: 100 * mean / bound.per_step for name, mean in means.items()}
    return shares | {"gap of the bound": 100 * bound.gap}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", default="rota")
    parser.add_argument("--arms", type=int, nargs="+", default=[20, 40])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--train", action="store_true")
    options = parser.parse_args()
    for arms in options.arms:
        began, rows = time.process_time(), []
        for seed in range(options.first, options.first + options.seeds):
            rows.append(score(make(options.family, arms=arms, seed=seed), seed, options))
            print(seed, {k: round(v, 2) for k, v in rows[-1].items()}, flush=True)
        print(f"{options.family}, {arms} arms, in percent of the hull bound:")
        for name in [name for name in rows[0] if name != "gap of the bound"]:
            print(f"  {name:<17}{estimate(np.array([row[name] for row in rows]))}")
        print(f"  {time.process_time() - began:.0f} s of processor time", flush=True)
