"""The daily loop of a programme: how long it takes, and what is left when it is killed.

``python benchmarks/bench_programme.py [--kills 20] [--only PART…]``: 60 patients of three groups,
four nurses, eight weeks of visits. Then each command is killed at random moments of its run, and
two people record at once.
"""

import argparse
import csv
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np
import sqlalchemy as sql

from sequoia_programme.schema import metadata
from sequoia_programme.settings import read_programme

PATIENTS, WEEKS, VISITS = 60, 8, 12
# No blanks, so that a command is its words.
PATIENT = "Patient-{:02d}"
START = date(2026, 9, 7)
TODAY = START + timedelta(weeks=WEEKS)
STATES = ("lapsed", "at_risk", "good")
GROUPS = ("young", "old", "remote")
NURSES = {"Nurse Anna": 120, "Nurse Bo": 90, "Nurse Chi": 120, "Nurse Dee": 60}
# Without and with a visit, by group: the truth behind the log.
KERNELS = np.array(
    [
        [
            [[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.02, 0.13, 0.85]],
            [[0.5, 0.4, 0.1], [0.05, 0.45, 0.5], [0.01, 0.04, 0.95]],
        ],
        [
            [[0.95, 0.05, 0.0], [0.3, 0.65, 0.05], [0.05, 0.25, 0.7]],
            [[0.6, 0.35, 0.05], [0.1, 0.5, 0.4], [0.02, 0.13, 0.85]],
        ],
        [
            [[0.97, 0.03, 0.0], [0.4, 0.58, 0.02], [0.1, 0.3, 0.6]],
            [[0.5, 0.45, 0.05], [0.1, 0.5, 0.4], [0.02, 0.08, 0.9]],
        ],
    ]
)
# Seconds that the issue allows for 60 patients.
GOALS = {"today": 5.0, "record": 1.0}
TIMES = {"import": 3, "fit": 1, "today": 5, "record": 5}


def write_sheets(folder: Path) -> None:
    rng = np.random.default_rng(0)
    names = [PATIENT.format(i) for i in range(PATIENTS)]
    costs = rng.choice([20, 30, 45], PATIENTS)
    write(
        folder / "patients.csv",
        [("name", "group", "cost")],
        ((n, GROUPS[i % 3], costs[i]) for i, n in enumerate(names)),
    )
    write(folder / "nurses.csv", [("name", "capacity")], NURSES.items())
    state, rows = rng.integers(3, size=PATIENTS), []
    for day in (START + timedelta(days=d) for d in range(7 * WEEKS)):
        if day.weekday() > 4:
            continue
        visited = np.isin(np.arange(PATIENTS), rng.choice(PATIENTS, VISITS, replace=False))
        for i in np.flatnonzero(visited).tolist():
            rows.append((day, names[i], STATES[state[i]], "Nurse Anna"))
        odds = KERNELS[np.arange(PATIENTS) % 3, visited.astype(int), state].cumsum(axis=1)
        state = np.minimum((rng.random(PATIENTS)[:, None] >= odds).sum(axis=1), 2)
    write(folder / "visits.csv", [("date", "who", "state", "by")], rows)
    write(
        folder / "outcomes.csv",
        [("date", "who", "state", "by")],
        ((TODAY, names[i], "good", "Nurse Bo") for i in range(20)),
    )


def write(path: Path, head: list[tuple[str, ...]], rows) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([*head, *rows])


COMMANDS = {
    "import": "import clinic --roster patients.csv --staff nurses.csv --log visits.csv",
    "fit": f"fit clinic --date {TODAY}",
    "today": f"today clinic --yes --date {TODAY}",
    "record": f"record clinic --file outcomes.csv --date {TODAY}",
}


def start(folder: Path, line: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "sequoia", "programme", *line.split()],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )


def run(folder: Path, line: str) -> tuple[float, float]:
    """Run a command; return the seconds on the clock and those of the processor."""
    before, began = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    process = start(folder, line)
    said = process.communicate()[1]
    assert process.returncode == 0, said.decode()
    after, ended = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ended - began, used


