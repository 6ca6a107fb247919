"""A programme as it grows: seconds and memory of import, fit, a day and a week.

``python benchmarks/programme_scale.py [--people 100 1000 10000] [--csv FILE]``: so many people in
ten groups, a worker for each 167 of them (60 for ten thousand) with eight hours, and two years of
log in which each worker visits eight people on a working day. Each command is a process of its own,
and what it needs is counted as the system counts it.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path

import numpy as np

START, YEARS = date(2024, 11, 4), 2
STATES = ("lapsed", "at_risk", "good")
GROUPS, VISITS_A_DAY, MINUTES = 10, 8, 480
TODAY = START + timedelta(weeks=52 * YEARS)
# Left alone, and visited: the truth behind the log, a little different in each group.
ALONE = np.array([[0.95, 0.05, 0.0], [0.06, 0.9, 0.04], [0.0, 0.05, 0.95]])
VISITED = np.array([[0.5, 0.4, 0.1], [0.05, 0.5, 0.45], [0.0, 0.04, 0.96]])
COMMANDS = {
    "import": "import clinic --roster people.csv --staff staff.csv --log log.csv",
    "fit": f"fit clinic --date {TODAY}",
    "today": f"today clinic --yes --date {TODAY}",
    "week": f"plan clinic --yes --from {TODAY} --days 5",
}
# What the commands may take with ten thousand people, in seconds, and all of them in GiB.
GOALS, MEMORY = {"import": 60.0, "fit": 120.0, "today": 30.0, "week": 150.0}, 4.0


def write_sheets(folder: Path, people: int) -> int:
    """Write the sheets; return how many rows the log has."""
    rng = np.random.default_rng(0)
    workers = max(1, round(people / 167))
    with (folder / "people.csv").open("w") as file:
        file.write("name,group,cost\n")
        costs = rng.choice([30, 45, 60], people)
        file.writelines(f"Person {i},g{i % GROUPS},{costs[i]}\n" for i in range(people))
    with (folder / "staff.csv").open("w") as file:
        file.write("name,capacity\n")
        file.writelines(f"Worker {i},{MINUTES}\n" for i in range(workers))
    state, rows = rng.integers(3, size=people), 0
    tilt = 1 - 0.3 * rng.random(people % GROUPS + GROUPS)[np.arange(people) % GROUPS]
    with (folder / "log.csv").open("w", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(("date", "who", "state", "by"))
        for number in range(7 * 52 * YEARS):
            day = START + timedelta(days=number)
            if day.weekday() > 4:
                continue
            many = min(people, workers * VISITS_A_DAY)
            visited = rng.choice(people, many, replace=False)
            for place, i in enumerate(visited.tolist()):
                by = f"Worker {place % workers}"
                sheet.writerow((day, f"Person {i}", STATES[state[i]], by))
            rows += many
            odds = ALONE[state].copy()
            odds[visited] = VISITED[state[visited]]
            odds[:, 2] *= tilt
            odds = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)
            state = np.minimum((rng.random(people)[:, None] >= odds).sum(axis=1), 2)
    return rows


def run(folder: Path, line: str) -> tuple[float, float, float]:
    """Run a command; return seconds on the clock, of the processor, and GiB at most."""
    code = (
        "import sys, time, resource\n"
        "from sequoia.cli import main\n"
        "began = time.perf_counter()\n"
        "try:\n    main(sys.argv[1:])\n"
        "except SystemExit as stop:\n    rc = stop.code or 0\n"
        "used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "print(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20,"
        " rc, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "programme", *line.split()],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    *said, last = done.stderr.splitlines()
    seconds, used, memory, code_of = (float(part) for part in last.split())
    if code_of:
        sys.exit(f"{line}: {' '.join(said)}")
    return seconds, used, memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", nargs="+", type=int, default=[100, 1000, 10000])
    parser.add_argument("--csv", type=Path, help="where to write the numbers")
    options = parser.parse_args()
    rows = [("people", "rows", "command", "seconds", "processor", "gib")]
    for people in options.people:
        with tempfile.TemporaryDirectory() as room:
            folder = Path(room)
            number = write_sheets(folder, people)
            states = "lapsed=0,at_risk=0.5,good=1"
            run(folder, f"init clinic --states {states} --start {START} --days Mon,Tue,Wed,Thu,Fri")
            for name, line in COMMANDS.items():
                seconds, used, memory = run(folder, line)
                rows.append((people, number, name, *(f"{v:.2f}" for v in (seconds, used, memory))))
                is_slow = people >= 10_000 and (used > GOALS[name] or memory > MEMORY)
                print(
                    f"{people:>6} people, {number:>7} rows: {name:<7} {seconds:6.1f} s, {used:6.1f}"
                    f" s of the processor, {memory:.2f} GiB{'  (goal missed)' if is_slow else ''}",
                    flush=True,
                )
    if options.csv is not None:
        with options.csv.open("w", newline="") as file:
            csv.writer(file).writerows(rows)


if __name__ == "__main__":
    main()
