"""Progress on stderr: a bar with the time left or, without a terminal, a line now and then."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from sequoia.evaluation.blocks import Progress
from sequoia.problem.names import roughly

SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def showing(what: str, noun: str) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows how far something is."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _Lines(what, noun)
        return
    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None, left="")

        def show(progress: Progress) -> None:
            left = f"{roughly(progress.seconds_left)} left"
            bar.update(task, total=progress.total, completed=progress.done, left=left)

        yield show


class _Lines:
    """One line per interval."""

    def __init__(self, what: str, noun: str) -> None:
        self._what, self._noun = what, noun
        self._last = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = now
        text = f"{progress.done} of {progress.total} {self._noun}"
        typer.echo(f"{self._what}: {text}, {roughly(progress.seconds_left)} left", err=True)
