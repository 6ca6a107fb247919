"""A programme to try things out on: made-up people, and seven weeks of a made-up log."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from sequoia.io import write_text
from sequoia.problem.spreadsheet import Cell, csv_text
from sequoia.rng import stream
from sequoia.validation import FloatArray
from sequoia_programme.creating import Beginning, create
from sequoia_programme.importing import import_sheets
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.settings import Programme

_STATES = {"lapsed": 0.0, "at risk": 0.5, "good": 1.0}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri")
_NURSES = {"Anna Berg": 300, "Bo Lindqvist": 240, "Chidi Okafor": 300, "Dana Levi": 180}
_FIRST = (
    *("Ada", "Bashir", "Carmen", "Dora", "Emeka", "Fatma", "Grace", "Hugo", "Ines", "Jamal"),
    *("Kofi", "Lena", "Maya", "Noor", "Olga", "Pavel", "Quinn", "Rosa", "Sven", "Tariq"),
)
_LAST = ("Abara", "Becker", "Castillo", "Demir", "Eriksen", "Fontaine")
# By group: minutes of a visit, and where people live.
_GROUPS = {"town": (30, (5.0, 5.0)), "suburb": (40, (7.5, 3.0)), "country": (60, (2.5, 7.5))}
_N_PEOPLE, _N_DAYS, _REPORTED = 60, 35, 0.3
# From lapsed, at risk, good, to the same: left alone, and visited.
_MOVES = {
    "town": (
        [[0.90, 0.08, 0.02], [0.20, 0.65, 0.15], [0.05, 0.20, 0.75]],
        [[0.35, 0.50, 0.15], [0.05, 0.45, 0.50], [0.01, 0.07, 0.92]],
    ),
    "suburb": (
        [[0.92, 0.06, 0.02], [0.25, 0.60, 0.15], [0.06, 0.24, 0.70]],
        [[0.45, 0.42, 0.13], [0.06, 0.49, 0.45], [0.01, 0.09, 0.90]],
    ),
    "country": (
        [[0.94, 0.05, 0.01], [0.32, 0.58, 0.10], [0.10, 0.30, 0.60]],
        [[0.50, 0.35, 0.15], [0.08, 0.47, 0.45], [0.02, 0.10, 0.88]],
    ),
}


def make_demo(folder: Path, today: date) -> Programme:
    """Make the programme in ``folder``, with a log that ends the day before ``today``."""
    dates = _dates_before(today)
    programme = create(
        folder,
        Beginning(
            name="Riverside clinic",
            start=dates[0],
            states=_STATES,
            days=_DAYS,
            reported=_REPORTED,
            never_hurts=True,
        ),
    )
    rng = stream(0, "programme:demo")
    people = list(_people(rng))
    sheets: dict[str, list[Sequence[Cell]]] = {
        "patients.csv": [("name", "group", "cost", "x", "y"), *people],
        "nurses.csv": [("name", "capacity"), *_NURSES.items()],
        "visits.csv": [("date", "who", "state", "by"), *_log(people, dates, rng)],
    }
    for name, rows in sheets.items():
        write_text(folder / name, csv_text(rows))
    roster = {ARM: folder / "patients.csv", WORKER: folder / "nurses.csv"}
    import_sheets(programme, roster, folder / "visits.csv")
    return programme


def _dates_before(today: date) -> list[date]:
    """Return working days up to yesterday."""
    back = (today - timedelta(days=n) for n in range(1, 2 * _N_DAYS))
    return sorted([day for day in back if day.weekday() < len(_DAYS)][:_N_DAYS])


def _people(rng: np.random.Generator) -> Iterator[Sequence[Cell]]:
    groups = list(_GROUPS)
    for number in range(_N_PEOPLE):
        name = f"{_FIRST[number % len(_FIRST)]} {_LAST[(number * 5 + number // 20) % len(_LAST)]}"
        group = groups[int(rng.choice(3, p=[0.5, 0.3, 0.2]))]
        minutes, (x, y) = _GROUPS[group]
        place = rng.normal((x, y), 1.1)
        yield name, group, minutes, round(float(place[0]), 2), round(float(place[1]), 2)


def _log(
    people: Sequence[Sequence[Cell]], dates: Sequence[date], rng: np.random.Generator
) -> Iterator[Sequence[Cell]]:
    """Let nurses visit whom they meet next on their list, and note what they see."""
    moves: FloatArray = np.array([_MOVES[str(one[1])] for one in people])
    state = rng.choice(3, size=len(people), p=[0.3, 0.4, 0.3])
    names, queue = list(_STATES), list(rng.permutation(len(people)))
    for day in dates:
        by = {}
        for nurse, minutes in _NURSES.items():
            left = 0.75 * minutes
            while left > 0:
                who = int(queue.pop(0))
                queue.append(who)
                left -= float(str(people[who][2]))
                by[who] = nurse
        told = rng.random(len(people)) < _REPORTED / 2
        for who in range(len(people)):
            if who in by or told[who]:
                yield day, people[who][0], names[state[who]], by.get(who, "")
        chance = rng.random(len(people))
        for who in range(len(people)):
            row = moves[who, int(who in by), state[who]]
            state[who] = min(int(np.searchsorted(np.cumsum(row), chance[who])), 2)
