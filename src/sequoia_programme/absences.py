"""Who is away, from when to when: said for one, or as a sheet."""

from collections.abc import Sequence
from datetime import date

import sqlalchemy as sql

from sequoia.errors import ProblemError
from sequoia.problem.names import closest, composed, unknown
from sequoia.problem.tables import Table
from sequoia_programme.calendar import Calendar
from sequoia_programme.entries import find_name
from sequoia_programme.members import Member, members, read_dates
from sequoia_programme.schema import ARM, WORKER, absences
from sequoia_programme.settings import Programme
from sequoia_programme.store import note

# The columns of a sheet; an empty last day is the first.
HEADS = ("name", "first", "last")

Away = tuple[Member, date, date]


def set_absent(programme: Programme, who: str, first: date, last: date) -> str:
    """Note that somebody is away from ``first`` to ``last``; return their name."""
    if last < first:
        raise ProblemError(f"the absence ends on {last}, before it begins on {first}.")
    with programme.store.open().writing() as connection:
        member = _find(connection, who)
        if put_absences(connection, [(member, first, last)]):
            note(connection, f"{member.name} is absent from {first} to {last}.")
    return member.name


def set_back(programme: Programme, who: str, day: date) -> str:
    """Note that somebody is back on ``day``: absences that reach it end the day before."""
    with programme.store.open().writing() as connection:
        member = _find(connection, who)
        own = absences.c.member == member.id
        connection.execute(absences.delete().where(own, absences.c.first >= day))
        before = date.fromordinal(day.toordinal() - 1)
        ends = absences.update().where(own, absences.c.last >= day).values(last=before)
        connection.execute(ends)
        note(connection, f"{member.name} is back on {day}.")
    return member.name


def read_absences(sheet: Table, people: Sequence[Member], calendar: Calendar) -> list[Away]:
    """Read a sheet of absences; what is wrong is noted in ``sheet.found``."""
    known = {one.name: one for one in people}
    first = read_dates(sheet, "first", calendar)
    last = first
    if "last" in sheet.columns:
        last = read_dates(sheet, "last", calendar, optional=True, is_end=True)
    found = []
    for row, text in enumerate(sheet.strings("name")):
        name = find_name(text, list(known))
        begins, ends = first[row], last[row] or first[row]
        if name is None:
            sheet.found.append(unknown(f"{sheet.place(row)}, column 'name'", list(known), text))
        elif begins is not None and ends is not None:
            if ends < begins:
                sheet.found.append(
                    f"{sheet.place(row)}: ends on {ends}, before it begins on {begins}."
                )
            found.append((known[name], begins, ends))
    return found


def put_absences(connection: sql.Connection, away: Sequence[Away]) -> int:
    """Add absences that are not there yet; return how many are new."""
    new = {
        (member.id, first, last) for member, first, last in away if (first, last) not in member.away
    }
    if new:
        rows = [{"member": one, "first": first, "last": last} for one, first, last in sorted(new)]
        connection.execute(absences.insert(), rows)
    return len(new)


def _find(connection: sql.Connection, who: str) -> Member:
    everyone = {one.name: one for role in (ARM, WORKER) for one in members(connection, role)}
    name = find_name(composed(who), list(everyone))
    if name is None:
        raise ProblemError(f"nobody is called {who!r}{closest(who, list(everyone))}.")
    return everyone[name]
