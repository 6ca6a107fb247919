"""Executors of cells, and their reports: here, processes of this machine, of one thread each."""

import multiprocessing
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import NamedTuple

from sequoia.evaluation.processes import (
    end_all,
    end_with_parent,
    first_done,
    mortal,
    nursery,
    starting,
)
from sequoia.io import locked
from sequoia.sweep.cell import Cell
from sequoia.sweep.run_cell import CellResult, run_cell

_ENDED = "The process of this cell was ended from outside, perhaps because memory ran out."
# Who has lost its parent ends when its solver's call returns.
_SECONDS_TO_END = 60.0


class Outcome(NamedTuple):
    """The end of a cell: a result, or the text of an error."""

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


def run_locally(
    cells: Sequence[Cell], work: Callable[[Cell], Path], jobs: int
) -> Iterator[CellEvent]:
    """Compute cells in ``jobs`` processes.

    Each process has a pool of its own: one that dies takes nothing but its own cell along.
    """
    before = set(multiprocessing.active_children())
    pools = [_pool() for _ in range(min(jobs, len(cells)))]
    idle, waiting = list(pools), dict[Future[Outcome], tuple[ProcessPoolExecutor, Cell]]()
    to_do = iter(cells)
    try:
        while True:
            while idle and (cell := next(to_do, None)) is not None:
                pool = idle.pop()
                with starting():
                    waiting[pool.submit(_attempt, cell, work(cell))] = pool, cell
                yield CellEvent(cell)
            if not waiting:
                return
            for future in first_done(waiting):
                pool, cell = waiting.pop(future)
                try:
                    outcome = future.result()
                except BrokenProcessPool:
                    outcome = Outcome(None, _ENDED)
                    pools.append(pool := _pool())
                idle.append(pool)
                yield CellEvent(cell, outcome)
    finally:
        # Whatever is under way when this ends early is not waited for.
        if waiting:
            end_all(set(multiprocessing.active_children()) - before)
        for pool in pools:
            pool.shutdown(wait=True, cancel_futures=True)


def _attempt(cell: Cell, work: Path) -> Outcome:
    """Compute a cell alone: a process of a killed sweep may be about to write its last piece."""
    with mortal(), locked(work, "sweep", _SECONDS_TO_END):
        return attempt(cell, work)


def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, nursery(__name__), end_with_parent)
