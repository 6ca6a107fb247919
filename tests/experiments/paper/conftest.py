from collections.abc import Callable
from typing import NamedTuple

import pytest

from experiments.paper.command import app
from sequoia.cli import progress
from sequoia.cli.errors import run


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def reproduce(capsys, tmp_path, monkeypatch) -> Callable[..., Outcome]:
    """Run ``python -m experiments.paper`` with some arguments in an empty folder."""
    monkeypatch.chdir(tmp_path)
    # Lines of progress come with the time, so they would come on a slow machine only.
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", float("inf"))

    def command(*arguments: object) -> Outcome:
        code = run(app, [str(argument) for argument in arguments], "python -m experiments.paper")
        return Outcome(code, *capsys.readouterr())

    return command
