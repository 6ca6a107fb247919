"""Compute cells on a Ray cluster; what they find is written here, by the one who asked."""

import logging
import os
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray

from sequoia.errors import ProblemError
from sequoia.evaluation.processes import ONE_THREAD
from sequoia.sweep.cell import Cell
from sequoia.sweep.executor import CellEvent, Outcome, attempt

# Of a cell whose machine was lost. Errors of the cell itself are not tried again.
_RETRIES = 5
_SECONDS_BETWEEN_LOOKS = 5.0


@contextmanager
def connected(where: str, jobs: int) -> Iterator[int]:
    """Connect to a cluster and yield how many cells it computes at once.

    Parameters
    ----------
    where
        ``"auto"`` for the cluster that this machine belongs to, its address, or ``"local"`` for
        one of ``jobs`` processes that is started here and ends with the sweep.
    """
    # Nothing is sent anywhere. Ray reads these when it starts.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    _require_listener(where)
    resources: dict[str, Any] = (
        {"num_cpus": jobs, "include_dashboard": False} if where == "local" else {}
    )
    try:
        ray.init(
            where,
            **resources,
            log_to_driver=False,
            logging_level=logging.ERROR,
            runtime_env={"env_vars": dict(ONE_THREAD)},
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        words = " ".join(str(error).split())[:200]
        raise ProblemError(f"there is no Ray cluster at {where!r}: {words}") from None
    try:
        yield _width()
    finally:
        ray.shutdown()


def _require_listener(where: str) -> None:
    """Say at once that nobody is at an address; Ray itself would wait for minutes."""
    host, _, port = where.rpartition(":")
    if not port.isdecimal():
        return
    try:
        socket.create_connection((host.rpartition("/")[2], int(port)), timeout=10).close()
    except OSError as error:
        raise ProblemError(f"there is no Ray cluster at {where!r}: {error.strerror}.") from None


def run_on_ray(cells: Sequence[Cell], work: Callable[[Cell], Path]) -> Iterator[CellEvent]:  # noqa: ARG001
    """Compute cells as tasks; one that is lost with its machine is computed again elsewhere.

    Finished pieces of a cell stay on the machine that computes it, so ``work`` is not used.
    """
    task = ray.remote(num_cpus=1, max_retries=_RETRIES)(attempt_if_same)
    to_do, waiting = iter(cells), dict[Any, Cell]()
    while True:
        # One more than can run, so that nobody waits, and a cluster that can grow is asked to.
        while len(waiting) <= _width() and (cell := next(to_do, None)) is not None:
            waiting[task.remote(cell, cell.key)] = cell
            yield CellEvent(cell)
        if not waiting:
            return
        for future in ray.wait(list(waiting), timeout=_SECONDS_BETWEEN_LOOKS)[0]:
            cell = waiting.pop(future)
            try:
                outcome = Outcome(*ray.get(future))
            except ray.exceptions.RayError as error:
                outcome = Outcome(None, str(error))
            yield CellEvent(cell, outcome)


def attempt_if_same(cell: Cell, key: str) -> Outcome:
    """Compute a cell on whichever machine this is."""
    if cell.key != key:
        return Outcome(None, "This machine has another version of sequoia than the one that asks.")
    with tempfile.TemporaryDirectory() as folder:
        return attempt(cell, Path(folder))


def _width() -> int:
    """Return how many cells the cluster computes at once, now."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))
