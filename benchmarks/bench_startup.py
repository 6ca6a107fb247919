"""How long the command takes to start: ``python benchmarks/bench_startup.py``."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import sequoia

TIMES = 15
GOAL = 0.5


def one(arguments: list[str], folder: str) -> tuple[float, float]:
    """Return the seconds on the clock and those of the processor."""
    before, began = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "sequoia", *arguments],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after, ended = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ended - began, used


def main() -> None:
    is_slow = False
    with tempfile.TemporaryDirectory() as folder:
        sequoia.save(sequoia.make("capacity"), Path(folder, "p.npz"))
        for line in ("--help", "-V", "show p.npz"):
            # The least is what the command needs; anything more is what else the machine does.
            clock, used = map(
                min, zip(*(one(line.split(), folder) for _ in range(TIMES)), strict=True)
            )
            is_slow |= clock > GOAL
            print(f"sequoia {line}: {clock:.2f} s, {used:.2f} s of the processor")
    print(f"goal: at most {GOAL:g} s, {'missed' if is_slow else 'reached'}")
    if is_slow:
        sys.exit(1)


if __name__ == "__main__":
    main()
