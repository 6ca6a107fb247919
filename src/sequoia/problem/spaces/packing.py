"""Packing items of a few sizes into bins: which loads are maximal, and whether a lot fits."""

from collections.abc import Sequence
from operator import mul, sub

from sequoia.problem.system import TOLERANCE

Load = tuple[int, ...]

_MAX_STEPS = 50_000
_MAX_REMEMBERED = 1_000_000


class PackingTooHard(Exception):
    """The search gave up; a solver has to decide."""


def maximal_loads(
    sizes: Sequence[float], counts: Sequence[int], capacity: float, cap: int
) -> list[Load] | None:
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
    loads: list[Load] = []

    def fill(index: int, left: float, load: Load) -> bool:
        if index < 0:
            full = load[::-1]
            if all(
                n == count or size > left + TOLERANCE
                for size, n, count in zip(sizes, full, counts, strict=True)
            ):
                loads.append(full)
            return len(loads) <= cap
        most = min(counts[index], int((left + TOLERANCE) // sizes[index]))
        return all(
            fill(index - 1, left - n * sizes[index], (*load, n)) for n in range(most, -1, -1)
        )

    return loads if fill(len(sizes) - 1, capacity, ()) else None


class Packer:
    """Decides whether a lot of items fits into given bins, and how.

    Exact search, bin by bin from the largest: every choice is a maximal load cut down to what is
    left, fullest first. Dead ends are remembered from one lot to the next.

    Parameters
    ----------
    loads
        The maximal loads of each bin.
    """

    def __init__(
        self, sizes: Sequence[float], capacities: Sequence[float], loads: Sequence[list[Load]]
    ) -> None:
        self._sizes = sizes
        self._order = sorted(range(len(capacities)), key=lambda bin_: -capacities[bin_])
        self._capacities = capacities
        self._loads = loads
        self._room = [
            sum(capacities[bin_] for bin_ in self._order[rank:])
            for rank in range(len(capacities) + 1)
        ]
        self._dead: set[tuple[int, Load]] = set()
        self._steps = 0

    def pack(self, lot: Load) -> list[Load] | None:
        """Return a load for each bin that together carry ``lot``, or ``None`` if there is no way.

        Raises
        ------
        PackingTooHard
            When the search is not over after 50,000 steps.
        """
        if len(self._dead) > _MAX_REMEMBERED:
            self._dead.clear()
        self._steps = 0
        chosen: list[Load] = [tuple(0 for _ in lot)] * len(self._capacities)
        return chosen if self._place(0, tuple(lot), chosen) else None

    def _place(self, rank: int, left: Load, chosen: list[Load]) -> bool:
        if not any(left):
            return True
        weight = self._weigh(left)
        if weight > self._room[rank] + TOLERANCE or (rank, left) in self._dead:
            return False
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise PackingTooHard
        bin_ = self._order[rank]
        spare = self._room[rank] - weight
        cut = {tuple(map(min, load, left)) for load in self._loads[bin_]}
        for load in sorted(cut, key=self._weigh, reverse=True):
            if self._capacities[bin_] - self._weigh(load) > spare + TOLERANCE:
                break
            if self._place(rank + 1, tuple(map(sub, left, load)), chosen):
                chosen[bin_] = load
                return True
        self._dead.add((rank, left))
        return False

    def _weigh(self, load: Load) -> float:
        return float(sum(map(mul, load, self._sizes)))
