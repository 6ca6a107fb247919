"""Changes of a programme that no sheet says: absences, and other names."""

from datetime import date

import sqlalchemy as sql

from sequoia.errors import ProblemError
from sequoia.problem.names import closest, composed, count, flaw_of
from sequoia.programme.entries import find_name
from sequoia.programme.members import Member, members
from sequoia.programme.schema import ARM, WORKER, absences, roster, sightings, tasks, visits
from sequoia.programme.settings import Programme
from sequoia.programme.store import note

KINDS = ("name", "state", "dose", "group")


def set_absent(programme: Programme, who: str, first: date, last: date) -> str:
    """Note that somebody is away from ``first`` to ``last``; return their name."""
    if last < first:
        raise ProblemError(f"the absence ends on {last}, before it begins on {first}.")
    with programme.store.open().writing() as connection:
        member = _find(connection, who)
        if (first, last) not in member.away:
            connection.execute(absences.insert().values(member=member.id, first=first, last=last))
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


def _find(connection: sql.Connection, who: str) -> Member:
    everyone = {one.name: one for role in (ARM, WORKER) for one in members(connection, role)}
    name = find_name(composed(who), list(everyone))
    if name is None:
        raise ProblemError(f"nobody is called {who!r}{closest(who, list(everyone))}.")
    return everyone[name]


def rename(programme: Programme, kind: str, old: str, new: str) -> str:
    """Give a person, a state, a dose or a group another name everywhere; say what changed.

    States and doses have their names in the settings as well: these are edited by hand.
    """
    old, new = composed(old).strip(), composed(new).strip()
    if flaw_of(new):
        raise ProblemError(f"the new name is {new!r}; {flaw_of(new)}.")
    with programme.store.open().writing() as connection:
        changed = _CHANGES[kind](connection, old, new)
        if not changed:
            raise ProblemError(f"no {kind} {old!r} is there to rename.")
        note(connection, f"Renamed the {kind} {old!r} to {new!r}: {count(changed, 'row')}.")
    return f"{count(changed, 'row')} changed"


def _rename_member(connection: sql.Connection, old: str, new: str) -> int:
    everyone = {one.name: one for role in (ARM, WORKER) for one in members(connection, role)}
    if new in everyone:
        raise ProblemError(f"{new!r} is there already; names must differ.")
    if old not in everyone:
        raise ProblemError(f"nobody is called {old!r}{closest(old, list(everyone))}.")
    changed = _set(connection, roster, "name", old, new)
    for table, field in ((visits, "by"), (tasks, "by"), (tasks, "who")):
        changed += _set(connection, table, field, old, new)
    return changed


def _set(connection: sql.Connection, table: sql.Table, field: str, old: str, new: str) -> int:
    column = table.c[field]
    return connection.execute(table.update().where(column == old).values({field: new})).rowcount


_CHANGES = {
    "name": _rename_member,
    "state": lambda connection, old, new: _set(connection, sightings, "state", old, new),
    "dose": lambda connection, old, new: _set(connection, visits, "dose", old, new),
    "group": lambda connection, old, new: _set(connection, roster, "group", old, new),
}
