"""What a sweep costs beside its cells, and what a second process brings, on 40 capacity cells.

Options: ``--cells 40 --episodes 5``. Processor time counts all processes; where others use the
machine too, it says more about the overhead than the clock does.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from sequoia.sweep import Plan, make_plan, run_locally, sweep
from sequoia.sweep.executor import ONE_THREAD

POLICIES = ("random", "sampling", "iterative-myopic", "myopic", "price")


def plan_of(cells: int, episodes: int) -> Plan:
    grid = {"family": "capacity", "arms": 20}
    content = {"policies": POLICIES, "seeds": cells, "episodes": episodes, "problems": [grid]}
    return make_plan(content, "benchmark")


def by_hand(cells: int, episodes: int) -> None:
    from sequoia.evaluation import evaluate

    for cell in plan_of(cells, episodes).cells():
        evaluate(cell.problem(), POLICIES, cell.episodes, cell.seed)


def spent() -> float:
    parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in parts)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    began, used = time.perf_counter(), spent()
    work()
    return time.perf_counter() - began, spent() - used


def swept(cells: int, episodes: int, jobs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        executor = partial(run_locally, jobs=jobs)
        found = sweep(plan_of(cells, episodes), Path(folder), executor, jobs)
        assert found.done == cells, found.failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=40)
    parser.add_argument("--episodes", type=int, default=5)
    parser.add_argument("--by-hand", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    size = (options.cells, options.episodes)
    if options.by_hand:
        by_hand(*size)
        return
    words = [f"--cells={size[0]}", f"--episodes={size[1]}", "--by-hand"]
    alone = partial(
        subprocess.run,
        [sys.executable, __file__, *words],
        check=True,
        env=os.environ | dict(ONE_THREAD),
    )
    runs = {
        "by hand": timed(alone),
        "sweep, 1 process": timed(partial(swept, *size, 1)),
        "sweep, 2 processes": timed(partial(swept, *size, 2)),
    }
    for name, (wall, used) in runs.items():
        print(f"{name:<20}{wall:>8.1f} s{used:>8.1f} s of processor time")
    (hand, used), (one, used_one), (two, _) = runs.values()
    print(f"overhead {100 * (one / hand - 1):+.1f} %, in processor time ", end="")
    print(f"{100 * (used_one / used - 1):+.1f} %; two processes are {one / two:.2f} × one")


if __name__ == "__main__":
    main()
