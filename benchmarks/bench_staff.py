"""How close prices come to the hull bound in a family, and SEQUOIA to prices.

`price` plays by the prices of the linear relaxation, as it does everywhere, `price, hull` by those
of the hull bound; all policies have the same luck. What prices expect of the luck of each step is
taken off the rewards: this changes no mean, and leaves a small part of the noise. Options:
``--family rota --arms 20 40 --seeds 5 --first 0 --episodes 5 --gap 0.001``, and ``--train`` for
SEQUOIA, trained on top of prices with the default preset; ``--models FOLDER`` keeps what is
trained, and goes on with what is there.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from bench_bounds import steadily

from sequoia.bounds import relax
from sequoia.evaluation.intervals import estimate
from sequoia.learn import train
from sequoia.models.folder import ABOUT, load_model
from sequoia.models.model import QFunction
from sequoia.policies import PricePolicy, make_policy
from sequoia.problem import Problem
from sequoia.problem.families import make
from sequoia.simulate import Scenarios


def learned(problem: Problem, seed: int, options: argparse.Namespace) -> QFunction:
    """Return what the default preset learns, from a folder where one is given."""
    if options.models is None:
        return train(problem, seed=seed).model
    folder = options.models / f"{options.family}-{problem.arms.n_arms}-{seed}"
    if not (folder / ABOUT).exists():
        train(problem, seed=seed, folder=folder, resume=True)
    return load_model(folder, problem)


def score(problem: Problem, seed: int, options: argparse.Namespace) -> dict[str, float]:
    """Return what policies earn, in percent of the hull bound."""
    hull = relax(problem, "hull", gap=options.gap, seconds=options.seconds)
    found = {"gap of the bound": 100 * hull.bound.gap}
    acting = {name: make_policy(name, problem) for name in ("random", "myopic", "price")}
    acting["price, hull"] = PricePolicy(problem, hull.prices)
    if options.train:
        acting["sequoia"] = make_policy("sequoia", problem, learned(problem, seed, options))
    scenarios = Scenarios.sample(problem, options.episodes, seed)
    for name, policy in acting.items():
        mean, _ = steadily(problem, policy, scenarios, hull.prices)
        found[name] = 100 * mean / hull.bound.per_step
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", default="rota")
    parser.add_argument("--arms", type=int, nargs="+", default=[20, 40])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--episodes", type=int, default=5)
    parser.add_argument("--gap", type=float, default=1e-3, help="of the bound to the best one")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--models", type=Path)
    options = parser.parse_args()
    for arms in options.arms:
        began, rows = time.process_time(), []
        for seed in range(options.first, options.first + options.seeds):
            rows.append(score(make(options.family, arms=arms, seed=seed), seed, options))
            print(seed, {name: round(value, 3) for name, value in rows[-1].items()}, flush=True)
        print(f"{options.family}, {arms} arms, in percent of the hull bound:")
        for name in rows[0]:
            print(f"  {name:<17}{estimate(np.array([row[name] for row in rows]))}")
        print(f"  {time.process_time() - began:.0f} s of processor time", flush=True)
