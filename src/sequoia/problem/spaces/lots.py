"""Which lots fit into all bins together: a table of all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from sequoia.arrays import BoolArray, FloatArray, IntArray
from sequoia.problem.spaces.packing import Load

_MOST_CELLS = 2_000_000
_NOTHING = np.zeros(1)


@dataclass(frozen=True, eq=False)
class Lots:
    """Lots are so many items of each size.

    Attributes
    ----------
    fits
        Whether each lot fits, one axis per size.
    """

    fits: BoolArray

    @classmethod
    def of(cls, counts: Sequence[int], loads: Sequence[list[Load]]) -> "Lots | None":
        """Return the lots of given items and bins; ``None`` where the table would be large.

        Parameters
        ----------
        counts
            How many items of each size there are.
        loads
            The maximal loads of each bin.
        """
        room = np.array([np.max(own, axis=0) for own in loads], dtype=np.int64)
        most = np.minimum(counts, room.reshape(len(loads), len(counts)).sum(axis=0))
        shape = tuple((most + 1).tolist())
        if prod(shape) > _MOST_CELLS:
            return None
        lots = cls(_closed(np.zeros((1, len(shape)), dtype=np.int64), shape))
        for own in loads:
            sums = lots.maximal[:, None] + np.array(own, dtype=np.int64)
            lots = cls(_closed(np.minimum(sums, most).reshape(-1, len(shape)), shape))
        return lots

    @cached_property
    def maximal(self) -> IntArray:
        """The lots to which nothing can be added, ``(M, sizes)``."""
        is_maximal = self.fits.copy()
        for axis in range(self.fits.ndim):
            shorter, next_one = _along(axis, slice(None, -1)), _along(axis, slice(1, None))
            is_maximal[shorter] &= ~self.fits[next_one]
        return np.argwhere(is_maximal)

    def contain(self, lots: IntArray) -> BoolArray:
        """Say which lots, ``(B, sizes)``, fit."""
        most = np.array(self.fits.shape) - 1
        result: BoolArray = self.fits[tuple(np.minimum(lots, most).T)]
        return result & (lots <= most).all(axis=1)

    def best(self, worth: Sequence[FloatArray]) -> IntArray:
        """Return the lot that is worth most, given what the first items of each size are worth.

        ``worth[g][n]`` is that of the first ``n + 1`` of size ``g``, never less than that of fewer.
        """
        total = np.zeros(len(self.maximal))
        for own, taken in zip(worth, self._taken, strict=True):
            # No item is the last position, which holds nothing.
            total += np.concatenate([own, _NOTHING])[taken - 1]
        best: IntArray = self.maximal[int(total.argmax())]
        return best

    @cached_property
    def _taken(self) -> IntArray:
        return np.ascontiguousarray(self.maximal.T)


def _along(axis: int, part: slice) -> tuple[slice, ...]:
    return (*(slice(None),) * axis, part)


def _closed(lots: IntArray, shape: tuple[int, ...]) -> BoolArray:
    """Return the table of some lots and all that lie in them."""
    fits = np.zeros(shape, dtype=np.bool_)
    fits[tuple(lots.T)] = True
    for axis in range(len(shape)):
        back = _along(axis, slice(None, None, -1))
        fits[back] = np.maximum.accumulate(fits[back], axis=axis)
    return fits
