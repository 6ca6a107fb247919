"""Progress of a command: a bar or, without a terminal, a line on stderr now and then."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from sequoia.progress import Step, bar, is_watched

SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def showing(what: str, noun: str) -> Iterator[Callable[[Step], None]]:
    """Yield a function that shows how far something is."""
    if not is_watched():
        yield _Lines(what, noun)
        return
    with bar(what) as show:
        yield show


class _Lines:
    """One line per interval."""

    def __init__(self, what: str, noun: str) -> None:
        self._what, self._noun = what, noun
        self._last = time.monotonic()

    def __call__(self, step: Step) -> None:
        now = time.monotonic()
        if now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = now
        text = f"{step.done} of {step.total} {self._noun}"
        typer.echo(f"{self._what}: {text}, {step.in_words()}", err=True)
