"""The folder of a sweep: one sub-folder per cell, a lock, and how far it is."""

import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import tomli_w
from pydantic import ValidationError

from sequoia.errors import FileError
from sequoia.io import (
    clear_unfinished,
    is_locked,
    locked,
    make_folder,
    read_json,
    refuse_to_replace,
    write_text,
)
from sequoia.sweep.cell import Cell
from sequoia.sweep.plan import Plan, read_plan
from sequoia.sweep.run_cell import CellResult

NUMBERS, TIMES, PLAN = "numbers.csv", "times.csv", "plan.toml"
# By this line a plan that was written here is told from one that somebody wrote.
_OURS = "# Written by sequoia sweep, which may replace it.\n"


@dataclass(frozen=True)
class ResultsFolder:
    """The folder of the results of a sweep; whatever is there is complete."""

    path: Path

    def make(self, force: bool = False) -> None:
        """Make the folder; what others put there is not replaced unless told so."""
        if not (self.path / "cells").is_dir():
            refuse_to_replace([self.path / name for name in (NUMBERS, TIMES)], force)
        make_folder(self.path / "cells")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other sweeps out; the lock ends with this process, however that ends."""
        with locked(self.path, "sweep"):
            for pattern in ("", "cells/*", "cells/*/work", "cells/*/work/*"):
                clear_unfinished(self.path, pattern)
            # A sweep that was killed may have kept a result and not yet removed its pieces.
            for done in self.path.glob("cells/*/result.json"):
                shutil.rmtree(done.parent / "work", ignore_errors=True)
            try:
                yield
            finally:
                self._running.unlink(missing_ok=True)

    @property
    def is_in_use(self) -> bool:
        """Whether a sweep is writing to it now."""
        return is_locked(self.path)

    def work(self, cell: Cell) -> Path:
        """Return where the finished pieces of an unfinished cell are kept."""
        return self._of(cell) / "work"

    def result(self, cell: Cell) -> CellResult | None:
        """Return what a cell found; ``None`` while it is not done, or when the file is damaged."""
        try:
            return CellResult.model_validate(read_json(self._of(cell) / "result.json"))
        except (FileError, ValidationError):
            return None

    def error(self, cell: Cell) -> str | None:
        """Return what went wrong with a cell the last time, if that is all there is."""
        try:
            return (self._of(cell) / "error.txt").read_text(encoding="utf-8").strip()
        except OSError:
            return None

    def keep(self, cell: Cell, result: CellResult) -> None:
        """Write what a cell found, and forget its pieces."""
        folder = self._of(cell)
        folder.mkdir(exist_ok=True)
        content = json.dumps(result.model_dump(mode="json"), ensure_ascii=False, allow_nan=False)
        write_text(folder / "result.json", content)
        (folder / "error.txt").unlink(missing_ok=True)
        shutil.rmtree(folder / "work", ignore_errors=True)

    def keep_error(self, cell: Cell, text: str) -> None:
        """Write what went wrong with a cell."""
        self._of(cell).mkdir(exist_ok=True)
        write_text(self._of(cell) / "error.txt", text)

    def forget_error(self, cell: Cell) -> None:
        """Forget what went wrong with a cell, which is about to be tried again."""
        (self._of(cell) / "error.txt").unlink(missing_ok=True)

    def keep_plan(self, plan: Plan, force: bool = False) -> None:
        """Write the plan, for `plan` and for people; one that says the same stays as it is."""
        target = self.path / PLAN
        if _holds(target, plan):
            return
        if not _is_ours(target):
            refuse_to_replace([target], force)
        content = plan.model_dump(mode="json", exclude_none=True)
        write_text(target, _OURS + tomli_w.dumps(content))

    def plan(self) -> Plan:
        """Read the plan of the last sweep."""
        if not (self.path / "cells").is_dir():
            raise FileError(f"{self.path} is not the folder of a sweep: it has no cells.")
        return read_plan(self.path / PLAN)

    def note_running(self, jobs: int, since: Mapping[Cell, float]) -> None:
        """Write which cells are being computed, for `running`."""
        cells = {cell.key: began for cell, began in since.items()}
        write_text(self._running, json.dumps({"jobs": jobs, "cells": cells}))

    def running(self) -> tuple[int, dict[str, float]]:
        """Return the number of processes, and for how many seconds each cell has been running."""
        try:
            content = read_json(self._running)
            since = {key: time.time() - float(began) for key, began in content["cells"].items()}
            return int(content["jobs"]), since
        except (FileError, LookupError, TypeError, ValueError, AttributeError):
            return 1, {}

    def _of(self, cell: Cell) -> Path:
        return self.path / "cells" / cell.key

    @property
    def _running(self) -> Path:
        return self.path / "running.json"


def _holds(path: Path, plan: Plan) -> bool:
    try:
        return read_plan(path) == plan
    except FileError:
        return False


def _is_ours(path: Path) -> bool:
    try:
        return path.read_text(encoding="utf-8").startswith(_OURS)
    except (OSError, ValueError):
        return False


@dataclass(frozen=True)
class Status:
    """The progress of a sweep.

    Attributes
    ----------
    running
        Cells that are being computed, with the seconds since they began.
    failed
        Cells that ended with an error the last time, with its last line.
    seconds_left
        Expected time until the end; ``None`` when nothing is known yet.
    """

    total: int
    done: int
    running: Mapping[str, float]
    failed: Mapping[str, str]
    seconds_left: float | None

    @property
    def left(self) -> int:
        """Cells that are not done, not running and have not failed."""
        return self.total - self.done - len(self.running) - len(self.failed)


def status(path: Path) -> Status:
    """Say how far the last sweep in a folder is."""
    if not path.is_dir():
        raise FileError(f"{path} is not a folder.")
    folder = ResultsFolder(path)
    cells = folder.plan().cells()
    spent = {cell: result.seconds for cell in cells if (result := folder.result(cell)) is not None}
    jobs, since = folder.running() if folder.is_in_use else (1, {})
    running = {cell.key: since[cell.key] for cell in cells if cell.key in since}
    open_cells = [cell for cell in cells if cell not in spent]
    errors = {cell.key: folder.error(cell) for cell in open_cells if cell.key not in running}
    failed = {key: text.splitlines()[-1] for key, text in errors.items() if text}
    left = [cell for cell in open_cells if cell.key not in failed]
    return Status(
        total=len(cells),
        done=len(spent),
        running=running,
        failed=failed,
        seconds_left=seconds_left(left, spent, running, jobs),
    )


def seconds_left(
    left: Sequence[Cell], spent: Mapping[Cell, float], running: Mapping[str, float], jobs: int
) -> float | None:
    """Expect a cell to take as long as others of its group did; ``None`` when none is done.

    Parameters
    ----------
    left
        Cells that are running or still to come.
    spent
        Seconds that each finished cell took.
    running
        Seconds since each running cell began.
    """
    if not left:
        return 0.0
    if not spent:
        return None
    groups: dict[str, list[float]] = {}
    for cell, seconds in spent.items():
        groups.setdefault(cell.group, []).append(seconds)
    everyone = fmean(spent.values())
    means = {group: fmean(seconds) for group, seconds in groups.items()}
    expected = [
        max(0.0, means.get(cell.group, everyone) - running.get(cell.key, 0.0)) for cell in left
    ]
    return max(sum(expected) / min(jobs, len(left)), max(expected))
