"""The roster: who is visited and who visits, since when, until when."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import sqlalchemy as sql

from sequoia.problem.tables import Table
from sequoia_programme.calendar import Calendar, UnreadableDate
from sequoia_programme.schema import ARM, absences, roster

# The group of arms whose sheet says none.
ONE_GROUP = "all"
_OWN = ("name", "group", "joined", "left")


@dataclass(frozen=True)
class Member:
    """Somebody on the roster.

    Attributes
    ----------
    group
        The arms of one group share one model; empty for a worker.
    joined, left
        The first date, and the first after the last; ``None`` where there is none.
    facts
        What else the sheet says, such as a cost, as text by the name of the column.
    away
        First and last dates of absences.
    """

    id: int
    name: str
    group: str
    joined: date | None
    left: date | None
    facts: Mapping[str, str]
    away: Sequence[tuple[date, date]] = ()

    def is_member(self, day: date) -> bool:
        """Whether they belong to the programme on a day."""
        return (self.joined is None or self.joined <= day) and (
            self.left is None or day < self.left
        )

    def is_away(self, day: date) -> bool:
        """Whether they are absent on a day."""
        return any(first <= day <= last for first, last in self.away)


@dataclass(frozen=True)
class Row:
    """A row of a sheet of the roster: a name, and what the sheet says of it."""

    name: str
    values: Mapping[str, Any]
    facts: Mapping[str, str]


def read_rows(sheet: Table, role: str, calendar: Calendar) -> list[Row]:
    """Read a sheet of the roster; what is wrong is noted in ``sheet.found``."""
    names = sheet.names("name")
    values: list[dict[str, Any]] = [{} for _ in names]
    for column in ("joined", "left"):
        if column in sheet.columns:
            is_end = column == "left"
            for row, day in enumerate(read_dates(sheet, column, calendar, True, is_end)):
                values[row][column] = day
    for row, one in enumerate(values):
        came, gone = one.get("joined"), one.get("left")
        if came and gone and gone <= came:
            sheet.found.append(
                f"{sheet.place(row)}: left on {gone} but joined on {came}; a later date is wanted."
            )
    if role == ARM and "group" in sheet.columns:
        for row, text in enumerate(sheet.strings("group")):
            values[row]["group"] = text or ONE_GROUP
    others = [name for name in sheet.columns if name not in _OWN and name]
    cells = {name: [_plain(cell, sheet) for cell in sheet.strings(name)] for name in others}
    return [
        Row(name, values[row], {column: cells[column][row] for column in others})
        for row, name in enumerate(names)
    ]


def read_dates(
    sheet: Table, column: str, calendar: Calendar, optional: bool = False, is_end: bool = False
) -> list[date | None]:
    """Read a column of dates; an empty cell is none, and wrong unless it is ``optional``.

    Parameters
    ----------
    is_end
        See `Calendar.read_date`.
    """
    dates: list[date | None] = []
    texts = sheet.strings(column)
    calendar = calendar.of_column(texts)
    for row, text in enumerate(texts):
        try:
            is_none = optional and not text
            dates.append(None if is_none else calendar.read_date(text, is_end=is_end))
        except UnreadableDate as error:
            dates.append(None)
            sheet.found.append(f"{sheet.place(row)}, column {column!r}: {error}.")
    return dates


def _plain(cell: str, sheet: Table) -> str:
    """Return a cell with a decimal point, where the sheet writes a comma."""
    is_number = sheet.has_decimal_commas and re.fullmatch(r"-?\d+,\d+", cell)
    return cell.replace(",", ".") if is_number else cell


def members(connection: sql.Connection, role: str) -> list[Member]:
    """Return everybody who is or was on the roster, in the order in which they came."""
    away: dict[int, list[tuple[date, date]]] = {}
    for one in connection.execute(sql.select(absences).order_by(absences.c.first)).mappings():
        away.setdefault(one["member"], []).append((one["first"], one["last"]))
    chosen = sql.select(roster).where(roster.c.role == role).order_by(roster.c.id)
    return [
        Member(
            id=one["id"],
            name=one["name"],
            group=one["group"],
            joined=one["joined"],
            left=one["left"],
            facts=one["facts"],
            away=tuple(away.get(one["id"], ())),
        )
        for one in connection.execute(chosen).mappings()
    ]


def put_rows(connection: sql.Connection, role: str, rows: Iterable[Row]) -> tuple[int, int]:
    """Add and change members; return how many are new and how many changed.

    What a sheet does not say stays as it was; nobody is removed.
    """
    known = {one.name: one for one in members(connection, role)}
    fresh, changed = [], 0
    for row in rows:
        old = known.get(row.name)
        before = {} if old is None else dict(old.facts)
        facts = {key: text for key, text in {**before, **row.facts}.items() if text}
        if old is None:
            usual = {"group": ONE_GROUP if role == ARM else "", "joined": None, "left": None}
            fresh.append({**usual, **row.values, "role": role, "name": row.name, "facts": facts})
            continue
        now = {**{key: getattr(old, key) for key in row.values}, **row.values}
        if facts != before or any(getattr(old, key) != value for key, value in now.items()):
            change = sql.update(roster).where(roster.c.id == old.id)
            connection.execute(change.values(**now, facts=facts))
            changed += 1
    if fresh:
        connection.execute(roster.insert(), fresh)
    return len(fresh), changed
