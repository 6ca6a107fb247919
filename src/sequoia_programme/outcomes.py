"""What can come of a visit besides a state that is seen, and who comes, goes or dies."""

from datetime import date, timedelta

import sqlalchemy as sql

from sequoia_programme.members import Member
from sequoia_programme.schema import roster, sightings, visits

NOT_HOME, REFUSED, NOT_FOUND = "not at home", "refused", "not found"
CANCELLED = "cancelled"
MOVED, DIED, LEFT, ENTERED = "moved away", "died", "left", "entered"
# Somebody went there, and the visit had no effect: it is no dose, and no state was seen.
ATTEMPTS = (NOT_HOME, REFUSED, NOT_FOUND)
# The end of what is known of somebody, who is not in the programme from that date on. The fit takes
# it for the end of the observation, and for no state.
ENDS = (MOVED, DIED, LEFT)
KINDS = (*ATTEMPTS, CANCELLED, *ENDS, ENTERED)


def move_member(connection: sql.Connection, arm: Member, kind: str, day: date) -> str:
    """Let somebody come or go, as an outcome says; return what contradicts that, or nothing."""
    if kind == ENTERED:
        came = day if arm.joined is None or arm.joined > day else arm.joined
        # Whoever comes again was there all the time, as far as a roster can say.
        gone = arm.left if arm.left is not None and arm.left > day else None
        _set(connection, arm, joined=came, left=gone)
    if kind not in ENDS:
        return ""
    last = _last_record(connection, arm)
    if last is not None and last > day:
        return f"{arm.name} {kind} on {day}, but is in the log of {last}"
    # A record of the same date stays: the first date without them is then the next.
    _set(connection, arm, left=day + timedelta(days=1) if last == day else day)
    return ""


def _last_record(connection: sql.Connection, arm: Member) -> date | None:
    dates = []
    for table in (sightings, visits):
        last = sql.select(sql.func.max(table.c.date)).where(table.c.arm == arm.id)
        dates.append(connection.execute(last).scalar_one_or_none())
    return max((day for day in dates if day is not None), default=None)


def _set(connection: sql.Connection, arm: Member, **values: date | None) -> None:
    connection.execute(roster.update().where(roster.c.id == arm.id).values(**values))
