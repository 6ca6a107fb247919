"""Where people are, as far as the roster says."""

from collections.abc import Iterable

from sequoia_programme.members import Member

# Columns that say a place: to the right, and up.
_COLUMNS = (("x", "y"), ("lon", "lat"), ("longitude", "latitude"))


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
