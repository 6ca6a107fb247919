"""Compute cells on this machine: processes of one thread each."""

import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path

from sequoia.evaluation.processes import deaf_to_interrupts, end_all, end_with_parent, mortal
from sequoia.sweep.cell import Cell
from sequoia.sweep.executor import CellEvent, Outcome, attempt

# Cells are many and each is small, so threads inside them would only get in each other's way.
ONE_THREAD: Mapping[str, str] = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
_ENDED = "The process of this cell was ended from outside, perhaps because memory ran out."


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
                with deaf_to_interrupts(), _one_thread():
                    waiting[pool.submit(_attempt, cell, work(cell))] = pool, cell
                yield CellEvent(cell)
            if not waiting:
                return
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
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
    with mortal():
        return attempt(cell, work)


def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), end_with_parent)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let processes that start now have one thread each."""
    known = dict(os.environ)
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name in ONE_THREAD:
            if name in known:
                os.environ[name] = known[name]
            else:
                del os.environ[name]
