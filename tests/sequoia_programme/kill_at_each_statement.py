"""Kill -9 a command at each statement that writes, and look at what is left.

Called with the folder of a programme and a command. Each try is a fork of this process, which has
solved nothing and has no threads, so none of them pays for its start. What a kill leaves must be
what was there before or what a whole run leaves; and the same command again must end as one run
does. Prints how many kills that were.
"""

import contextlib
import os
import shutil
import signal
import sys
import warnings
from pathlib import Path

import highspy as _highspy  # noqa: F401 (imported once, not in each fork)
import pydantic.type_adapter as _pydantic  # noqa: F401
import sqlalchemy as sql
from sqlalchemy import event

from programme_cases import content
from sequoia.cli import main
from sequoia_programme.cli import programme as _programme  # noqa: F401
from sequoia_programme.cli import show_today as _today  # noqa: F401
from sequoia_programme.settings import read_programme

READING = ("SELECT", "PRAGMA")


def run(folder: Path, arguments: list[str], kill_at: int | None) -> bool:
    """Run the command in a fork, and say whether it came to its end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        moments = iter(range(10**9))

        def strike(*_: object) -> None:
            if next(moments) == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

        def strike_at_writing(_: object, __: object, statement: str, *___: object) -> None:
            # A kill at a reading statement leaves what one at the last writing statement leaves.
            if not statement.lstrip().upper().startswith(READING):
                strike()

        event.listen(sql.Engine, "after_cursor_execute", strike_at_writing)
        event.listen(sql.Engine, "commit", strike)
        os.chdir(folder)
        with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
            try:
                main(arguments)
            except SystemExit as stop:
                # After the last word, so that a kill between the commit and the end counts too.
                strike()
                os._exit(int(stop.code or 0))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return False
    assert os.WEXITSTATUS(status) == 0, "the command failed"
    return True


def look(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    return content(read_programme(folder / "clinic"))


def try_all(template: Path, arguments: list[str]) -> int:
    before = look(template)
    whole = template.parent / "whole"
    shutil.copytree(template, whole)
    run(whole, arguments, None)
    after = look(whole)
    assert after != before
    kills = 0
    while True:
        place = template.parent / f"try-{kills}"
        shutil.copytree(template, place)
        if run(place, arguments, kills):
            return kills
        kills += 1
        left = look(place)
        assert left in (before, after), f"kill {kills} left something between"
        run(place, arguments, None)
        ended = look(place)
        # The journal says of a command that came too late that everything was there.
        assert {**ended, "journal": 0} == {**after, "journal": 0}, f"kill {kills}: not the same"
        shutil.rmtree(place)


if __name__ == "__main__":
    print(try_all(Path(sys.argv[1]), sys.argv[2:]))
