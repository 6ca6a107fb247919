"""The paper's figure at J = 20 over five seeds, and the time of an evaluation at J = 100.

Options: ``--seeds 5 --episodes 50 --jobs 2 --skip-large``.
"""

import argparse
import time

import numpy as np

from sequoia.evaluation import evaluate
from sequoia.problem.families import FAMILIES

SETTINGS = ("capacity", "scheduling", "interventions", "routing")
BASELINES = ("idle", "random", "sampling", "iterative-myopic", "myopic", "price", "price-update")


def names_for(setting: str) -> list[str]:
    return [name for name in BASELINES if setting != "routing" or name != "iterative-myopic"]


def figure(seeds: int, episodes: int, jobs: int) -> None:
    print(f"{'setting':<14}" + "".join(f"{name:>17}" for name in BASELINES) + "   order")
    for setting in SETTINGS:
        names = names_for(setting)
        relative = []
        holds = []
        for seed in range(seeds):
            problem = FAMILIES[setting](arms=20, seed=seed)
            found = evaluate(problem, names, episodes, seed, jobs=jobs)
            means = {name: found.mean(name).mean for name in names}
            relative.append([found.relative_to_random(name) for name in names])
            middle = [means[n] for n in ("sampling", "iterative-myopic", "myopic") if n in means]
            holds.append(
                means["idle"] < means["random"] < min(middle)
                and max(middle) <= means["price"] * (1 + 1e-9)
            )
        mean = dict(zip(names, np.mean(relative, axis=0), strict=True))
        cells = "".join(f"{mean[n]:>17.2f}" if n in mean else f"{'–':>17}" for n in BASELINES)
        print(f"{setting:<14}{cells}   {sum(holds)} of {seeds}", flush=True)


def large(episodes: int, jobs: int) -> None:
    began = time.perf_counter()
    problem = FAMILIES["capacity"](arms=100)
    found = evaluate(problem, names_for("capacity"), episodes, 0, jobs=jobs)
    print(f"\n{problem.name}, {episodes} episodes, {jobs} processes")
    for name in found.names:
        one = found.mean(name)
        print(
            f"  {name:<17}{one.mean:8.2f} ± {one.half:.2f}"
            f"{found.percent_of_bound(name):8.1f} % of the bound"
            f"{found.ms_per_decision(name):10.2f} ms"
        )
    print(f"  all of it in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--skip-large", action="store_true")
    options = parser.parse_args()
    figure(options.seeds, options.episodes, options.jobs)
    if not options.skip_large:
        large(options.episodes, options.jobs)
