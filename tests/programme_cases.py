"""A small programme, for tests."""

from datetime import date
from pathlib import Path

import sqlalchemy as sql

from sequoia_programme.creating import Beginning, create
from sequoia_programme.importing import import_sheets
from sequoia_programme.schema import ARM, WORKER, metadata
from sequoia_programme.settings import Programme

MONDAY = date(2026, 11, 2)
STATES = {"good": 1.0, "at risk": 0.4, "lapsed": 0.0}

ROSTER = """name,group,cost,area
Ada,young,20,north
Grace,old,30,south
Zoë,old,30,north
"""
STAFF = """name,capacity
Nurse Anna,60
Nurse Bo,30
"""
LOG = """date,who,state,by
2026-11-02,Ada,good,Nurse Anna
2026-11-02,Grace,at risk,Nurse Bo
2026-11-03,Zoë,1.0,
"""


def begin(folder: Path, **more: object) -> Programme:
    """Begin a programme without anybody."""
    usual = {"days": ("Mon", "Tue", "Wed", "Thu", "Fri"), "states": STATES, "start": MONDAY}
    return create(folder / "clinic", Beginning(name="clinic", **{**usual, **more}))


def sheet(folder: Path, name: str, text: str) -> Path:
    """Write a sheet."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def fill(
    programme: Programme, folder: Path, roster: str = ROSTER, staff: str = STAFF, log: str = LOG
) -> None:
    """Import a roster, a staff and a log."""
    import_sheets(
        programme,
        {ARM: sheet(folder, "roster.csv", roster), WORKER: sheet(folder, "staff.csv", staff)},
        sheet(folder, "log.csv", log) if log else None,
    )


def content(programme: Programme) -> dict[str, list[tuple[object, ...]]]:
    """Return everything in the database but when it was written."""
    with programme.store.reading() as connection:
        return {
            table.name: [
                tuple(row)
                for row in connection.execute(
                    sql.select(*(c for c in table.c if c.name != "at")).order_by(*table.primary_key)
                )
            ]
            for table in metadata.sorted_tables
        }


TRANSITIONS = """dose,state,good,at risk,lapsed
none,good,0.7,0.2,0.1
none,at risk,0.1,0.6,0.3
none,lapsed,0,0.1,0.9
visit,good,0.9,0.1,0
visit,at risk,0.6,0.3,0.1
visit,lapsed,0.2,0.4,0.4
"""


def known(folder: Path, **more: object) -> Programme:
    """Begin a programme whose transitions are known, with three patients and two nurses."""
    programme = begin(folder, **more)
    fill(programme, folder)
    sheet(programme.folder, "transitions.csv", TRANSITIONS)
    return programme
