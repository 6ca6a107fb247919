"""How far a sweep is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from sequoia.errors import FileError
from sequoia.sweep.cell import Cell
from sequoia.sweep.folder import ResultsFolder


@dataclass(frozen=True)
class Status:
    """How far a sweep is.

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
    spent = {cell: found.seconds for cell in cells if (found := folder.result(cell)) is not None}
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
