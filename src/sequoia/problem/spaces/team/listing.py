"""All routes that are worth at least so much."""

import numpy as np

from sequoia.problem.spaces.team.routes import Map
from sequoia.validation import FloatArray


def routes_worth(
    own: Map, walker: int, best: FloatArray, least: float, worth: FloatArray, most: int
) -> list[list[int]] | None:
    """Return every route of a walker worth ``least`` or more; ``None`` where they are too many.

    Routes grow from their end; the best path to their first stop bounds what is still to come.
    Of routes with the same stops and the same first one, only the one that may be there last
    matters.

    Parameters
    ----------
    best
        What no path to an arm in at most so many minutes is worth more than, ``(T, J)``.
    most
        Parts of routes that are looked at, at most.
    """
    first, latest = own.first[walker].tolist(), own.latest[walker].tolist()
    between, gains = own.between.tolist(), worth.tolist()
    arms = np.flatnonzero(own.is_in_reach[walker]).tolist()
    level = {
        (arm, 1 << arm): (latest[arm], gains[arm], [arm])
        for arm in arms
        if best[latest[arm], arm] >= least
    }
    found: dict[int, tuple[int, list[int]]] = {}
    labels = 0
    while level:
        labels += len(level)
        following: dict[tuple[int, int], tuple[int, float, list[int]]] = {}
        for (arm, mask), (until, value, route) in level.items():
            if labels + len(following) > most:
                return None
            room = until - first[arm]
            if value >= least and room > found.get(mask, (-1, []))[0]:
                found[mask] = room, route
            for other in arms:
                if mask >> other & 1:
                    continue
                then = min(until - between[other][arm], latest[other])
                if then < first[other] or value + best[then, other] < least:
                    continue
                key = (other, mask | 1 << other)
                if key not in following or then > following[key][0]:
                    following[key] = then, value + gains[other], [other, *route]
        level = following
    return [route for _, route in found.values()]
