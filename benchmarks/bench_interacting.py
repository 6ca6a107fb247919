"""What SEQUOIA learns where arms interact: quality, cost, growth.

    python benchmarks/bench_interacting.py tiny      # 8 nodes, where the optimum is known
    python benchmarks/bench_interacting.py sizes     # 20 to 100 nodes, against myopic and price
    python benchmarks/bench_interacting.py scale     # up to 10,000 nodes: seconds and memory
    python benchmarks/bench_interacting.py kinds     # fires, immunity, vaccination, routes
    python benchmarks/bench_interacting.py settings  # the four settings of the paper
    BEFORE=OTHER/src python benchmarks/bench_interacting.py before  # and those of another checkout

Every result is a cell of a JSON file, written at once; cells that are there are not measured
again, so an interrupted run goes on. ``--only TEXT`` measures cells whose name holds the text, and
``--tables`` prints the tables alone. Seconds are CPU seconds of one process; each cell has a
process of its own, so memory is its peak. All policies of a cell meet the same luck; intervals are
95 %.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import bench_graph_control as graph_control
import numpy as np
from bench_factored import earned

from sequoia.bounds import relax_factored, solve_exactly
from sequoia.evaluation import evaluate
from sequoia.evaluation.intervals import estimate
from sequoia.io import write_text
from sequoia.learn import make_config, train
from sequoia.policies import Policy, make_policy
from sequoia.policies.price import ClusterPricePolicy
from sequoia.problem import Problem
from sequoia.problem.families import capacity, epidemic, interventions, routing, scheduling
from sequoia.simulate import Scenarios, rollout

RESULTS = Path(__file__).parent.parent / "docs" / "benchmarks" / "interacting.json"
PICTURE = Path(__file__).parent.parent / "docs" / "images" / "interacting-scale.png"
SEEDS = range(1, 6)
SIZES = {20: SEEDS, 30: range(11, 16), 50: SEEDS, 100: SEEDS}
EPISODES = {20: 300, 30: 100, 50: 60, 100: 30}
LOOKAHEAD_SEEDS = (11, 12)
SCALE = (100, 300, 1_000, 3_000, 10_000)
KINDS = {
    "fire": (graph_control.lattice_fire, graph_control.FIRE_RULES),
    "sir": (graph_control.small_world_sir, graph_control.SIR_RULES),
    "vaccine": (
        partial(graph_control.small_world_sir, treat="healthy"),
        graph_control.VACCINE_RULES,
    ),
    "lattice": (
        partial(epidemic, arms=49, graph="lattice"),
        {"spreaders": graph_control.spreaders},
    ),
    "route": (partial(epidemic, arms=20, route=True), {}),
}
SETTINGS = (interventions, scheduling, capacity, routing)

Cell = Callable[[], dict[str, Any]]


# ---------------------------------------------------------------- one cell


def learn(problem: Problem, **changes: Any) -> tuple[Any, float]:
    """Train by the usual preset, and return the model and CPU seconds."""
    began = time.process_time()
    q = train(problem, make_config("default", **changes), seed=1).model
    return q, time.process_time() - began


def totals(problem: Problem, policies: dict[str, Policy], episodes: int) -> dict[str, Any]:
    """Return what policies earn in the same episodes, and sequoia minus each of them."""
    scenarios = Scenarios.sample(problem, episodes, seed=5)
    played = {
        name: rollout(problem, policy, scenarios, name=name).rewards.sum(axis=1)
        for name, policy in policies.items()
    }
    own = played["sequoia"]
    found: dict[str, Any] = {"horizon": problem.horizon, "episodes": episodes}
    for name, rewards in played.items():
        mean, gap = estimate(rewards), estimate(own - rewards)
        found[name] = [mean.mean, mean.half]
        if name != "sequoia":
            found[f"minus {name}"] = [gap.mean, gap.half]
    return found


def tiny(seed: int) -> dict[str, Any]:
    """Go through all joint states: no luck in these numbers, but for lookahead."""
    problem = epidemic(arms=8, seed=seed)
    q, seconds = learn(problem)
    own = make_policy("sequoia", problem, model=q)
    price = ClusterPricePolicy(problem)
    exactly = {"sequoia": own, "price": price, "myopic": make_policy("myopic", problem)}
    found: dict[str, Any] = {name: earned(problem, one) for name, one in exactly.items()}
    found |= {"optimum": solve_exactly(problem).value, "seconds": seconds}
    if seed in LOOKAHEAD_SEEDS:
        ahead = make_policy("lookahead", problem, model=q)
        played = totals(problem, {"sequoia": own, "lookahead": ahead}, 5)
        found["sequoia minus lookahead"] = played["minus lookahead"]
    return found


def size(arms: int, seed: int) -> dict[str, Any]:
    """Compare with myopic and price; the bound is that of price."""
    problem = epidemic(arms=arms, seed=seed)
    q, seconds = learn(problem)
    began = time.process_time()
    relaxed = relax_factored(problem)
    spent = time.process_time() - began
    policies = {
        "sequoia": make_policy("sequoia", problem, model=q),
        "myopic": make_policy("myopic", problem),
        "price": ClusterPricePolicy(problem, relaxed.value),
    }
    found = totals(problem, policies, EPISODES[arms])
    return {**found, "bound": relaxed.bound.total, "seconds": seconds, "price seconds": spent}


def scale(arms: int) -> dict[str, Any]:
    """Train and play a large epidemic; memory is the peak of the process."""
    problem = epidemic(arms=arms, seed=1)
    q, seconds = learn(problem)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    policies = {name: make_policy(name, problem, model=q) for name in ("sequoia", "myopic")}
    found = totals(problem, policies, max(10, min(20, 20_000 // arms)))
    return {**found, "seconds": seconds, "megabytes": memory}


def kind(name: str, seed: int) -> dict[str, Any]:
    """Compare with the rules of thumb for the problem."""
    make, rules = KINDS[name]
    problem = make(seed=seed)
    q, seconds = learn(problem)
    policies: dict[str, Policy] = {
        one: make_policy(one, problem, model=q) for one in ("sequoia", "myopic", "random")
    }
    policies |= {rule: graph_control.Rule(problem, score) for rule, score in rules.items()}
    return {**totals(problem, policies, 60), "seconds": seconds}


def setting(name: str, seed: int) -> dict[str, Any]:
    """Train by the default preset, and compare with the bound."""
    make = next(one for one in SETTINGS if one.__name__ == name)
    problem = make(arms=20, seed=seed)
    q, seconds = learn(problem)
    found = evaluate(problem, ["sequoia", "price"], 30, seed=5, model=q, bound="hull")
    assert found.bound is not None
    shares = {one: found.mean(one).mean / found.bound.per_step for one in found.names}
    gap = found.paired("sequoia", "price")
    return {**shares, "minus price": [gap.mean, gap.half], "seconds": seconds}


# What every version of the library since 4d952b8 understands.
TRAIN = """
import sys, time
from sequoia.learn import train
from sequoia.problem.families import FAMILIES
problem = FAMILIES[sys.argv[1]](arms=20, seed=int(sys.argv[2]))
began = time.process_time()
trained = train(problem, seed=1)
print(time.process_time() - began, trained.reward, trained.bound)
"""


def before_and_after(name: str, seed: int) -> dict[str, Any]:
    """Train with the library in BEFORE and with this one: seconds, and held-out share of bound."""
    found = {}
    for when in ("before", "after"):
        tree = os.environ["BEFORE"] if when == "before" else str(Path(__file__).parents[1] / "src")
        command = [sys.executable, "-c", TRAIN, name, str(seed)]
        environment = os.environ | {"PYTHONPATH": tree}
        done = subprocess.run(command, env=environment, capture_output=True, check=True)
        seconds, reward, best = map(float, done.stdout.split())
        found[when] = {"seconds": seconds, "share": reward / best}
    return found


# ---------------------------------------------------------------- what is left out


# ---------------------------------------------------------------- all cells


def cells() -> Iterator[tuple[str, Cell]]:
    """Yield every cell: its name, part first, and what measures it."""
    for seed in range(11, 21):
        yield f"tiny/{seed}", partial(tiny, seed)
    for arms, seeds in SIZES.items():
        for seed in seeds:
            yield f"sizes/{arms}/{seed}", partial(size, arms, seed)
    for name in KINDS:
        for seed in SEEDS:
            yield f"kinds/{name}/{seed}", partial(kind, name, seed)
    for make in SETTINGS:
        for seed in SEEDS:
            yield f"settings/{make.__name__}/{seed}", partial(setting, make.__name__, seed)
            yield f"before/{make.__name__}/{seed}", partial(before_and_after, make.__name__, seed)
    for arms in SCALE:
        yield f"scale/{arms}", partial(scale, arms)


def measure(parts: list[str], only: str, path: Path) -> None:
    """Measure what is missing, each cell in a process of its own."""
    for name, cell in cells():
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if name in known or only not in name or name.split("/")[0] not in parts:
            continue
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            found = pool.submit(cell).result()
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        known[name] = found
        write_text(path, json.dumps(known, indent=1, sort_keys=True) + "\n")
        print(name, json.dumps(found), flush=True)


# ---------------------------------------------------------------- tables


def rows(known: dict[str, Any], part: str) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Yield the cells of a part: the rest of the name, and the numbers."""
    for name, _ in cells():
        first, *rest = name.split("/")
        if first == part and name in known:
            yield rest, known[name]


