"""A long life, in a short time: ``make soak``, or ``benchmarks/soak.py --days 730 --people 500``.

A programme lives day by day, in one process: a plan is proposed and published, its visits are made
and recorded, the states follow a known truth; every seventh day transitions are fitted anew. At the
end these hold, or it says which does not: a plan for every day; every visit that was recorded is in
the log, once; the database is whole (``integrity_check``); a backup is, too; memory, the file and
the time of a day have not grown faster than what is kept (a fifth more than in proportion).
"""

import argparse
import contextlib
import csv
import io
import json
import os
import resource
import sqlite3
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from sequoia.cli import main as sequoia

STATES = ("lapsed", "at risk", "good")
# Without and with a visit: the truth, which nobody is told.
TRUTH = np.array(
    [
        [[0.92, 0.08, 0.0], [0.3, 0.65, 0.05], [0.05, 0.25, 0.7]],
        [[0.5, 0.4, 0.1], [0.05, 0.45, 0.5], [0.01, 0.09, 0.9]],
    ]
)
START = date(2026, 1, 5)
# The last quarter may need so much more than the second, beside what is kept.
GROWTH = 1.5


def command(*words: object) -> str:
    """Run a command and return what it prints; raise where it fails."""
    said, wrong = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(wrong):
        try:
            sequoia([str(word) for word in words])
        except SystemExit as stop:
            if stop.code:
                raise RuntimeError(f"{words}: {wrong.getvalue()}") from None
    return said.getvalue()


def memory() -> float:
    """Return the memory that this process holds, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def write(path: Path, rows: list[tuple[object, ...]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def live(days: int, people: int, seed: int) -> list[str]:
    """Live so many days; return what does not hold."""
    rng = np.random.default_rng(seed)
    names = [f"Person {i:04d}" for i in range(people)]
    nurses = [f"Nurse {i}" for i in range(max(2, people // 50))]
    rows = [
        ("name", "group", "cost"),
        *((name, f"group {i % 3}", 20) for i, name in enumerate(names)),
    ]
    write(Path("people.csv"), rows)
    write(Path("staff.csv"), [("name", "capacity"), *((nurse, 100) for nurse in nurses)])
    state = rng.integers(3, size=people)
    first = [("date", "who", "state", "by")]
    first += [
        (START, name, STATES[state[i]], nurses[i % len(nurses)]) for i, name in enumerate(names)
    ]
    write(Path("log.csv"), first)
    rewards = "lapsed=0,at risk=0.4,good=1"
    command("programme", "init", "clinic", "--states", rewards, "--start", START)
    sheets = ("--roster", "people.csv", "--staff", "staff.csv", "--log", "log.csv")
    command("programme", "import", "clinic", *sheets, "--yes")
    visits, measured = people, []
    for number in range(1, days + 1):
        today, began = START + timedelta(days=number), time.perf_counter()
        if number % 7 == 1:
            command("programme", "fit", "clinic", "--date", today)
        said = command(
            *(
                "programme",
                "today",
                "clinic",
                "--date",
                today,
                "--policy",
                "price",
                "--yes",
                "--json",
            )
        )
        plan = json.loads(said)["errands"]
        command("programme", "publish", "clinic", "--date", today, "--yes")
        seen = [("date", "who", "state", "by")]
        acted = np.zeros(people, dtype=int)
        for task in plan:
            who = names.index(task["where"])
            acted[who] = 1
            seen.append((today, task["where"], STATES[state[who]], task["who"]))
        write(Path("seen.csv"), seen)
        if plan:
            command("programme", "record", "clinic", "--file", "seen.csv", "--date", today)
        visits += len(plan)
        odds = TRUTH[acted, state].cumsum(axis=1)
        state = np.minimum((rng.random(people)[:, None] >= odds).sum(axis=1), 2)
        size = sum(path.stat().st_size for path in Path("clinic").rglob("*") if path.is_file())
        measured.append((time.perf_counter() - began, memory(), size / 1e6))
        if number % max(days // 10, 1) == 0:
            spent, held, large = np.mean(measured[-7:], axis=0)
            print(
                f"day {number}: {spent:.2f} s, {held:.0f} MB held, {large:.1f} MB kept", flush=True
            )
    return list(wrongs(days, visits, np.array(measured)))


def wrongs(days: int, visits: int, measured: np.ndarray) -> list[str]:
    """Say what does not hold at the end."""
    found = []
    command("programme", "backup", "clinic", "-o", "kept.zip")
    database = next(Path("clinic").glob("*.db"))
    with contextlib.closing(sqlite3.connect(database)) as connection:
        whole = connection.execute("pragma integrity_check").fetchone()[0]
        if whole != "ok":
            found.append(f"the database is damaged: {whole}")
        tables = {row[0] for row in connection.execute("select name from sqlite_master")}
        for table, least in (("plans", days), ("visits", visits)):
            if table in tables:
                count = connection.execute(f"select count(*) from {table}").fetchone()[0]
                print(f"{table}: {count} rows; at least {least} are wanted")
                if count < least:
                    found.append(f"{table} has {count} rows; at least {least} are wanted")
            else:
                found.append(f"there is no table {table}; there are {sorted(tables)}")
    quarter = len(measured) // 4
    early, late = measured[quarter : 2 * quarter], measured[-quarter:]
    days_kept = (len(measured) - quarter / 2) / (1.5 * quarter)
    for name, place, most in (
        ("a day takes", 0, GROWTH * days_kept),
        ("memory", 1, GROWTH),
        ("what is kept", 2, 1.2 * days_kept),
    ):
        before, after = np.median(early[:, place]), np.median(late[:, place])
        print(f"{name}: {before:.2f} in the second quarter, {after:.2f} in the last")
        if after > most * before:
            found.append(f"{name} grew from {before:.2f} to {after:.2f}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Let a programme live for long.")
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        found = live(chosen.days, chosen.people, chosen.seed)
        os.chdir("/")
    for complaint in found:
        print(f"WRONG: {complaint}")
    spent = time.perf_counter() - began
    print(f"{chosen.days} days of {chosen.people} people, {spent:.0f} s: {len(found)} wrong")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
