"""Through how many of our files one follows a training, and the page to its first plan.

    python benchmarks/followed.py
    python benchmarks/followed.py --list

A file counts when a function of it runs; what only holds names and types, or is merely imported,
does not. Each task runs twice, and the second time counts: what imports do is none of it. The page
is that of `sequoia serve --demo`, asked in this process: the programme is read, the request
answered, today's plan computed and shown.
"""

import argparse
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from types import FrameType
from typing import Any

import sequoia
import sequoia_programme

PACKAGES = tuple(Path(package.__file__ or "").parent for package in (sequoia, sequoia_programme))
# Long enough for the slowest machine; the plan of the demonstration takes seconds.
PATIENCE = 600.0


def train() -> None:
    """Learn for one round."""
    problem = sequoia.make("capacity", arms=8, workers=2, horizon=5, seed=1)
    from sequoia.learn import make_config

    sequoia.train(problem, make_config("default", rounds=1))


def serve() -> None:
    """Open the demonstration and ask for its page until the plan is there."""
    from starlette.testclient import TestClient

    from sequoia_programme.demo import make_demo
    from sequoia_programme.web.app import create_app
    from sequoia_programme.web.planner import PlannerProcess

    with tempfile.TemporaryDirectory() as folder, paused():
        place = Path(folder) / "clinic"
        make_demo(place, date.today())
        planner = PlannerProcess(place, lambda: ThreadPoolExecutor(1))
        app = create_app(place, date.today(), planner, PATIENCE)
        client = TestClient(app, "http://localhost:8000", client=("127.0.0.1", 1))
        with resumed():
            shown = client.get("/")
        if shown.status_code != 200 or not re.search(r"<table|<ol|<ul", shown.text):
            raise SystemExit(f"the page shows no plan: {shown.status_code}.")
        planner.close()


_watching = False
_ran: Counter[Path] = Counter()


@contextmanager
def paused() -> Iterator[None]:
    """Do not count for a while: making the demonstration is no part of the page."""
    global _watching
    before, _watching = _watching, False
    try:
        yield
    finally:
        _watching = before


@contextmanager
def resumed() -> Iterator[None]:
    """Count again."""
    global _watching
    before, _watching = _watching, True
    try:
        yield
    finally:
        _watching = before


def files_of(work: Callable[[], None]) -> list[Path]:
    """Return our files of which ``work`` runs a function."""
    work()
    _ran.clear()
    threading.setprofile(_note)
    sys.setprofile(_note)
    try:
        with resumed():
            work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return sorted(path for path in _ran if any(path.is_relative_to(own) for own in PACKAGES))


def _note(frame: FrameType, event: str, _: Any) -> None:
    if _watching and event == "call" and frame.f_code.co_name != "<module>":
        _ran[Path(frame.f_code.co_filename)] += 1


def main() -> None:
    parser = argparse.ArgumentParser(description="How many files one follows.")
    parser.add_argument("--list", action="store_true", help="name the files, too")
    chosen = parser.parse_args()
    for task in (train, serve):
        began = time.perf_counter()
        files = files_of(task)
        print(f"{task.__name__}: {len(files)} files ({time.perf_counter() - began:.0f} s)")
        if chosen.list:
            print(*(f"  {path.relative_to(PACKAGES[0].parent)}" for path in files), sep="\n")


if __name__ == "__main__":
    main()