def per_step(found: dict[str, Any], name: str) -> str:
    """Return a mean and its interval, per step."""
    mean, half = found[name]
    return f"{mean / found['horizon']:.2f} ± {half / found['horizon']:.2f}"


def gain(found: dict[str, Any], name: str = "myopic") -> float:
    """Return how many per cent more sequoia earns."""
    return 100 * (found["sequoia"][0] / found[name][0] - 1)


def print_tables(known: dict[str, Any]) -> None:
    """Print every table of the documentation that has numbers."""
    print("\n| 8 nodes, share of the optimum | myopic | price | SEQUOIA | lookahead minus it | s |")
    print("|---|---|---|---|---|---|")
    shares = []
    for (seed,), one in rows(known, "tiny"):
        own = [one[name] / one["optimum"] for name in ("myopic", "price", "sequoia")]
        shares.append(own)
        cut = " | ".join(f"{100 * share:.2f} %" for share in own)
        mean, half = one.get("sequoia minus lookahead", [np.nan, np.nan])
        ahead = "–" if np.isnan(mean) else f"{-mean / 20:+.3f} ± {half / 20:.3f}"
        print(f"| seed {seed} | {cut} | {ahead} | {one['seconds']:.0f} |")
    if shares:
        print("| mean |", " | ".join(f"{100 * s:.2f} %" for s in np.mean(shares, axis=0)), "| | |")

    print(
        "\n| nodes, seed | myopic | price | SEQUOIA | minus myopic | minus price | of bound | s |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for (arms, seed), one in rows(known, "sizes"):
        cut = " | ".join(
            per_step(one, name)
            for name in ("myopic", "price", "sequoia", "minus myopic", "minus price")
        )
        share = 100 * one["sequoia"][0] / one["bound"]
        print(f"| {arms}, {seed} | {cut} | {share:.1f} % | {one['seconds']:.0f} |")
    for arms in SIZES:
        of = [gain(one) for (own, _), one in rows(known, "sizes") if own == str(arms)]
        if of:
            print(f"{arms} nodes: {np.mean(of):.1f} % over myopic, {min(of):.1f} at least")

    print("\n| nodes | over myopic | seconds | MB |\n|---|---|---|---|")
    for (arms,), one in rows(known, "scale"):
        print(f"| {arms} | {gain(one):.1f} % | {one['seconds']:.0f} | {one['megabytes']:.0f} |")

    print("\n| problem, seed | random | myopic | best rule | SEQUOIA | minus the rule | s |")
    print("|---|---|---|---|---|---|---|")
    for (name, seed), one in rows(known, "kinds"):
        rule = max(KINDS[name][1], key=lambda rule, one=one: one[rule][0], default="myopic")
        shown = ("random", "myopic", rule, "sequoia", f"minus {rule}")
        cut = " | ".join(per_step(one, policy) for policy in shown)
        print(f"| {name}, {seed} ({rule}) | {cut} | {one['seconds']:.0f} |")

    print("\n| setting, seed | SEQUOIA, % of bound | price, % | minus price | s |")
    print("|---|---|---|---|---|")
    for (name, seed), one in rows(known, "settings"):
        mean, half = one["minus price"]
        print(
            f"| {name}, {seed} | {100 * one['sequoia']:.2f} | {100 * one['price']:.2f} "
            f"| {mean:+.3f} ± {half:.3f} | {one['seconds']:.0f} |"
        )

    print(
        "\n| setting, seed | share before, % | after, % | s before | after |\n|---|---|---|---|---|"
    )
    for (name, seed), one in rows(known, "before"):
        share, seconds = (
            [one[when][what] for when in ("before", "after")] for what in ("share", "seconds")
        )
        cut = " | ".join(f"{100 * own:.2f}" for own in share)
        print(f"| {name}, {seed} | {cut} | {seconds[0]:.1f} | {seconds[1]:.1f} |")


def draw(known: dict[str, Any], path: Path) -> None:
    """Draw how time and memory grow."""
    import matplotlib.pyplot as plt

    found = [(int(arms), one) for (arms,), one in rows(known, "scale")]
    if len(found) < 2:
        return
    arms = [size for size, _ in found]
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for axes, name, unit in ((left, "seconds", "CPU seconds"), (right, "megabytes", "peak MB")):
        axes.loglog(arms, [one[name] for _, one in found], "o-", color="#0072B2")
        axes.set_xlabel("interacting arms")
        axes.set_ylabel(f"{unit} of training")
        axes.grid(True, which="both", alpha=0.2)
    plt.savefig(path, dpi=110)
    plt.close()


if __name__ == "__main__":
    known_parts = list(dict.fromkeys(name.split("/")[0] for name, _ in cells()))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(known_parts)}; all unless given")
    parser.add_argument("--only", default="", help="cells whose name holds this")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(known_parts):
        parser.error(f"unknown part {', '.join(sorted(unknown))}")
    if not given.tables:
        measure(given.parts or known_parts, given.only, given.results)
    numbers = json.loads(given.results.read_text(encoding="utf-8"))
    print_tables(numbers)
    draw(numbers, PICTURE)
