"""How far an evaluation is, and how long it will still take."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from sequoia.evaluation.block_runner import Block


@dataclass(frozen=True)
class Progress:
    """How far an evaluation is.

    Attributes
    ----------
    done, total
        Blocks of episodes.
    kept
        Blocks that an earlier evaluation had left behind.
    seconds_left
        Expected time until the end.
    """

    done: int
    total: int
    kept: int
    seconds_left: float


class Clock:
    """Expects every block of a policy to take as long as its blocks so far."""

    def __init__(self, blocks: Iterable[Block], kept: int) -> None:
        self._open = Counter(block.name for block in blocks)
        self._kept = kept
        self._done = 0
        self._total = kept + self._open.total()
        self._last = time.perf_counter()
        self._spent: dict[str, list[float]] = {}

    def tick(self, block: Block) -> Progress:
        """Take note that ``unit`` is done now.

        With several processes blocks overlap, so what is counted is the time since the last one.
        """
        now = time.perf_counter()
        self._spent.setdefault(block.name, []).append(now - self._last)
        self._last = now
        self._open[block.name] -= 1
        self._done += 1
        every = [seconds for spent in self._spent.values() for seconds in spent]
        left = sum(
            count * fmean(self._spent.get(name, every)) for name, count in self._open.items()
        )
        return Progress(self._kept + self._done, self._total, self._kept, left)
