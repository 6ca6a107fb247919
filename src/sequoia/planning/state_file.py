"""Today's states from a CSV file."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sequoia.errors import FileError
from sequoia.problem import Problem
from sequoia.problem.names import say
from sequoia.validation import IntArray

_MOST_NAMED = 5


def read_states(path: Path, problem: Problem) -> IntArray:
    """Read the state of every arm, ``(J,)``, from the columns ``arm`` and ``state``.

    Other columns are not read. Every arm must be there once, in any order.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            columns = list(reader.fieldnames or ())
            rows = list(reader)
    except FileNotFoundError:
        raise FileError(f"{path} does not exist.") from None
    except (OSError, ValueError, csv.Error) as error:
        raise FileError(f"{path} cannot be read: {' '.join(str(error).split())}.") from None
    for column in ("arm", "state"):
        if column not in columns:
            found = ", ".join(columns) or "none"
            raise FileError(f"{path} has the columns {found}; arm and state are wanted.")
    names = problem.arms.names
    index = {name: arm for arm, name in enumerate(names)}
    states = np.full(len(names), -1, dtype=np.int64)
    for number, row in enumerate(rows, start=1):
        name = (row["arm"] or "").strip()
        if name not in index:
            raise FileError(
                f"{path} row {number} names the arm {name!r}, which is unknown; {_known(names)}."
            )
        if states[index[name]] >= 0:
            raise FileError(f"{path} row {number} names {name!r} again; each arm once is wanted.")
        states[index[name]] = _state(path, number, row["state"], problem.arms.n_states)
    missing = [names[arm] for arm in np.flatnonzero(states < 0).tolist()]
    if missing:
        raise FileError(f"{path} does not have {_few(missing)}; every arm is wanted.")
    return states


def _state(path: Path, number: int, text: str | None, n_states: int) -> int:
    try:
        state = int(text or "")
    except ValueError:
        state = -1
    if not 0 <= state < n_states:
        raise FileError(
            f"{path} row {number}: the state is {text!r}; a whole number from 0 to "
            f"{n_states - 1} is wanted."
        )
    return state


def _known(names: Sequence[str]) -> str:
    return f"arms run from {names[0]!r} to {names[-1]!r}"


def _few(names: list[str]) -> str:
    if len(names) > _MOST_NAMED:
        names = [*names[: _MOST_NAMED - 1], f"{len(names) - _MOST_NAMED + 1} more arms"]
    return say(names)
