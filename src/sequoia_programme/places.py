"""Where people are, as far as the roster says."""

import math
from collections.abc import Iterable

from sequoia_programme.members import Member

# Columns that say a place: to the right, and up.
_COLUMNS = (("x", "y"), ("lon", "lat"), ("longitude", "latitude"))
# A degree of latitude.
_KILOMETRES = 111.2


def places_of(people: Iterable[Member]) -> dict[str, tuple[float, float]]:
    """Return the places of those who have one, by name: to the right, and up."""
    found = {}
    for one in people:
        facts = {key.casefold(): text for key, text in one.facts.items()}
        for right, up in _COLUMNS:
            try:
                found[one.name] = float(facts[right]), float(facts[up])
            except (KeyError, ValueError):
                continue
    return found


def on_a_plane(people: Iterable[Member]) -> tuple[dict[str, tuple[float, float]], str]:
    """Return places to the right and up in one unit, and that unit.

    Degrees become kilometres: a degree of longitude is shorter the farther it is from the equator
    (the equirectangular projection about the mean latitude). Where somebody's place is not in
    degrees, places stay as they are, in no unit.
    """
    people = list(people)
    places = places_of(people)
    known = [one for one in people if one.name in places]
    if not places or any(in_degrees(one) is None for one in known):
        return places, ""
    middle = math.radians(sum(up for _, up in places.values()) / len(places))
    return {
        name: (right * _KILOMETRES * math.cos(middle), up * _KILOMETRES)
        for name, (right, up) in places.items()
    }, "km"


def in_degrees(one: Member) -> tuple[float, float] | None:
    """Return where somebody is as longitude and latitude; ``None`` where nobody said so."""
    keys = {key.casefold() for key in one.facts}
    if keys >= set(_COLUMNS[0]):
        return None
    return places_of([one]).get(one.name)
