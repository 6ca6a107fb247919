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
    done = [(cell, result) for cell in cells if (result := folder.result(cell)) is not None]
    knobs = list(dict.fromkeys(name for cell in cells for name in cell.knobs))
    numbers = [row for cell, result in done for row in _numbers(cell, result, knobs)]
    times = [row for cell, result in done for row in _times(cell, result, knobs)]
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


def _where(cell: Cell, result: CellResult, knobs: Iterable[str]) -> Row:
    place: Mapping[str, Any] = {name: cell.knobs.get(name) for name in knobs}
    about = {"seed": cell.seed, "solver": cell.solver, "problem": result.fingerprint}
    return {"family": cell.family, **place, **about}


def _numbers(cell: Cell, result: CellResult, knobs: Iterable[str]) -> Iterable[Row]:
    random = float(np.mean(result.random))
    for name, numbers in result.numbers.items():
        applies = bool(numbers.rewards)
        mean = estimate(np.array(numbers.rewards)) if applies else None
        yield _where(cell, result, knobs) | {
            "policy": name,
            "episodes": cell.episodes,
            "steps": result.steps,
            "mean": mean and mean.mean,
            "low": mean and mean.low,
            "high": mean and mean.high,
            "random": random,
            "relative_to_random": mean and mean.mean / random if random > 0 else None,
            "bound": result.bound,
            "percent_of_bound": mean and result.bound and 100 * mean.mean / result.bound,
            "does_not_apply": numbers.reason,
        }


def _times(cell: Cell, result: CellResult, knobs: Iterable[str]) -> Iterable[Row]:
    for name, times in result.times.items():
        yield _where(cell, result, knobs) | {
            "policy": name,
            "training_seconds": times.training,
            "decisions": times.decisions,
            "decisions_at_limit": times.at_limit,
            "decision_ms_mean": 1000 * times.mean,
            "decision_ms_median": 1000 * times.median,
            "decision_ms_slow": 1000 * times.slow,
            "decision_ms_slowest": 1000 * times.slowest,
            "bound_seconds": result.bound_seconds,
            "bound_stopped_by": result.bound_stopped_by,
            "cell_seconds": result.seconds,
            "commit": result.commit,
        }
