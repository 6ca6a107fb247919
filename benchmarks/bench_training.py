"""What training earns in problems outside the paper's four settings, and two of its remarks.

    python benchmarks/bench_training.py specials    # the trap, standard bandits
    python benchmarks/bench_training.py links       # where building up one by one suffices
    python benchmarks/bench_training.py relax       # the relaxation heuristic under a time limit
    python benchmarks/bench_training.py ablation    # what each part of the default adds
    python benchmarks/bench_training.py hidden      # a hidden layer over prices, or none

Seconds are CPU seconds of one process.
"""

import sys
import time
from functools import partial

import numpy as np

from experiments.ipopt_rounding import IpoptRounding
from sequoia.evaluation import evaluate
from sequoia.evaluation.intervals import estimate
from sequoia.learn import make_config, train
from sequoia.optimize import Auto, Milp
from sequoia.policies import Sequoia
from sequoia.problem import Problem
from sequoia.problem.families import (
    capacity,
    interventions,
    routing,
    scheduling,
    standard,
    trap,
)
from sequoia.simulate import Scenarios, rollout
from sequoia.solvers import Highs, Limits

EPISODES = 100


def main() -> None:
    parts = {
        "specials": specials,
        "links": links,
        "relax": relaxation,
        "ablation": ablation,
        "hidden": hidden,
    }
    for name in sys.argv[1:] or parts:
        print(f"# {name}", flush=True)
        parts[name]()


def compare(problem: Problem, policies: list[str], preset: str | None = None, **changes) -> None:
    """Train, evaluate and print one line per policy."""
    began = time.process_time()
    config = make_config(preset or "default", **changes)
    trained = train(problem, config, seed=1)
    spent = time.process_time() - began
    found = evaluate(problem, policies, EPISODES, seed=5, model=trained.model, bound="none")
    print(f"{problem.name} ({spent:.0f} s of training)")
    for name in policies:
        mean, gap = found.mean(name), found.paired("sequoia", name)
        print(
            f"  {name:17s} {mean.mean:8.3f} ± {mean.half:.3f}"
            f"   sequoia minus it {gap.mean:+.3f} ± {gap.half:.3f}",
            flush=True,
        )


def specials() -> None:
    compare(trap(), ["myopic", "exact", "sequoia"])
    for seed in (1, 2, 3):
        for arms in (20, 100):
            compare(standard(arms=arms, seed=seed), ["myopic", "whittle", "price", "sequoia"])


def links() -> None:
    for link in ("linear", "submodular", "sigmoid"):
        for seed in (1, 2, 3):
            problem = interventions(arms=20, link=link, seed=seed)
            compare(problem, ["myopic", "iterative-dqn", "price", "sequoia"])


def relaxation() -> None:
    """Play the same network with different engines, each limited to 0.2 s a decision."""
    for arms in (20, 40):
        problem = capacity(arms=arms, seed=1)
        config = make_config("paper", rounds=20, indicators=True)
        q = train(problem, config, seed=1).model
        plain = Limits(seconds=0.2)
        engines = {
            "auto, proven": partial(Auto, seconds=10.0),
            "milp, 0.2 s": partial(Milp, limits=plain),
            "milp with HiGHS as it comes, 0.2 s": partial(Milp, solver=Highs(), limits=plain),
            "relax, 0.2 s": partial(IpoptRounding, seconds=0.2),
        }
        scenarios = Scenarios.sample(problem, 10, seed=5)
        for name, engine in engines.items():
            began = time.perf_counter()
            earned = rollout(problem, Sequoia(problem, q, engine), scenarios).rewards.mean()
            each = (time.perf_counter() - began) / scenarios.noise[:, :, 0].size
            print(f"  {problem.name}, {name}: {earned:.3f}, {1000 * each:.0f} ms each", flush=True)


def ablation() -> None:
    """Change one thing at a time; percent of the full default, by setting.

    What the price part, the critic, the warm start and the target network add is measured by
    ``python -m experiments.paper``.
    """
    changes = {
        "default": {},
        "lp prices": {"prices": "lp"},
        "lp prices, no learning": {"prices": "lp", "rounds": 0},
        "no hidden layer": {"hidden": ()},
        "hidden 32, 32": {"hidden": (32, 32)},
        "no linear part": {"linear": False},
        "bare states": {"indicators": False},
        "no time feature": {"time_feature": False},
        "uniform replay": {"alpha": 0.0},
        "no time feature, gamma 0.95": {"time_feature": False, "gamma": 0.95},
    }
    families = (interventions, scheduling, capacity, routing)
    problems = [family(arms=20, seed=1) for family in families]
    whole: dict[str, np.ndarray] = {}
    for name, change in changes.items():
        began = time.process_time()
        earned = []
        for problem in problems:
            q = train(problem, make_config("default", **change), seed=1).model
            scenarios = Scenarios.sample(problem, EPISODES, seed=5)
            earned.append(rollout(problem, Sequoia(problem, q), scenarios).rewards.mean())
        whole[name] = np.array(earned)
        share = 100 * whole[name] / whole["default"]
        spent = (time.process_time() - began) / len(problems)
        by_family = " ".join(f"{each:.2f}" for each in share)
        print(f"  {name:24s} {share.mean():.2f}  ({by_family})  {spent:.0f} s each", flush=True)


def hidden() -> None:
    """Train over prices without a hidden layer and with one of 16, and play the same episodes."""
    for arms in (20, 40):
        for family in (interventions, scheduling, capacity, routing):
            problem = family(arms=arms, seed=1)
            scenarios = Scenarios.sample(problem, 30, seed=77)
            earned = []
            for widths in ((), (16,)):
                began = time.process_time()
                trained = train(problem, make_config("default", hidden=widths), seed=1)
                spent = time.process_time() - began
                played = rollout(problem, Sequoia(problem, trained.model), scenarios)
                earned.append(played.rewards.mean(axis=1))
                share = 100 * earned[-1].mean() / trained.bound
                said = f"{share:.2f} % of the bound, {spent:.0f} s"
                print(f"  {problem.name}, hidden {widths}: {said}")
            one = estimate(earned[1] - earned[0])
            print(f"  with the layer: {one.mean:+.4f} ± {one.half:.4f} per step", flush=True)


if __name__ == "__main__":
    main()
