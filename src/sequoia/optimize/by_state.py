"""The best action where what is allowed depends on the state: an engine for each set of actions."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.relu_net import ReluNet
from sequoia.optimize.result import Argmax, ArgmaxResult
from sequoia.problem import ActionLimits
from sequoia.validation import IntArray

# Engines that are kept, those used last: a few megabytes each.
_MOST_ENGINES = 64

Engine = TypeVar("Engine")
Own = TypeVar("Own", bound=Argmax)


class ByState(Generic[Engine]):
    """Asks the engine of the actions that are allowed in each state.

    Parameters
    ----------
    encoding
        Of the whole space.
    make
        Makes an engine for the actions of an encoding; the last ones are kept.
    """

    def __init__(self, encoding: ActionEncoding, make: Callable[[ActionEncoding], Engine]) -> None:
        self._encoding = encoding
        self._make = make
        self._engines: OrderedDict[bytes, Engine] = OrderedDict()

    @cached_property
    def _everywhere(self) -> Engine:
        return self._make(self._encoding)

    def at(self, limits: ActionLimits | None) -> Engine:
        """Return the engine for the limits of one state, as `limits_of` says them."""
        if limits is None:
            return self._everywhere
        key = limits.keys()[0]
        if key not in self._engines:
            self._engines[key] = self._make(self._encoding.within(limits))
        self._engines.move_to_end(key)
        if len(self._engines) > _MOST_ENGINES:
            self._engines.popitem(last=False)
        return self._engines[key]

    def best(
        self: "ByState[Own]", net: ReluNet, limits: ActionLimits | None = None
    ) -> ArgmaxResult:
        """Return the best action of each state within its limits."""
        if limits is None:
            return self._everywhere.best(net)
        results, place = [], np.empty(len(net), dtype=np.int64)
        done = 0
        for rows in _alike(limits):
            results.append(self.at(limits.only(rows[:1])).best(net.only(rows)))
            place[rows] = done + np.arange(len(rows))
            done += len(rows)
        return ArgmaxResult.joined(results).only(place)


def _alike(limits: ActionLimits) -> Iterator[IntArray]:
    """Yield states that allow the same."""
    rows: dict[bytes, list[int]] = {}
    for row, key in enumerate(limits.keys()):
        rows.setdefault(key, []).append(row)
    yield from map(np.array, rows.values())
