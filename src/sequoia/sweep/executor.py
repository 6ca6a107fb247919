"""What executors report."""

import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from sequoia.sweep.cell import Cell
from sequoia.sweep.result import CellResult
from sequoia.sweep.run_cell import run_cell


class Outcome(NamedTuple):
    """How a cell ended: with a result, or with the text of an error."""

    result: CellResult | None
    error: str = ""


class CellEvent(NamedTuple):
    """A cell began, or, with an outcome, ended."""

    cell: Cell
    outcome: Outcome | None = None


# Computes cells in any order and reports on them; the second argument says where a cell may work.
Executor = Callable[[Sequence[Cell], Callable[[Cell], Path]], Iterator[CellEvent]]


def attempt(cell: Cell, work: Path) -> Outcome:
    """Compute a cell; an error becomes text, so that it reaches whoever waits for the cell."""
    try:
        return Outcome(run_cell(cell, work))
    except Exception:
        return Outcome(None, traceback.format_exc())
