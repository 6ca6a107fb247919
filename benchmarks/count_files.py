"""How many files of ours a command goes through, and how often it changes rooms.

    python benchmarks/count_files.py train
    python benchmarks/count_files.py plan
    python benchmarks/count_files.py evaluate
    python benchmarks/count_files.py serve

Counted are files whose functions are called; what is only imported is not. `serve` is the page of
`sequoia serve --demo`, from a request to the first plan. Prints a line for each room. The reader's
way: `train` is meant to stay within 30 files, `serve` within 45.
"""

import inspect
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from types import FrameType
from typing import Any

import sequoia
from sequoia.problem.families import capacity

_SOURCE = Path(sequoia.__file__).parent.parent
_PROBLEM = capacity(arms=20)
# Longer than the plan of the demonstration takes anywhere.
_PATIENCE = 600.0


def _train(folder: Path) -> Callable[[], object]:
    return lambda: sequoia.train(_PROBLEM, folder=folder / "model", seconds=5.0)


def _plan(_: Path) -> Callable[[], object]:
    return lambda: sequoia.plan(_PROBLEM, [0] * 20)


def _evaluate(_: Path) -> Callable[[], object]:
    return lambda: sequoia.evaluate(_PROBLEM, ["random", "price"], episodes=5)


def _serve(folder: Path) -> Callable[[], object]:
    from starlette.testclient import TestClient

    from sequoia_programme.demo import make_demo
    from sequoia_programme.web.app import create_app
    from sequoia_programme.web.planner import PlannerProcess

    make_demo(folder / "clinic", date.today())
    planner = PlannerProcess(folder / "clinic", lambda: ThreadPoolExecutor(1))
    app = create_app(folder / "clinic", date.today(), planner, _PATIENCE)
    client = TestClient(app, "http://localhost:8000", client=("127.0.0.1", 1))

    def ask() -> None:
        shown = client.get("/")
        planner.close()
        if shown.status_code != 200:
            raise SystemExit(f"the page answers {shown.status_code}.")

    return ask


# Each prepares in a folder, and returns what is watched.
COMMANDS: dict[str, Callable[[Path], Callable[[], object]]] = {
    "train": _train,
    "plan": _plan,
    "evaluate": _evaluate,
    "serve": _serve,
}


class Walk:
    """The files that calls go through, and the changes of rooms on the way."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.changes = 0
        self._ours: dict[str, str | None] = {}
        self._room = ""

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        """Take note of a call; a profile function of `sys.setprofile`."""
        # Bodies of modules and classes run when they are imported; they are no functions.
        if event != "call" or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            return
        file = frame.f_code.co_filename
        if file not in self._ours:
            path = Path(file)
            is_ours = path.is_relative_to(_SOURCE)
            self._ours[file] = str(path.relative_to(_SOURCE)) if is_ours else None
        name = self._ours[file]
        if name is None:
            return
        self.calls[name] += 1
        room = str(Path(name).parent)
        self.changes += room != self._room
        self._room = room


def main(name: str) -> None:
    """Run a command under the profile, and print what it went through."""
    walk = Walk()
    with tempfile.TemporaryDirectory() as folder:
        work = COMMANDS[name](Path(folder))
        threading.setprofile(walk.note)
        sys.setprofile(walk.note)
        work()
        sys.setprofile(None)
    rooms = Counter(str(Path(file).parent) for file in walk.calls)
    print(f"{name}: {len(walk.calls)} files in {len(rooms)} rooms, {walk.changes} changes of room")
    for room, files in rooms.most_common():
        print(f"  {files:3}  {room}")


if __name__ == "__main__":
    main(*sys.argv[1:] or ["train"])
