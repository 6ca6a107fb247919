"""Packing items into bins: whether, how, and which loads are maximal."""

from collections.abc import Sequence

from sequoia.problem.system import TOLERANCE

_MAX_STEPS = 20_000


class PackingTooHard(Exception):
    """The search gave up; a solver has to decide."""


def pack(sizes: Sequence[float], capacities: Sequence[float]) -> list[int] | None:
    """Return a bin for each item so that no bin overflows, or ``None`` if there is no such way.

    Exact depth-first search, large items first, equal remainders tried once, dead ends remembered.

    Raises
    ------
    PackingTooHard
        When the search is not over after 20,000 steps.
    """
    if sum(sizes) > sum(capacities) + TOLERANCE:
        return None
    order = sorted(range(len(sizes)), key=lambda item: -sizes[item])
    left = list(capacities)
    bins = [-1] * len(sizes)
    dead: set[tuple[int, tuple[float, ...]]] = set()
    steps = 0

    def place(rank: int) -> bool:
        nonlocal steps
        if rank == len(order):
            return True
        state = (rank, tuple(sorted(left)))
        if state in dead:
            return False
        steps += 1
        if steps > _MAX_STEPS:
            raise PackingTooHard
        item = order[rank]
        tried: set[float] = set()
        for index in sorted(range(len(left)), key=left.__getitem__):
            room = left[index]
            if room + TOLERANCE < sizes[item] or room in tried:
                continue
            tried.add(room)
            left[index] = room - sizes[item]
            bins[item] = index
            if place(rank + 1):
                return True
            left[index] = room
        dead.add(state)
        return False

    return bins if place(0) else None


def maximal_loads(
    sizes: Sequence[float], counts: Sequence[int], capacity: float, cap: int
) -> list[tuple[int, ...]] | None:
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
    loads: list[tuple[int, ...]] = []

    def fill(index: int, left: float, load: tuple[int, ...]) -> bool:
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
