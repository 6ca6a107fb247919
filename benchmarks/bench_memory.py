"""Memory after ten thousand solves in a row: ``python benchmarks/bench_memory.py``."""

import sys
import time
from resource import RUSAGE_SELF, getrusage

import numpy as np

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.milp import Milp
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Assignment

SOLVES = 10_000
WARM_UP = 200
BATCH = 50
GOAL = 50.0


def most_memory() -> float:
    """Return the most memory that this process has used so far, in MiB."""
    return getrusage(RUSAGE_SELF).ru_maxrss / 1024


def solve(engine: Milp, rng: np.random.Generator, times: int, arms: int) -> None:
    for _ in range(times // BATCH):
        net = ReluNet(
            (rng.standard_normal((3, arms)),),
            rng.standard_normal((BATCH, 3)),
            (),
            rng.standard_normal(3),
            rng.standard_normal((BATCH, arms)),
            np.zeros(BATCH),
        )
        engine.best(net)


def main() -> None:
    space = Assignment(np.array([2.0, 3, 4, 2, 6, 3, 3, 5]), np.array([4.0, 6, 7]))
    engine = Milp(ActionEncoding.of_space(space))
    rng = np.random.default_rng(0)
    solve(engine, rng, WARM_UP, space.n_actions)
    before, began = most_memory(), time.perf_counter()
    solve(engine, rng, SOLVES, space.n_actions)
    extensions, seconds = most_memory() - before, time.perf_counter() - began
    verdict = "reached" if extensions <= GOAL else "missed"
    print(
        f"{SOLVES} solves in {seconds:.0f} s: memory grew by {extensions:.1f} MiB "
        f"(goal: at most {GOAL:g}, {verdict})"
    )
    if extensions > GOAL:
        sys.exit(1)


if __name__ == "__main__":
    main()
