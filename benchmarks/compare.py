"""Two commits side by side: argmax, bounds and training, in processor seconds.

    python benchmarks/compare.py v0.1.0 HEAD
    python benchmarks/compare.py HEAD~5 HEAD --rounds 10 --only argmax

Both are checked out, by ``git worktree``, and measured by the same Python and packages. A round is
one process for each, on one thread, and they take turns, A, B, A, B, …, so that what else the
machine does is shared out. Printed are medians over rounds, and the ratio of B to A: the geometric
mean over rounds with its 95 % interval (Student's t over logarithms). An interval that has 1 in it
is no difference. Names that moved are looked up in each place where they have been; a task that a
commit cannot do is said to be missing.
"""

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy.stats import t

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Missing(Exception):
    """A commit has nothing of a kind."""


def named(*places: str) -> Any:
    """Return the first of some ``module:name`` that there is."""
    for place in places:
        module, name = place.split(":")
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise Missing(f"none of {places} is here")


def random_net(inputs: int, widths: tuple[int, ...], batch: int) -> Any:
    """Return networks with weights that neither grow nor fade from layer to layer."""
    rng = np.random.default_rng(0)
    sizes = [inputs, *widths]
    weights = tuple(
        rng.normal(size=(after, before)) * np.sqrt(2 / before)
        for before, after in zip(sizes, widths, strict=False)
    )
    return named("sequoia.optimize:ReluNet")(
        weights,
        rng.normal(size=(batch, widths[0])),
        tuple(rng.normal(size=width) * 0.5 for width in widths[1:]),
        rng.normal(size=widths[-1]) / np.sqrt(widths[-1]),
        rng.normal(size=(batch, inputs)),
        rng.normal(size=batch),
    )


def argmax(family: str, arms: int, engine: str, widths: tuple[int, ...], batch: int) -> float:
    problem = named("sequoia.problem.families:FAMILIES")[family](arms=arms)
    encoding = named("sequoia.optimize:ActionEncoding", "sequoia.optimize:Columns")
    columns = encoding.of_problem(problem)
    net = random_net(columns.n_inputs, widths, batch)
    choice = {"auto": {}, "local": {"gap": None}}.get(engine)
    made = named("sequoia.optimize:Milp" if choice is None else "sequoia.optimize:Auto")
    solver = made(columns, **(choice or {}))
    solver.best(net.only([0]))
    return timed(lambda: solver.best(net))


def bound(family: str, arms: int, kind: str, instances: int) -> float:
    """Measure several: which way a solver takes through one of them is a matter of luck."""
    families = named("sequoia.problem.families:FAMILIES")
    problems = [families[family](arms=arms, seed=seed) for seed in range(instances)]
    relax = named("sequoia.bounds:relax")
    relax(families["standard"](arms=4), "lp")
    return timed(lambda: [relax(problem, kind, gap=1e-3) for problem in problems])


def training(family: str, arms: int) -> float:
    problem = named("sequoia.problem.families:FAMILIES")[family](arms=arms)
    train = named("sequoia.learn:train")
    known = named("sequoia.learn:make_config", "sequoia.learn:TrainConfig")
    warm = {"warm_samples": 2_000, "warm_epochs": 10}
    if not hasattr(known, "preset"):
        warm = {"samples": 2_000, "epochs": 10}
    config = getattr(known, "preset", known)("paper", rounds=10, **warm)
    return timed(lambda: train(problem, config, seed=1))


def timed(work: Any) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


TASKS = {
    "argmax with proof, standard 100": (argmax, "standard", 100, "auto", (16, 16), 12),
    "argmax with proof, scheduling 40": (argmax, "scheduling", 40, "auto", (16, 16), 8),
    "argmax with proof, capacity 40": (argmax, "capacity", 40, "auto", (16,), 16),
    "argmax with proof, routing 20": (argmax, "routing", 20, "auto", (16, 16), 64),
    "argmax with proof, interventions 40": (argmax, "interventions", 40, "auto", (8, 8), 4),
    "argmax by program, scheduling 20": (argmax, "scheduling", 20, "milp", (8, 8), 8),
    "argmax, local search, capacity 40": (argmax, "capacity", 40, "local", (32, 32), 256),
    "five bounds lp, scheduling 20": (bound, "scheduling", 20, "lp", 5),
    "five bounds hull, capacity 20": (bound, "capacity", 20, "hull", 5),
    "two bounds hull, routing 20": (bound, "routing", 20, "hull", 2),
    "training, paper's, capacity 20": (training, "capacity", 20),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Two commits side by side.")
    parser.add_argument("commits", nargs=2, help="A and B: commits, tags or branches")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each; at least 2")
    parser.add_argument("--only", default="", help="only tasks whose name has this in it")
    chosen = parser.parse_args()
    tasks = [name for name in TASKS if chosen.only in name]
    if not tasks or chosen.rounds < 2:
        parser.error(f"at least 2 rounds of a task are wanted; tasks: {', '.join(TASKS)}.")
    with checked_out(chosen.commits) as trees:
        rounds = [[measure(tree, tasks) for tree in trees] for _ in range(chosen.rounds)]
    print("| processor seconds | A | B | B / A | 95 % |\n|---|--:|--:|--:|--:|")
    for place, name in enumerate(tasks):
        before, after = (np.array([pair[side][place] for pair in rounds]) for side in (0, 1))
        print(f"| {name} | {median(before):.3g} | {median(after):.3g} | {ratio(before, after)} |")


@contextmanager
def checked_out(commits: Sequence[str]) -> Iterator[list[Path]]:
    """Yield a checkout of each commit, for as long as this lasts."""
    root = Path(__file__).resolve().parents[1]
    git = ("git", "-C", str(root), "worktree")
    with tempfile.TemporaryDirectory() as folder:
        trees = [Path(folder, side) for side in "AB"]
        try:
            for tree, commit in zip(trees, commits, strict=True):
                add = (*git, "add", "--quiet", "--detach", str(tree), commit)
                done = subprocess.run(add, capture_output=True, text=True, check=False)
                if done.returncode:
                    raise SystemExit(f"{commit}: {done.stderr.strip()}")
            yield trees
        finally:
            for tree in trees:
                subprocess.run((*git, "remove", "--force", str(tree)), capture_output=True)


def measure(tree: Path, tasks: Sequence[str]) -> list[float]:
    """Return the processor seconds of some tasks in one process that imports from ``tree``."""
    environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(tree / "src")}
    command = [sys.executable, __file__, "--tasks", *tasks]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{tree} failed: {done.stderr.strip().splitlines()[-1]}")
    return [float(word) for word in done.stdout.split()]


def ratio(before: Any, after: Any) -> str:
    """Return the geometric mean of B / A with its interval, where both commits have the task."""
    logs = np.log(after / before)
    if np.isnan(logs).any():
        return "missing | "
    half = t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / np.sqrt(len(logs))
    low, middle, high = np.exp([logs.mean() - half, logs.mean(), logs.mean() + half])
    return f"{middle:.2f} | {low:.2f} to {high:.2f}"


def perform(name: str) -> float:
    """Return the seconds of a task; not a number where this commit has nothing of the kind."""
    function, *arguments = TASKS[name]
    try:
        return function(*arguments)
    except Missing:
        return float("nan")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--tasks"]:
        for name in sys.argv[2:]:
            print(perform(name), flush=True)
    else:
        main()
