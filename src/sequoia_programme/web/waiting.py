"""Who waits for what: one thing is computed at a time, each account has its turn."""

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Executor, Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any

from sequoia.errors import SolverFailed

# What is asked for is not there yet.
StillComputing = TimeoutError
# Answers that are kept: people go back and forth between a few.
_MOST_ANSWERS = 64
# What one account has waiting: the days that somebody looks at, in a few windows.
_MOST_WAITING = 4
# Requests that are held until there is an answer, by one account and by all: each holds a thread of
# the 40 that answer pages.
_MOST_HELD, _MOST_HELD_BY_ALL = 4, 20
# A page that waits asks again every second or two; after so many nobody waits any more.
_LOST = 10.0


@dataclass(eq=False)
class _Asked:
    """Something that is asked for.

    Attributes
    ----------
    accounts
        Whose it is.
    held
        How many requests wait for it right now.
    at
        When somebody asked last.
    """

    task: Callable[[], Any]
    accounts: set[str]
    answer: Future[Any] = field(default_factory=Future)
    held: int = 0
    at: float = 0.0


@dataclass(frozen=True)
class Progress:
    """How far an answer is: how many go first, and for how many seconds it is computed."""

    ahead: int
    seconds: float


class WaitingLine:
    """Computes what is asked for, one thing after the other, and keeps answers for a while.

    The next one is what an account waits for that had its turn longest ago. What nobody waits for
    any more is dropped, and so is the oldest of an account that asks for too much.

    Parameters
    ----------
    make_pool
        Starts the process that computes, and starts it again when it ended.
    """

    def __init__(
        self, make_pool: Callable[[], Executor], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._make_pool = make_pool
        self._clock = clock
        # What is done may be done at once, within the call that begins it.
        self._lock = threading.RLock()
        self._waiting: OrderedDict[Hashable, _Asked] = OrderedDict()
        self._running: tuple[Hashable, _Asked] | None = None
        self._answers: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._held: Counter[str] = Counter()
        self._turns: Counter[str] = Counter()
        self._pool = make_pool()
        # How many answers were computed, how many of them were none, and how long all took.
        self.done = self.failed = 0
        self.seconds = 0.0

    @property
    def length(self) -> int:
        """How many things wait, or are computed."""
        return len(self._waiting) + (self._running is not None)

    def ask(self, key: Hashable, account: str, task: Callable[[], Any], patience: float) -> Any:
        """Return the answer to ``key``, which ``task`` computes.

        Raises
        ------
        StillComputing
            When it is not there after ``patience`` seconds; whoever asks again gets it then.
        """
        with self._lock:
            answer = self._answers.get(key)
            if answer is not None:
                self._answers.move_to_end(key)
                return answer.result(0)
            one = self._find(key, account, task)
            if self._held[account] >= _MOST_HELD or self._held.total() >= _MOST_HELD_BY_ALL:
                patience = 0.0
            one.held += 1
            self._held[account] += 1
            self._begin_next()
        try:
            return one.answer.result(patience)
        except CancelledError:
            raise StillComputing from None
        except BrokenProcessPool:
            raise SolverFailed("the process that makes plans ended; ask again.") from None
        finally:
            with self._lock:
                one.held -= 1
                one.at = self._clock()
                self._held[account] -= 1

    def progress(self, key: Hashable) -> Progress:
        """Return how far the answer to a key is."""
        with self._lock:
            if self._running is not None and self._running[0] == key:
                return Progress(0, self._clock() - self._begun)
            ahead = list(self._waiting).index(key) if key in self._waiting else 0
            return Progress(ahead + (self._running is not None), 0.0)

    def cancel(self, key: Hashable, account: str) -> bool:
        """Stop what an account waits for, unless others wait for it, too; return whether it was.

        What is computed ends with its process; the next thing gets a new one.
        """
        with self._lock:
            if key in self._waiting:
                self._leave(key, account)
                return key not in self._waiting
            if self._running is None or self._running[0] != key:
                return False
            self._running[1].accounts.discard(account)
            if self._running[1].accounts:
                return False
            old, self._pool = self._pool, self._make_pool()
        old.shutdown(wait=False, cancel_futures=True)
        return True

    def drop(self, is_old: Callable[[Any], bool]) -> None:
        """Forget what is asked for by such keys, where nothing was done for it yet."""
        with self._lock:
            for key in [key for key in self._waiting if is_old(key)]:
                self._waiting.pop(key).answer.cancel()

    def close(self) -> None:
        """End the process."""
        self.drop(lambda _: True)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _find(self, key: Hashable, account: str, task: Callable[[], Any]) -> _Asked:
        """Return what is asked for, at the end of the line unless it stands there."""
        if self._running is not None and self._running[0] == key:
            self._running[1].accounts.add(account)
            return self._running[1]
        one = self._waiting.setdefault(key, _Asked(task, set()))
        one.accounts.add(account)
        one.at = self._clock()
        own = [key for key, other in self._waiting.items() if account in other.accounts]
        for old in own[:-_MOST_WAITING]:
            self._leave(old, account)
        return one

    def _leave(self, key: Hashable, account: str) -> None:
        """Take something of an account out of the line, unless others wait for it, too."""
        self._waiting[key].accounts.discard(account)
        if not self._waiting[key].accounts:
            self._waiting.pop(key).answer.cancel()

    def _begin_next(self) -> None:
        """Begin with what is next, unless something is computed."""
        if self._running is not None:
            return
        now = self._clock()
        for key, one in list(self._waiting.items()):
            if not one.held and one.at < now - _LOST:
                self._waiting.pop(key).answer.cancel()
        if not self._waiting:
            return
        key = min(self._waiting, key=self._last_turn)
        one = self._waiting.pop(key)
        turn = max(self._turns.values(), default=0) + 1
        for account in one.accounts:
            self._turns[account] = turn
        self._running = (key, one)
        self._begun = self._clock()
        self._submit(one.task).add_done_callback(lambda done: self._end(key, one, done))

    def _last_turn(self, key: Hashable) -> int:
        """Return when one of those who wait for something had their last turn."""
        return min(self._turns[account] for account in self._waiting[key].accounts)

    def _submit(self, task: Callable[[], Any]) -> Future[Any]:
        try:
            return self._pool.submit(task)
        except BrokenProcessPool:
            self._pool = self._make_pool()
            return self._pool.submit(task)

    def _end(self, key: Hashable, one: _Asked, done: Future[Any]) -> None:
        """Pass an answer on, keep it and begin with the next."""
        with self._lock:
            self._running = None
            if done.cancelled():
                one.answer.cancel()
                return
            error = done.exception()
            self.done += 1
            self.failed += error is not None
            self.seconds += self._clock() - self._begun
            if error is None:
                one.answer.set_result(done.result())
            else:
                one.answer.set_exception(error)
            if not isinstance(error, BrokenProcessPool):
                self._answers[key] = one.answer
                while len(self._answers) > _MOST_ANSWERS:
                    self._answers.popitem(last=False)
            self._begin_next()
