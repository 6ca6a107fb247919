"""Other names in all records of a programme."""

import sqlalchemy as sql

from sequoia.errors import ProblemError
from sequoia.problem.names import closest, composed, count, flaw_of
from sequoia_programme.drafts import rename_in_wishes
from sequoia_programme.members import members
from sequoia_programme.schema import ARM, WORKER, outcomes, roster, sightings, tasks, visits
from sequoia_programme.settings import Programme
from sequoia_programme.store import note

KINDS = ("name", "state", "dose", "group")


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
    for table, field in ((visits, "by"), (outcomes, "by"), (tasks, "by"), (tasks, "who")):
        changed += _set(connection, table, field, old, new)
    return changed + rename_in_wishes(connection, old, new)


def _set(connection: sql.Connection, table: sql.Table, field: str, old: str, new: str) -> int:
    column = table.c[field]
    return connection.execute(table.update().where(column == old).values({field: new})).rowcount


_CHANGES = {
    "name": _rename_member,
    "state": lambda connection, old, new: _set(connection, sightings, "state", old, new),
    "dose": lambda connection, old, new: _set(connection, visits, "dose", old, new),
    "group": lambda connection, old, new: _set(connection, roster, "group", old, new),
}
