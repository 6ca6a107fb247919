"""Import sheets of the roster, the staff and the log: all of them, or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import sqlalchemy as sql

from sequoia.problem.names import count
from sequoia.problem.spreadsheet import read_spreadsheet
from sequoia.problem.tables import Table, TableSet
from sequoia_programme.absences import HEADS as ABSENCE_HEADS
from sequoia_programme.absences import Away, put_absences, read_absences
from sequoia_programme.columns import Columns
from sequoia_programme.entries import HEADS as LOG_HEADS
from sequoia_programme.entries import Entry, put_entries
from sequoia_programme.log_sheet import in_words, read_log, remarks_on
from sequoia_programme.members import Row, members, put_rows, read_rows
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.settings import Programme
from sequoia_programme.space import TABLES, as_table, check_sheets, heads
from sequoia_programme.store import note

_WORDS = {ARM: "roster", WORKER: "staff"}


@dataclass(frozen=True)
class Imported:
    """What an import did, a line for each sheet, and what is worth a look."""

    lines: Sequence[str]
    remarks: Sequence[str]


def import_sheets(
    programme: Programme,
    sheets: Mapping[str, Path],
    log: Path | None = None,
    *,
    away: Path | None = None,
    correct: bool = False,
    today: date | None = None,
) -> Imported:
    """Import sheets in one transaction.

    Parameters
    ----------
    sheets
        The sheets of arms and of workers, by role.
    away
        A sheet of absences.
    correct
        Whether what the log says replaces what is known.
    today
        Entries after it are worth a remark.

    Raises
    ------
    FileError
        One line for each thing that is wrong in any of them; then nothing is imported.
    """
    content = TableSet(programme.space)
    tables: dict[str, Table] = {}
    for role, path in sheets.items():
        found = _read(content, path, _WORDS[role], heads(programme, role))
        if found is not None:
            tables[role] = found
    logged = _read(content, log, "log", LOG_HEADS)
    absent = _read(content, away, "absences", ABSENCE_HEADS)
    lines: list[str] = []
    entries: list[Entry] = []
    gone: list[Away] = []
    with programme.store.open().writing() as connection:
        lines += _import_members(programme, connection, tables, content)
        if logged is not None:
            entries = read_log(programme, connection, logged, content)
        if absent is not None:
            everyone = [one for role in TABLES for one in members(connection, role)]
            sheet = absent
            gone = content.attempt(lambda: read_absences(sheet, everyone, programme.calendar)) or []
        content.settle()
        if logged is not None:
            noted = put_entries(connection, members(connection, ARM), entries, correct)
            lines.append(f"{logged.where}: {in_words(noted)}.")
        if absent is not None:
            new = put_absences(connection, gone)
            lines.append(f"{absent.where}: {count(new, 'new absence')}.")
        for line in lines:
            note(connection, f"Imported {line}")
    return Imported(lines, remarks_on(entries, today))


def _read(content: TableSet, path: Path | None, name: str, heads: Sequence[str]) -> Table | None:
    """Return a sheet, if one is given, that notes what is wrong with the others."""
    if path is None:
        return None
    found = content.attempt(lambda: read_spreadsheet(path, name, heads))
    return None if found is None else found.noting_in(content.found)


def _import_members(
    programme: Programme, connection: sql.Connection, tables: Mapping[str, Table], content: TableSet
) -> list[str]:
    """Write the roster; return a line for each sheet."""
    lines = []
    for role, table in tables.items():
        rows = content.attempt(lambda t=table, r=role: read_rows(t, r, programme.calendar)) or []  # type: ignore[misc]
        # A name that stands twice is noted; the first row stands in, so that the log can be read.
        first: dict[str, Row] = {}
        for row in rows:
            first.setdefault(row.name, row)
        new, changed = put_rows(connection, role, first.values())
        parts = [f"{new} new", f"{changed} changed", f"{len(rows) - new - changed} as before"]
        lines.append(f"{table.where}: {', '.join(p for p in parts if not p.startswith('0 '))}.")
    check_members(programme, connection, tables, content)
    return lines


def check_members(
    programme: Programme, connection: sql.Connection, tables: Mapping[str, Table], content: TableSet
) -> None:
    """Note what the space needs and the sheets do not have."""
    everything = dict(tables)
    for role in TABLES:
        there = members(connection, role)
        if role == ARM:
            there = Columns([one.name for one in there], programme.doses).rows(there)
        if there and (role not in tables or (role == ARM and len(programme.doses) > 1)):
            where = tables[role].where if role in tables else f"the {_WORDS[role]}"
            everything[role] = as_table(there, where)
    found = check_sheets(programme, {TABLES[role]: t for role, t in everything.items()})
    # What is missing altogether may still be imported.
    own = tuple(table.where for table in tables.values())
    new = [line for line in found if own and line.startswith(own) and line not in content.found]
    content.found.extend(new)
