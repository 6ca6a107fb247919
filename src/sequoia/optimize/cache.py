"""Results that are already known: the same state under the same network is solved once."""

from collections import OrderedDict
from collections.abc import Callable

import numpy as np

from sequoia.errors import SequoiaError
from sequoia.optimize.result import ArgmaxResult
from sequoia.problem.environment import States


class ArgmaxCache:
    """Remembers answers by state for one version of the network (paper, section 4.2).

    A new version discards everything, so answers live as long as a target network does. When
    ``capacity`` is reached, the answers that were not asked for the longest are dropped.

    Parameters
    ----------
    capacity
        How many answers are kept.

    Attributes
    ----------
    hits, misses
        How many states were answered without and with a solve, over all versions.
    """

    def __init__(self, capacity: int = 100_000) -> None:
        if capacity < 1:
            raise SequoiaError(f"cache.capacity is {capacity}; at least 1 is wanted.")
        self._capacity = capacity
        self._version: int | None = None
        self._known: OrderedDict[bytes, ArgmaxResult] = OrderedDict()
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._known)

    @property
    def hit_rate(self) -> float:
        """Share of states that needed no solve; 0 before the first."""
        return self.hits / max(1, self.hits + self.misses)

    def forget(self) -> None:
        """Discard everything."""
        self._known.clear()

    def best(
        self, states: States, version: int, solve: Callable[[States], ArgmaxResult]
    ) -> ArgmaxResult:
        """Return the answer for each state, ``(B, D)``; equal states are solved once.

        Parameters
        ----------
        version
            Which network is asked; another one than last time forgets all answers.
        solve
            Finds the best actions of some states, ``(b, D)``, by the network of this version.
        """
        states = np.ascontiguousarray(states)
        if version != self._version:
            self.forget()
            self._version = version
        keys = [state.tobytes() for state in states]
        new = {key: row for row, key in enumerate(keys) if key not in self._known}
        answers = {key: self._known[key] for key in keys if key not in new}
        if new:
            solved = solve(states[list(new.values())])
            for row, key in enumerate(new):
                answers[key] = solved.only([row])
        self.misses += len(new)
        self.hits += len(keys) - len(new)
        for key in keys:
            self._known[key] = answers[key]
            self._known.move_to_end(key)
        while len(self._known) > self._capacity:
            self._known.popitem(last=False)
        return ArgmaxResult.joined([answers[key] for key in keys])
