"""Today's states from a sheet, CSV or XLSX."""

from pathlib import Path

import numpy as np

from sequoia.errors import FileError
from sequoia.problem import Problem
from sequoia.problem.names import composed, count, say
from sequoia.problem.spreadsheet import read_spreadsheet
from sequoia.validation import IntArray

_MOST_NAMED = 5


def read_today(path: Path, problem: Problem) -> tuple[Problem, IntArray]:
    """Read today's states, ``(J,)``, and return them with the problem that begins today.

    Where promises are made, the column ``since`` says how many steps ago each arm was visited, and
    ``into`` how many steps of the window of ``once_in`` are over; 0 where nobody knows.
    """
    if problem.purse is not None:
        limits = problem.purse.limits
        free, states = read_today(path, problem.unlimited)
        today = free.with_budgets(limits)
        assert today.purse is not None
        return today, np.concatenate([states, today.purse.first_digits()])
    states = read_states(path, problem)
    if problem.keeper is None:
        return problem, states
    table = read_spreadsheet(path, heads=("arm", "state"))
    arms = table.places("arm", [composed(name) for name in problem.arms.names])
    promises = problem.keeper.promises
    given = {"since": promises.since.copy(), "into": promises.into.copy()}
    for name, values in given.items():
        if name in table.columns:
            values[arms] = table.integers(name, least=0)
    if table.found:
        raise FileError(*table.found)
    today = problem.with_promises(promises.beginning(**given, names=problem.arms.names))
    assert today.keeper is not None
    return today, today.keeper.with_clocks(states, today.keeper.first_clock())


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
            columns = ", ".join(table.columns) or "none"
            raise FileError(f"{path} has the columns {columns}; arm and state are wanted.")
    bare = problem.bare_arms
    names = bare.names
    known = table.numbers("state", "state", [composed(n) for n in bare.state_names])
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
