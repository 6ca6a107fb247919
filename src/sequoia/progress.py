"""Progress on stderr: a bar in a terminal or a notebook, with the time left; elsewhere nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar


class Step(Protocol):
    """How far something is: so much of a total, and what else there is to say."""

    @property
    def done(self) -> int:
        """How much is done."""
        ...

    @property
    def total(self) -> int:
        """How much there is to do."""
        ...

    def in_words(self) -> str:
        """Return what is said beside the bar."""
        ...


def is_watched() -> bool:
    """Say whether stderr is a terminal, or this is a notebook."""
    console = Console(stderr=True)
    return console.is_terminal or console.is_jupyter


@contextmanager
def bar(what: str, is_wanted: bool = True) -> Iterator[Callable[[Step], None]]:
    """Yield a function that shows how far something is, where somebody watches."""
    is_silent = not (is_wanted and is_watched())
    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[said]}"),
    )
    console = Console(stderr=True, highlight=False)
    with Bar(*columns, console=console, transient=True, disable=is_silent) as shown:
        task = shown.add_task(what, total=None, said="warming up")

        def show(step: Step) -> None:
            shown.update(task, total=step.total, completed=step.done, said=step.in_words())

        yield show
