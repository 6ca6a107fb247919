"""How often somebody may try a password."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

# So many wrong passwords are a slip of the fingers; after that each waits twice as long.
_FREE = 5
_FIRST_WAIT, _LONGEST_WAIT = 2.0, 900.0
# Whoever tries very many names must not fill the memory.
_MOST_KEYS = 10_000


class Throttle:
    """Counts failures by key, such as an account and an address."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        # By key: how many failures, and until when to wait.
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def wait(self, *keys: str) -> float:
        """Return for how many seconds the next try is refused."""
        with self._lock:
            until = max((self._failures.get(key, (0, 0.0))[1] for key in keys), default=0.0)
        return max(0.0, until - self._clock())

    def fail(self, *keys: str) -> None:
        """Count a failure."""
        with self._lock:
            for key in keys:
                count = self._failures.pop(key, (0, 0.0))[0] + 1
                over = count - _FREE
                pause = min(_FIRST_WAIT * 2 ** min(over, 20), _LONGEST_WAIT) if over >= 0 else 0.0
                self._failures[key] = (count, self._clock() + pause)
            while len(self._failures) > _MOST_KEYS:
                self._failures.popitem(last=False)

    def succeed(self, *keys: str) -> None:
        """Forget the failures."""
        with self._lock:
            for key in keys:
                self._failures.pop(key, None)