def content(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return everything but the times, the journal and the numbers of rows."""
    left_out = {"at", "id", "arrays"}
    with read_programme(folder / "clinic").store.reading() as connection:
        return {
            table.name: sorted(
                (
                    tuple(row)
                    for row in connection.execute(
                        sql.select(*(c for c in table.c if c.name not in left_out))
                    )
                ),
                key=repr,
            )
            for table in metadata.sorted_tables
            if table.name != "journal"
        }


def measure(folder: Path) -> bool:
    is_slow = False
    for name, line in COMMANDS.items():
        found = []
        for _ in range(TIMES[name]):
            place = folder.parent / "measured"
            shutil.copytree(folder, place)
            if name == "import":
                shutil.rmtree(place / "clinic")
                run(place, INIT)
            found.append(run(place, line))
            shutil.rmtree(place)
        # The least is what the command needs; anything more is what else the machine does.
        clock, used = map(min, zip(*found, strict=True))
        goal = GOALS.get(name)
        is_slow |= goal is not None and used > goal
        told = "" if goal is None else f" (goal: {goal:g} s)"
        print(f"{name:<7} {clock:5.2f} s, {used:5.2f} s of the processor{told}", flush=True)
    return is_slow


def kill_often(folder: Path, name: str, kills: int, rng: np.random.Generator) -> None:
    """Kill a command at random moments; what is left is all or nothing, and then all, once."""
    line, before = COMMANDS[name], content(folder)
    whole = folder.parent / "whole"
    shutil.copytree(folder, whole)
    seconds = run(whole, line)[0]
    after = content(whole)
    shutil.rmtree(whole)
    counted = {"nothing": 0, "everything": 0}
    for _ in range(kills):
        place = folder.parent / "killed"
        shutil.copytree(folder, place)
        process = start(place, line)
        time.sleep(float(rng.uniform(0, 1.1 * seconds)))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        left = content(place)
        assert left in (before, after), f"{name}: something between nothing and everything"
        counted["everything" if left == after else "nothing"] += 1
        run(place, line)
        assert content(place) == after, f"{name}: not the same after another run"
        shutil.rmtree(place)
    print(
        f"{name:<7} killed {kills} times: {counted['nothing']} left nothing, "
        f"{counted['everything']} everything, none anything between; the next run completed all",
        flush=True,
    )


def record_at_once(folder: Path, times: int) -> None:
    """Let two people record different patients at the same moment, again and again."""
    for turn in range(times):
        day = TODAY + timedelta(days=turn)
        several = [
            start(folder, f"record clinic {PATIENT.format(who)}=good --date {day}")
            for who in (1, 2)
        ]
        assert [process.wait() for process in several] == [0, 0]
    found = content(folder)["sightings"]
    kept = sum(TODAY <= row[1] < TODAY + timedelta(days=times) for row in found)
    print(f"two people recorded {times} times at once: {kept} of {2 * times} outcomes kept")
    assert kept == 2 * times


PARTS = ("times", "import", "record", "today", "together")
INIT = (
    f"init clinic --states lapsed=0,at_risk=0.4,good=1 --start {START} --days Mon,Tue,Wed,Thu,Fri"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20, help="kills of each command")
    parser.add_argument(
        "--only", nargs="+", default=PARTS, choices=PARTS, help="some of it; all unless given"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room, "programme")
        folder.mkdir()
        write_sheets(folder)
        run(folder, INIT)
        begun = Path(room, "begun")
        shutil.copytree(folder, begun)
        run(folder, COMMANDS["import"])
        run(folder, COMMANDS["fit"])
        is_slow = "times" in options.only and measure(folder)
        rng = np.random.default_rng(1)
        for name in ("import", "record", "today"):
            if name in options.only:
                kill_often(begun if name == "import" else folder, name, options.kills, rng)
        if "together" in options.only:
            record_at_once(folder, 5)
    print("goals missed" if is_slow else "goals reached")
    if is_slow:
        sys.exit(1)


if __name__ == "__main__":
    main()
