"""All routes that are worth at least so much."""

import numpy as np

from sequoia.problem.spaces.team.routes import Map
from sequoia.validation import FloatArray


def routes_worth(
    own: Map, walker: int, best: FloatArray, least: float, worth: FloatArray, most: int
) -> list[list[int]] | None:
    """Return every route of a walker worth ``least`` or more; ``None`` where they are too many.

    Routes grow from their end; the best path to their first stop bounds what is still to come.
    Of routes with the same stops and the same first one, only the shortest matters.

    Parameters
    ----------
    best
        What no path to an arm in at most so many minutes is worth more than, ``(T, J)``.
    most
        Parts of routes that are looked at, at most.
    """
    limit = int(own.limits[walker])
    out, home = own.out[walker].tolist(), own.home[walker].tolist()
    between, gains = own.between.tolist(), worth.tolist()
    arms = np.flatnonzero(own.is_in_reach[walker]).tolist()
    level = {
        (arm, 1 << arm): (home[arm], gains[arm], [arm])
        for arm in arms
        if best[limit - home[arm], arm] >= least
    }
    found: dict[int, tuple[int, list[int]]] = {}
    labels = 0
    while level:
        labels += len(level)
        if labels > most:
            return None
        following: dict[tuple[int, int], tuple[int, float, list[int]]] = {}
        for (arm, mask), (minutes, value, route) in level.items():
            if value >= least and minutes + out[arm] < found.get(mask, (limit + 1, []))[0]:
                found[mask] = minutes + out[arm], route
            for other in arms:
                if mask >> other & 1:
                    continue
                then = minutes + between[other][arm]
                if then + out[other] > limit or value + best[limit - then, other] < least:
                    continue
                key = (other, mask | 1 << other)
                if key not in following or then < following[key][0]:
                    following[key] = then, value + gains[other], [other, *route]
        level = following
    return [route for _, route in found.values()]
