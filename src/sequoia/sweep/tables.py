"""All cells as two tables: numbers that never differ, and times that do."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sequoia.errors import FileError
from sequoia.evaluation.intervals import estimate
from sequoia.io import read_bytes, write_text
from sequoia.sweep.cell import Cell
from sequoia.sweep.folder import NUMBERS, TIMES, ResultsFolder
from sequoia.sweep.run_cell import CellResult

Row = dict[str, Any]


def write_tables(folder: ResultsFolder, cells: Sequence[Cell]) -> None:
    """Write both tables of the cells that are done, in their order."""
    done = [(cell, found) for cell in cells if (found := folder.result(cell)) is not None]
    knobs = list(dict.fromkeys(name for cell in cells for name in cell.knobs))
    numbers = [row for cell, found in done for row in _numbers(cell, found, knobs)]
    times = [row for cell, found in done for row in _times(cell, found, knobs)]
    write_text(folder.path / NUMBERS, to_csv(numbers))
    write_text(folder.path / TIMES, to_csv(times))


def to_csv(rows: Sequence[Row]) -> str:
    """Return rows with the same keys as CSV; what is not there is empty."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read one of the tables as text."""
    try:
        return list(csv.DictReader(io.StringIO(read_bytes(path).decode())))
    except (ValueError, csv.Error) as error:
        raise FileError(f"{path} is not what a sweep wrote: {error}.") from None


def _where(cell: Cell, found: CellResult, knobs: Iterable[str]) -> Row:
    place: Mapping[str, Any] = {name: cell.knobs.get(name) for name in knobs}
    own = {"seed": cell.seed, "solver": cell.solver, "problem": found.fingerprint}
    return {"family": cell.family, **place, **own}


def _numbers(cell: Cell, found: CellResult, knobs: Iterable[str]) -> Iterable[Row]:
    random = float(np.mean(found.random))
    for name, one in found.numbers.items():
        applies = bool(one.rewards)
        mean = estimate(np.array(one.rewards)) if applies else None
        yield _where(cell, found, knobs) | {
            "policy": name,
            "episodes": cell.episodes,
            "steps": found.steps,
            "mean": mean and mean.mean,
            "low": mean and mean.low,
            "high": mean and mean.high,
            "random": random,
            "relative_to_random": mean and mean.mean / random if random > 0 else None,
            "bound": found.bound,
            "percent_of_bound": mean and found.bound and 100 * mean.mean / found.bound,
            "does_not_apply": one.reason,
        }


def _times(cell: Cell, found: CellResult, knobs: Iterable[str]) -> Iterable[Row]:
    for name, one in found.times.items():
        yield _where(cell, found, knobs) | {
            "policy": name,
            "training_seconds": one.training,
            "decisions": one.decisions,
            "decisions_at_limit": one.at_limit,
            "decision_ms_mean": 1000 * one.mean,
            "decision_ms_median": 1000 * one.median,
            "decision_ms_slow": 1000 * one.slow,
            "decision_ms_slowest": 1000 * one.slowest,
            "bound_seconds": found.bound_seconds,
            "bound_stopped_by": found.bound_stopped_by,
            "cell_seconds": found.seconds,
            "commit": found.commit,
        }
