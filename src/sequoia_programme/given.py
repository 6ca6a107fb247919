"""Transitions that somebody knows, in a sheet beside the settings: then nothing is estimated."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sequoia.errors import FileError
from sequoia.problem.spreadsheet import read_spreadsheet
from sequoia.problem.tables import Table
from sequoia.validation import FloatArray
from sequoia_programme.settings import Programme

FILE = "transitions.csv"
NO_DOSE = "none"


def read_given(programme: Programme, groups: Sequence[str]) -> FloatArray | None:
    """Read the transitions of ``groups``, ``(G, L, S, S)``; ``None`` where there is no sheet.

    The sheet has the columns ``dose`` (``none`` for doing nothing), ``state`` and a column for each
    next state, by name; and ``group`` where groups differ.
    """
    path = programme.folder / FILE
    if not path.exists():
        return None
    states, doses = programme.states, [NO_DOSE, *programme.doses]
    sheet = read_spreadsheet(path, heads=("group", "dose", "state", *states))
    of_group = sheet.strings("group") if "group" in sheet.columns else None
    dose, state = sheet.places("dose", doses), sheet.places("state", states)
    odds = sheet.odds(states)
    if sheet.found:
        raise FileError(*sheet.found)
    kernels = np.full((len(groups), len(doses), len(states), len(states)), np.nan)
    for number, group in enumerate(groups):
        for row in range(len(sheet)):
            if of_group is None or of_group[row] == group:
                kernels[number, dose[row], state[row]] = odds[row]
    _require_all(sheet, kernels, groups, doses, states, path)
    return kernels


def _require_all(
    sheet: Table,
    kernels: FloatArray,
    groups: Sequence[str],
    doses: Sequence[str],
    states: Sequence[str],
    path: Path,
) -> None:
    for group, dose, state in np.argwhere(np.isnan(kernels[..., 0])).tolist():
        sheet.found.append(
            f"{path} has no row for group {groups[group]!r}, dose {doses[dose]!r}, state "
            f"{states[state]!r}."
        )
    if sheet.found:
        raise FileError(*sheet.found)
