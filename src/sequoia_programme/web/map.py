"""The map of a day: who is visited where, in which order, north at the top, to scale."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sequoia_programme.members import Member
from sequoia_programme.places import on_a_plane
from sequoia_programme.plans import PlannedTask

# The width of a map, and how far its points stay from its edge.
WIDTH, _MARGIN = 1000.0, 60.0
# More people than this who are not visited are drawn as circles of several.
_MOST_DOTS = 300
# Squares along each side, for circles of several.
_SQUARES = 20


@dataclass(frozen=True)
class Spot:
    """A point of a map.

    Attributes
    ----------
    x, y
        To the right and down, from 0 to `WIDTH`.
    worker, order
        Who goes there, and as which of their visits; empty and 0 where nobody does.
    people
        How many it stands for.
    """

    name: str
    x: float
    y: float
    worker: str = ""
    order: int = 0
    people: int = 1


@dataclass(frozen=True)
class Map:
    """A map to be drawn.

    Attributes
    ----------
    spots
        Those who are visited come last, on top.
    routes
        The way of each worker from visit to visit, as the points of a line, by name.
    scale, unit
        How long the bar of the scale is on the ground, and in what: ``"km"``, or nothing where the
        roster's places have no unit.
    bar
        How long it is on the map.
    """

    spots: Sequence[Spot]
    routes: Mapping[str, str]
    scale: float
    unit: str
    bar: float


def draw_map(people: Iterable[Member], tasks: Sequence[PlannedTask]) -> Map | None:
    """Return a map of people and visits; ``None`` where no place is known."""
    places, unit = on_a_plane(people)
    if not places:
        return None
    left, bottom = (min(place[axis] for place in places.values()) for axis in (0, 1))
    right, top = (max(place[axis] for place in places.values()) for axis in (0, 1))
    scale = (WIDTH - 2 * _MARGIN) / (max(right - left, top - bottom) or 1.0)
    shown = {
        name: (_MARGIN + scale * (x - left), _MARGIN + scale * (top - y))
        for name, (x, y) in places.items()
    }
    order: Counter[str] = Counter()
    visited, routes = [], dict[str, list[str]]()
    for task in tasks:
        order[task.by] += 1
        if task.who in shown:
            x, y = shown[task.who]
            visited.append(Spot(task.who, x, y, task.by, order[task.by]))
            routes.setdefault(task.by, []).append(f"{x:.1f},{y:.1f}")
    planned = {spot.name for spot in visited}
    others = [Spot(name, x, y) for name, (x, y) in shown.items() if name not in planned]
    length = _round(WIDTH / 4 / scale)
    return Map(
        [*(others if len(others) <= _MOST_DOTS else _gathered(others)), *visited],
        {worker: " ".join(points) for worker, points in routes.items()},
        length,
        unit,
        length * scale,
    )


def _gathered(spots: Sequence[Spot]) -> list[Spot]:
    """Return a circle for all who are in the same square, in their middle."""
    squares: dict[tuple[int, int], list[Spot]] = {}
    for spot in spots:
        side = WIDTH / _SQUARES
        squares.setdefault((int(spot.x // side), int(spot.y // side)), []).append(spot)
    return [
        Spot(
            spots[0].name if len(spots) == 1 else "",
            sum(spot.x for spot in spots) / len(spots),
            sum(spot.y for spot in spots) / len(spots),
            people=len(spots),
        )
        for spots in squares.values()
    ]


def _round(length: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is no longer."""
    power = 10.0 ** math.floor(math.log10(length))
    return max(times * power for times in (1, 2, 5) if times * power <= length * (1 + 1e-9))
