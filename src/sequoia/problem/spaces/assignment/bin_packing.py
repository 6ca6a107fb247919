"""Bin packing of items of a few sizes: maximal patterns of a bin, and which counts fit together.

Items of one size are alike, so a *pattern* says how many of each size lie in one bin, as in the
cutting-stock formulation of Gilmore and Gomory (1961). Only maximal patterns matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from operator import mul, sub

import numpy as np

from sequoia.problem.system import TOLERANCE, room
from sequoia.validation import BoolArray, FloatArray, IntArray

Pattern = tuple[int, ...]

# A program over patterns takes some 10 ms, as long as so many steps.
_MAX_STEPS = 500
_MAX_REMEMBERED = 1_000_000


class PackingTooHard(Exception):
    """The search gave up; a solver has to decide."""


def maximal_patterns(
    sizes: Sequence[float], counts: Sequence[int], capacity: float, cap: int
) -> list[Pattern] | None:
    """Return every load of one bin to which nothing can be added, as counts per size.

    Parameters
    ----------
    sizes
        The different item sizes, ascending.
    counts
        How many items of each size there are.
    cap
        Return ``None`` when there are more loads than this.
    """
    patterns: list[Pattern] = []

    def fill(index: int, left: float, pattern: Pattern) -> bool:
        if index < 0:
            full = pattern[::-1]
            if all(
                n == count or size > left
                for size, n, count in zip(sizes, full, counts, strict=True)
            ):
                patterns.append(full)
            return len(patterns) <= cap
        most = int(min(counts[index], left // sizes[index]))
        return all(
            fill(index - 1, left - n * sizes[index], (*pattern, n)) for n in range(most, -1, -1)
        )

    return patterns if fill(len(sizes) - 1, float(room(capacity)), ()) else None


class Packer:
    """Decides whether given counts of items fit into given bins, and how.

    Exact search, bin by bin from the largest: every choice is a maximal load cut down to what is
    left, fullest first. Dead ends are remembered from one question to the next.

    Parameters
    ----------
    loads
        The maximal loads of each bin.
    """

    def __init__(
        self, sizes: Sequence[float], capacities: Sequence[float], patterns: Sequence[list[Pattern]]
    ) -> None:
        self._sizes = sizes
        self._order = sorted(range(len(capacities)), key=lambda bin_: -capacities[bin_])
        self._capacities = [float(room(capacity)) for capacity in capacities]
        self._patterns = patterns
        self._room = [
            sum(self._capacities[bin_] for bin_ in self._order[rank:])
            for rank in range(len(capacities) + 1)
        ]
        self._rounding = TOLERANCE * self._room[0]
        self._dead: set[tuple[int, Pattern]] = set()
        self._steps = 0

    def pack(self, counts: Pattern) -> list[Pattern] | None:
        """Return a pattern for each bin that together carry ``counts``; ``None`` if there is none.

        Raises
        ------
        PackingTooHard
            When the search is not over after 500 steps.
        """
        if len(self._dead) > _MAX_REMEMBERED:
            self._dead.clear()
        self._steps = 0
        chosen: list[Pattern] = [tuple(0 for _ in counts)] * len(self._capacities)
        return chosen if self._place(0, tuple(counts), chosen) else None

    def _place(self, rank: int, left: Pattern, chosen: list[Pattern]) -> bool:
        if not any(left):
            return True
        weight = self._weigh(left)
        if weight > self._room[rank] + self._rounding or (rank, left) in self._dead:
            return False
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise PackingTooHard
        bin_ = self._order[rank]
        spare = self._room[rank] - weight
        cut = {tuple(map(min, pattern, left)) for pattern in self._patterns[bin_]}
        for pattern in sorted(cut, key=self._weigh, reverse=True):
            if self._capacities[bin_] - self._weigh(pattern) > spare + self._rounding:
                break
            if self._place(rank + 1, tuple(map(sub, left, pattern)), chosen):
                chosen[bin_] = pattern
                return True
        self._dead.add((rank, left))
        return False

    def _weigh(self, pattern: Pattern) -> float:
        return float(sum(map(mul, pattern, self._sizes)))


# A table of 2 MB; beyond it, the packing is searched for each question.
_MOST_CELLS = 2_000_000
_NOTHING = np.zeros(1)


@dataclass(frozen=True, eq=False)
class PackingTable:
    """The counts, so many items of each size, that fit into all bins together.

    Attributes
    ----------
    fits
        Whether each vector of counts fits, one axis per size.
    """

    fits: BoolArray

    @classmethod
    def of(cls, counts: Sequence[int], patterns: Sequence[list[Pattern]]) -> "PackingTable | None":
        """Return the table of given items and bins; ``None`` where it would be large.

        Parameters
        ----------
        counts
            How many items of each size there are.
        patterns
            The maximal patterns of each bin.
        """
        room = np.array(
            [np.max(patterns_of_bin, axis=0) for patterns_of_bin in patterns], dtype=np.int64
        )
        most = np.minimum(counts, room.reshape(len(patterns), len(counts)).sum(axis=0))
        shape = tuple((most + 1).tolist())
        if prod(shape) > _MOST_CELLS:
            return None
        table = cls(_closed(np.zeros((1, len(shape)), dtype=np.int64), shape))
        for patterns_of_bin in patterns:
            sums = table.maximal[:, None] + np.array(patterns_of_bin, dtype=np.int64)
            table = cls(_closed(np.minimum(sums, most).reshape(-1, len(shape)), shape))
        return table

    @cached_property
    def maximal(self) -> IntArray:
        """The counts to which nothing can be added, ``(M, sizes)``."""
        is_maximal = self.fits.copy()
        for axis in range(self.fits.ndim):
            shorter, next_one = _along(axis, slice(None, -1)), _along(axis, slice(1, None))
            is_maximal[shorter] &= ~self.fits[next_one]
        return np.argwhere(is_maximal)

    def contain(self, counts: IntArray) -> BoolArray:
        """Say which counts, ``(B, sizes)``, fit."""
        most = np.array(self.fits.shape) - 1
        result: BoolArray = self.fits[tuple(np.minimum(counts, most).T)]
        return result & (counts <= most).all(axis=1)

    def best(self, worth: Sequence[FloatArray]) -> IntArray:
        """Return the counts that are worth most, given what the first items of each size are worth.

        ``worth[g][n]`` is that of the first ``n + 1`` of size ``g``, never less than that of fewer.
        """
        total = np.zeros(len(self.maximal))
        for worths, taken in zip(worth, self._taken, strict=True):
            # No item is the last position, which holds nothing.
            total += np.concatenate([worths, _NOTHING])[taken - 1]
        best: IntArray = self.maximal[int(total.argmax())]
        return best

    @cached_property
    def _taken(self) -> IntArray:
        return np.ascontiguousarray(self.maximal.T)


def _along(axis: int, part: slice) -> tuple[slice, ...]:
    return (*(slice(None),) * axis, part)


def _closed(counts: IntArray, shape: tuple[int, ...]) -> BoolArray:
    """Return the table of some counts and all that lie below them."""
    fits = np.zeros(shape, dtype=np.bool_)
    fits[tuple(counts.T)] = True
    for axis in range(len(shape)):
        back = _along(axis, slice(None, None, -1))
        fits[back] = np.maximum.accumulate(fits[back], axis=axis)
    return fits
