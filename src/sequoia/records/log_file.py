"""A log from two tables: who was seen in which state, and who got which dose."""

from pathlib import Path

import numpy as np

from sequoia.errors import FileError
from sequoia.problem import Problem
from sequoia.problem.names import composed
from sequoia.problem.spreadsheet import read_csv
from sequoia.problem.tables import Table
from sequoia.records.log import Log, groups_of
from sequoia.validation import IntArray


def read_log(sightings: Path, visits: Path | None, problem: Problem) -> Log:
    """Read a log of the arms of ``problem``.

    Parameters
    ----------
    sightings
        A table with the columns ``arm``, ``step`` and ``state``, by name or number.
    visits
        A table with the columns ``arm``, ``step`` and, unless every visit gives the same, ``dose``.
        ``None`` for no visits.

    Raises
    ------
    FileError
        One line for each row that is wrong.
    """
    arms, found = problem.arms, list[str]()
    if problem.contagion is not None:
        raise FileError(f"{sightings} cannot be fitted: the arms of {problem.name} interact.")
    seen = read_csv(sightings, found)
    _require(seen, "arm", "step", "state")
    states = seen.numbers("state", "state", [composed(name) for name in arms.state_names])
    seen_rows = _rows(seen, problem, states)
    given_rows = np.empty((0, 3), dtype=np.int64)
    if visits is not None:
        given = read_csv(visits, found)
        _require(given, "arm", "step")
        given_rows = _rows(given, problem, np.zeros(len(given), dtype=np.int64))
        if not found:
            given_rows[:, 2] = _levels(given, problem, given_rows[:, 0])
    if found:
        raise FileError(*found)
    given_rows = given_rows[given_rows[:, 2] > 0]
    steps = max(seen_rows[:, 1].max(initial=0), given_rows[:, 1].max(initial=-1) + 1)
    return Log(groups_of(problem), int(steps), seen_rows, given_rows)


def _require(table: Table, *columns: str) -> None:
    for column in columns:
        if column not in table.columns:
            there = ", ".join(table.columns) or "none"
            raise FileError(
                f"{table.where} has the columns {there}; {' and '.join(columns)} are wanted."
            )


def _rows(table: Table, problem: Problem, values: IntArray) -> IntArray:
    """Return arm, step and value of each row; each arm once in a step."""
    arm = table.places("arm", [composed(name) for name in problem.arms.names])
    step = table.integers("step", 0)
    met: dict[tuple[int, int], int] = {}
    for row, pair in enumerate(zip(arm.tolist(), step.tolist(), strict=True)):
        if not table.found and met.setdefault(pair, row) != row:
            name = problem.arms.names[pair[0]]
            table.found.append(
                f"{table.place(row)} names {name!r} at step {pair[1]} again; once is wanted."
            )
    return np.column_stack([arm, step, values])


def _levels(table: Table, problem: Problem, arm: IntArray) -> IntArray:
    """Return the level of each dose; the only one there is, if none is given."""
    doses = problem.arms.doses[problem.arms.model[arm]]
    if "dose" not in table.columns:
        if doses.shape[1] != 2:
            raise FileError(f"{table.where} has no column dose; arms have more than one.")
        return np.ones(len(arm), dtype=np.int64)
    given = table.floats("dose")
    distance = np.abs(doses - given[:, None])
    table.require("dose", given, distance.min(axis=1) <= 1e-9, "a dose of the arm is wanted")
    level: IntArray = distance.argmin(axis=1)
    return level
