"""Pictures that a page draws itself, as SVG."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sequoia.programme.plans import PlannedTask

# The width of a map, and how far its points stay from its edge.
WIDTH, _MARGIN = 1000.0, 40.0


@dataclass(frozen=True)
class Spot:
    """A point of a map.

    Attributes
    ----------
    x, y
        To the right and down, from 0 to `WIDTH`.
    worker, order
        Who goes there, and as which of their visits; empty and 0 where nobody does.
    colour
        The number of the worker.
    """

    name: str
    x: float
    y: float
    worker: str = ""
    order: int = 0
    colour: int = 0


def spots(
    places: Mapping[str, tuple[float, float]],
    duties: Sequence[tuple[str, Sequence[PlannedTask]]],
) -> list[Spot]:
    """Return everybody whose place is known; those who are visited come last, on top."""
    if not places:
        return []
    left, bottom = (min(place[axis] for place in places.values()) for axis in (0, 1))
    right, top = (max(place[axis] for place in places.values()) for axis in (0, 1))
    scale = (WIDTH - 2 * _MARGIN) / (max(right - left, top - bottom) or 1.0)
    planned = {
        task.who: (worker, order, colour)
        for colour, (worker, tasks) in enumerate(duties)
        for order, task in enumerate(tasks, start=1)
    }
    found = []
    for name, (x, y) in places.items():
        right_of, below = _MARGIN + scale * (x - left), _MARGIN + scale * (top - y)
        worker, order, colour = planned.get(name, ("", 0, 0))
        found.append(Spot(name, right_of, below, worker, order, colour))
    return sorted(found, key=lambda spot: spot.order > 0)
