"""Long work: in a process of its own, one at a time, with progress, and it can be stopped."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from sequoia.errors import ProblemError, SequoiaError
from sequoia_programme.estimates import estimate
from sequoia_programme.quality import find_quality, write_quality
from sequoia_programme.settings import read_programme
from sequoia_programme.situation import find_situation
from sequoia_programme.trained import train_own_model
from sequoia_programme.web.processes import end_with


@dataclass(frozen=True)
class Job:
    """What is or was worked on.

    Attributes
    ----------
    number
        Counts jobs, so that news of an old one changes nothing of the next.
    share
        How much is done, from 0 to 1.
    part
        What is worked on now.
    wrong
        Why it ended without a result; empty while it works, and when it has one.
    """

    number: int
    kind: str
    share: float = 0.0
    part: str = ""
    is_running: bool = True
    is_stopped: bool = False
    wrong: str = ""


class Jobs:
    """Runs one job at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._process: BaseProcess | None = None
        self._life: Connection | None = None
        self.last: Job | None = None

    def start(self, kind: str, day: date, actor: str = "") -> None:
        """Start a job, unless one is running."""
        if kind not in _WORK:
            raise ProblemError(f"no work is called {kind!r}.")
        with self._lock:
            if self.last is not None and self.last.is_running:
                raise ProblemError("something is being computed already; stop it, or wait.")
            self.last = Job(1 if self.last is None else self.last.number + 1, kind)
            context = get_context("spawn")
            ours, theirs = context.Pipe(duplex=False)
            life, self._life = context.Pipe(duplex=False)
            self._process = context.Process(
                target=_run, args=(kind, self._folder, day, actor, theirs, life), daemon=True
            )
            self._process.start()
            theirs.close()
            life.close()
            threading.Thread(target=self._watch, args=(ours, self.last), daemon=True).start()

    def stop(self) -> None:
        """Stop the job that runs; nothing of it is kept."""
        with self._lock:
            if self.last is not None and self.last.is_running and self._process is not None:
                self.last = replace(self.last, is_running=False, is_stopped=True)
                self._process.terminate()

    close = stop

    def _watch(self, news: Connection, job: Job) -> None:
        """Follow a job until its process ends."""
        is_done = False
        while True:
            try:
                share, part, wrong = news.recv()
            except (EOFError, OSError):
                break
            is_done = share >= 1
            with self._lock:
                if self._is_current(job):
                    self.last = replace(job, share=share, part=part, wrong=wrong)
        with self._lock:
            if self.last is not None and self._is_current(job):
                wrong = self.last.wrong or ("" if is_done else "the process ended.")
                self.last = replace(self.last, is_running=False, wrong=wrong)

    def _is_current(self, job: Job) -> bool:
        return self.last is not None and self.last.number == job.number and not self.last.is_stopped


def _run(
    kind: str, folder: Path, day: date, actor: str, news: Connection, life: Connection
) -> None:
    """Work, in the process."""
    end_with(life)

    def progress(share: float, part: str) -> None:
        news.send((share, part, ""))

    try:
        _WORK[kind](folder, day, actor, progress)
        news.send((1.0, "", ""))
    except SequoiaError as error:
        news.send((0.0, "", " ".join(error.lines)))


Progress = Callable[[float, str], None]


def _quality(folder: Path, day: date, _actor: str, progress: Progress) -> None:
    programme = read_programme(folder)
    write_quality(programme, find_quality(find_situation(programme, day), progress))


def _fit(folder: Path, day: date, actor: str, progress: Progress) -> None:
    progress(0.1, "fit")
    estimate(replace(read_programme(folder), actor=actor), day)


def _train(folder: Path, day: date, actor: str, progress: Progress) -> None:
    progress(0.0, "train")
    situation = find_situation(replace(read_programme(folder), actor=actor), day)
    train_own_model(situation, lambda share: progress(share, "train"))


_WORK: dict[str, Callable[[Path, date, str, Progress], None]] = {
    "quality": _quality,
    "fit": _fit,
    "train": _train,
}
