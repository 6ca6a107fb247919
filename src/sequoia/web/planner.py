"""Plans are made in a process of their own, so that pages answer while one is computed."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from concurrent.futures import TimeoutError as StillComputing
from concurrent.futures.process import BrokenProcessPool
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from sequoia.errors import SolverFailed
from sequoia.planning.planner import Why
from sequoia.programme.drafts import Overrides
from sequoia.programme.proposal import Proposal, explain, propose
from sequoia.programme.settings import read_programme
from sequoia.programme.situation import find_situation
from sequoia.programme.today import Planning
from sequoia.programme.trained import with_own_model
from sequoia.web.processes import OwnProcess

__all__ = ["PlannerProcess", "StillComputing"]

# Answers that are kept: people go back and forth between a few.
_MOST_ANSWERS = 64
# Where the version is in the key of an answer.
_VERSION = 2
# Days that the process has in mind.
_MOST_DAYS = 3


class PlannerProcess:
    """Asks the process, and remembers its answers as long as nothing changes.

    Parameters
    ----------
    make_pool
        Starts the process, and starts it again when it ended.
    """

    def __init__(self, folder: Path, make_pool: Callable[[], Executor] | None = None) -> None:
        self._folder = folder
        self._make_pool = make_pool or OwnProcess
        self._lock = threading.Lock()
        self._answers: OrderedDict[tuple[str, ...], Future[Any]] = OrderedDict()
        self._pool = self._make_pool()

    def proposal(self, day: date, version: str, overrides: Overrides, patience: float) -> Proposal:
        """Return the plan for some wishes.

        Raises
        ------
        StillComputing
            When it is not ready after ``patience`` seconds; whoever asks again gets it then.
        """
        found: Proposal = self._ask(_propose, day, version, overrides, "", patience)
        return found

    def why(self, day: date, version: str, overrides: Overrides, who: str, patience: float) -> Why:
        """Return what it would cost to drop or to include somebody."""
        found: Why = self._ask(_explain, day, version, overrides, who, patience)
        return found

    def close(self) -> None:
        """End the process."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ask(
        self,
        work: Callable[..., Any],
        day: date,
        version: str,
        overrides: Overrides,
        who: str,
        patience: float,
    ) -> Any:
        key = _key(work, day, version, overrides, who)
        with self._lock:
            if key not in self._answers:
                self._forget_older_than(version)
                task = partial(work, self._folder, day, version, dict(overrides), who)
                self._answers[key] = self._submit(task)
                while len(self._answers) > _MOST_ANSWERS:
                    self._answers.popitem(last=False)
            future = self._answers[key]
            self._answers.move_to_end(key)
        try:
            return future.result(timeout=patience)
        except CancelledError:
            raise StillComputing from None
        except BrokenProcessPool:
            with self._lock:
                self._answers.pop(key, None)
            raise SolverFailed("the process that makes plans ended; ask again.") from None

    def _forget_older_than(self, version: str) -> None:
        """Cancel plans of how things stood before, if nothing was done for them yet."""
        for key, future in list(self._answers.items()):
            if key[_VERSION] != version and future.cancel():
                del self._answers[key]

    def _submit(self, task: Callable[[], Any]) -> Future[Any]:
        try:
            return self._pool.submit(task)
        except BrokenProcessPool:
            self._pool = self._make_pool()
            return self._pool.submit(task)


def _key(
    work: Callable[..., Any], day: date, version: str, overrides: Overrides, who: str
) -> tuple[str, ...]:
    asked = sorted((option, *sorted(texts)) for option, texts in overrides.items() if texts)
    return (work.__name__, str(day), version, repr(asked), who)


# In the process: how things stand on the days that were asked for last.
_days: OrderedDict[tuple[Path, date, str], Planning] = OrderedDict()


def _planning(folder: Path, day: date, version: str) -> Planning:
    key = (folder, day, version)
    if key not in _days:
        situation, q = with_own_model(find_situation(read_programme(folder), day))
        _days[key] = Planning(situation, q=q)
        while len(_days) > _MOST_DAYS:
            _days.popitem(last=False)
    _days.move_to_end(key)
    return _days[key]


def _propose(folder: Path, day: date, version: str, overrides: Overrides, _who: str) -> Proposal:
    return propose(_planning(folder, day, version), overrides)


def _explain(folder: Path, day: date, version: str, overrides: Overrides, who: str) -> Why:
    return explain(_planning(folder, day, version), overrides, who)
