"""Times of day, such as 09:06: minutes since midnight, said and read."""

import re

DAY = 24 * 60
_TIME = re.compile(r"(\d{1,4})[:.h]([0-5]\d)")


def clock_time(minute: int) -> str:
    """Return a minute since midnight as a time of day; after midnight, with the days gone by."""
    days, left = divmod(int(minute), DAY)
    return f"{left // 60:02d}:{left % 60:02d}" + (f" +{days} d" if days else "")


def written_time(minute: int) -> str:
    """Return a minute since midnight as files have it: 01:30 of the next day is 25:30."""
    return f"{minute // 60:02d}:{minute % 60:02d}"


def minute_of(text: str) -> int | None:
    """Return the minute since midnight of a time such as ``9:06``; ``None`` if it is none."""
    found = _TIME.fullmatch(text.strip())
    return None if found is None else 60 * int(found[1]) + int(found[2])
