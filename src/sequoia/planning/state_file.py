"""Today's states from a sheet, CSV or XLSX."""

from pathlib import Path

import numpy as np

from sequoia.errors import FileError
from sequoia.problem import Problem
from sequoia.problem.names import composed, count, say
from sequoia.problem.spreadsheet import read_spreadsheet
from sequoia.validation import IntArray

_MOST_NAMED = 5


def read_states(path: Path, problem: Problem) -> IntArray:
    """Read the state of every arm, ``(J,)``, from the columns ``arm`` and ``state``.

    A state is given by its number or, where states have names, by its name. Other columns are not
    read. Every arm must be there once, in any order.

    Raises
    ------
    FileError
        One line for each row that is wrong.
    """
    table = read_spreadsheet(path, heads=("arm", "state"))
    for column in ("arm", "state"):
        if column not in table.columns:
            found = ", ".join(table.columns) or "none"
            raise FileError(f"{path} has the columns {found}; arm and state are wanted.")
    names = problem.arms.names
    known = table.numbers("state", "state", [composed(n) for n in problem.arms.state_names])
    arms = table.places("arm", [composed(name) for name in names])
    if table.found:
        raise FileError(*table.found)
    states = np.full(len(names), -1, dtype=np.int64)
    for row, (arm, state) in enumerate(zip(arms.tolist(), known.tolist(), strict=True)):
        if states[arm] >= 0:
            table.found.append(
                f"{table.place(row)} names {names[arm]!r} again; each arm once is wanted."
            )
        states[arm] = state
    missing = [names[arm] for arm in np.flatnonzero(states < 0).tolist()]
    if missing:
        table.found.append(f"{path} does not have {_few(missing)}; every arm is wanted.")
    if table.found:
        raise FileError(*table.found)
    return states


def _few(names: list[str]) -> str:
    if len(names) > _MOST_NAMED:
        more = count(len(names) - _MOST_NAMED + 1, "more arm")
        names = [*names[: _MOST_NAMED - 1], more]
    return say(names)
