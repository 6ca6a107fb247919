from collections.abc import Callable
from typing import NamedTuple

import pytest

from sequoia.cli import main, progress


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def command(capsys, tmp_path, monkeypatch) -> Callable[..., Outcome]:
    """Run ``sequoia`` with some arguments in an empty folder."""
    monkeypatch.chdir(tmp_path)
    # Lines of progress come with the time, so they would come on a slow machine only.
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", float("inf"))

    def run(*arguments: object) -> Outcome:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Outcome(stop.value.code, printed.out, printed.err)

    return run
