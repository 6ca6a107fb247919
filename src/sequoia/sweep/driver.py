"""Compute a plan into a folder."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sequoia.evaluation.blocks import Progress
from sequoia.sweep.cell import Cell
from sequoia.sweep.executor import Executor
from sequoia.sweep.folder import ResultsFolder, seconds_left
from sequoia.sweep.plan import Plan
from sequoia.sweep.tables import write_tables

SECONDS_BETWEEN_TABLES = 60.0


@dataclass(frozen=True)
class Swept:
    """The end of a sweep.

    Attributes
    ----------
    done, kept
        Cells that are done, and how many of these were so before.
    failed
        Text of the error of each cell that failed, by its key.
    """

    done: int
    kept: int
    failed: dict[str, str]


def sweep(
    plan: Plan,
    path: Path,
    executor: Executor,
    jobs: int,
    on_event: Callable[[Progress], None] | None = None,
    force: bool = False,
) -> Swept:
    """Compute all cells of ``plan`` that are not done, and write the tables.

    Whatever ends it, the same call goes on from there and ends with the same ``numbers.csv``.

    Parameters
    ----------
    path
        The results folder. Cells of other plans in it are left alone.
    executor
        Where cells are computed.
    jobs
        How many cells it computes at once, to say how much time is left.
    on_event
        Called whenever a cell ends.
    force
        Whether to replace a plan or tables that somebody else put into the folder.

    Raises
    ------
    FileError
        When another sweep is writing to the folder, or it holds files that would be replaced.
    """
    cells = plan.cells()
    folder = ResultsFolder(path)
    folder.make(force)
    with folder.locked():
        folder.keep_plan(plan, force)
        results = {cell: folder.result(cell) for cell in cells}
        spent = {cell: result.seconds for cell, result in results.items() if result is not None}
        to_do = [cell for cell in seed_by_seed(cells) if cell not in spent]
        for cell in to_do:
            folder.forget_error(cell)
        last = time.monotonic()
        failed: dict[str, str] = {}
        for progress in _compute(folder, executor, to_do, spent, failed, jobs):
            if on_event is not None:
                on_event(progress)
            # A long sweep can be drawn before it ends.
            if time.monotonic() - last > SECONDS_BETWEEN_TABLES:
                write_tables(folder, cells)
                last = time.monotonic()
        write_tables(folder, cells)
    return Swept(len(spent), len(cells) - len(to_do), failed)


def seed_by_seed(cells: Sequence[Cell]) -> list[Cell]:
    """Return the first seed of every problem, then the second of each, ….

    So a sweep that is ended early has about as many seeds of each.
    """
    before: Counter[str] = Counter()
    places = []
    for cell in cells:
        places.append(before[cell.group])
        before[cell.group] += 1
    order = sorted(range(len(cells)), key=places.__getitem__)
    return [cells[i] for i in order]


def _compute(
    folder: ResultsFolder,
    executor: Executor,
    to_do: list[Cell],
    spent: dict[Cell, float],
    failed: dict[str, str],
    jobs: int,
) -> Iterator[Progress]:
    """Compute cells and keep what they find; note it in ``spent``, and errors in ``failed``."""
    kept = len(spent)
    left, since = list(to_do), dict[Cell, float]()
    for cell, outcome in executor(to_do, folder.work):
        if outcome is None:
            since[cell] = time.time()
            folder.note_running(jobs, since)
            continue
        since.pop(cell, None)
        left.remove(cell)
        folder.note_running(jobs, since)
        if outcome.result is None:
            failed[cell.key] = outcome.error
            folder.keep_error(cell, outcome.error)
        else:
            spent[cell] = outcome.result.seconds
            folder.keep(cell, outcome.result)
        now = time.time()
        running = {begun.key: now - began for begun, began in since.items()}
        expected = seconds_left(left, spent, running, jobs) or 0.0
        done = len(spent) + len(failed)
        yield Progress(done, done + len(left), kept, expected)
