"""``sequoia programme fit``: transitions from the log, and how sure they are."""

from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sequoia.cli.common import print_json
from sequoia.errors import FileError
from sequoia.problem.names import count
from sequoia.programme.estimates import Estimates, estimate
from sequoia.programme.given import FILE, NO_DOSE
from sequoia.programme.settings import Programme
from sequoia.records.fit import FittedModel

_WIDTH = 110
_MOST_UNSURE = 5


def run_fit(programme: Programme, day: date, as_json: bool) -> None:
    """Estimate, keep and show."""
    if (programme.folder / FILE).exists():
        raise FileError(
            f"{programme.folder / FILE} says the transitions; nothing is estimated unless it goes."
        )
    found = estimate(programme, day)
    assert found.fitted is not None
    if as_json:
        print_json(_to_json(programme, found, found.fitted))
    else:
        _show(programme, found, found.fitted)


def _rows(
    programme: Programme, found: Estimates, fitted: FittedModel
) -> Iterator[tuple[str, str, str, float, np.ndarray[Any, Any]]]:
    """Yield group, dose, state, how often it was met, and mean, low and high of next states."""
    low, high = fitted.interval
    doses = [NO_DOSE, *programme.doses]
    for group, dose, state in np.ndindex(fitted.kernels.shape[:3]):
        own = (group, dose, state)
        numbers = np.stack([fitted.kernels[own], low[own], high[own]], axis=1)
        met = float(fitted.counts[own].sum())
        yield found.groups[group], doses[dose], programme.states[state], met, numbers


def _show(programme: Programme, found: Estimates, fitted: FittedModel) -> None:
    console = Console(highlight=False, width=max(_WIDTH, Console().width))
    console.print(
        f"From {count(fitted.n_rows, 'row')} of the log: how often each state follows, and in "
        "which range with 90 %.",
        soft_wrap=True,
    )
    heads = ("group", "dose", "from", "times", *(f"to {state}" for state in programme.states))
    table = Table(*heads, box=None)
    for column in table.columns[3:]:
        column.justify = "right"
    last = ("", "")
    for group, dose, state, met, numbers in _rows(programme, found, fitted):
        shown = ("" if group == last[0] else group, "" if (group, dose) == last else dose)
        last = (group, dose)
        odds = (f"{m:.2f} ({low:.2f}–{high:.2f})" for m, low, high in numbers)
        table.add_row(*map(Text, (*shown, state)), f"{met:.0f}", *odds)
    console.print(table)
    for line in _unsure(programme, found, fitted):
        console.print(Text(line), soft_wrap=True)
    if found.remark:
        console.print(Text(found.remark), soft_wrap=True)


def _unsure(programme: Programme, found: Estimates, fitted: FittedModel) -> list[str]:
    """Say what the data cannot tell."""
    doses = [NO_DOSE, *programme.doses]
    lines = [
        f"Hardly known: {found.groups[row.group]}, {doses[row.dose]}, from "
        f"{programme.states[row.state]} (met {row.met:.0f} times; a range is {row.width:.2f} wide)."
        for row in fitted.unsure[:_MOST_UNSURE]
    ]
    if len(fitted.unsure) > _MOST_UNSURE:
        lines.append(f"And {len(fitted.unsure) - _MOST_UNSURE} more rows that are hardly known.")
    return lines


def _to_json(programme: Programme, found: Estimates, fitted: FittedModel) -> dict[str, Any]:
    return {
        "rows": fitted.n_rows,
        "states": programme.states,
        "transitions": [
            {
                "group": group,
                "dose": dose,
                "state": state,
                "times": met,
                "mean": numbers[:, 0].tolist(),
                "low": numbers[:, 1].tolist(),
                "high": numbers[:, 2].tolist(),
            }
            for group, dose, state, met, numbers in _rows(programme, found, fitted)
        ],
    }
