"""Import sheets of the roster, the staff and the log: all of them, or nothing."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import sqlalchemy as sql

from sequoia.errors import FileError
from sequoia.problem.names import count
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
from sequoia_programme.sources import read_source, renamed
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
    names: Mapping[str, Mapping[str, str]] | None = None,
    without: Mapping[str, Collection[int]] | None = None,
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
    names
        What the columns of a sheet are, where they are called otherwise: by role, ``"log"`` or
        ``"absences"``.
    without
        Rows that are left out, by the same.

    Raises
    ------
    FileError
        One line for each thing that is wrong in any of them; then nothing is imported.
    """
    content = TableSet(programme.space)
    reader = _Reader(content, names or {}, without or {})
    tables: dict[str, Table] = {}
    for role, path in sheets.items():
        found = reader.read(path, role, _WORDS[role], heads(programme, role))
        if found is not None:
            tables[role] = found
    logged = reader.read(log, "log", "log", LOG_HEADS)
    absent = reader.read(away, "absences", "absences", ABSENCE_HEADS)
    lines: dict[str, bool] = {}
    entries: list[Entry] = []
    gone: list[Away] = []
    with programme.store.open().writing() as connection:
        lines |= _import_members(programme, connection, tables, content)
        if logged is not None:
            entries = read_log(programme, connection, logged, content)
        if absent is not None:
            everyone = [one for role in TABLES for one in members(connection, role)]
            sheet = absent
            gone = content.attempt(lambda: read_absences(sheet, everyone, programme.calendar)) or []
        content.settle()
        if logged is not None:
            noted = put_entries(connection, members(connection, ARM), entries, correct)
            is_new = bool(noted.seen or noted.visited or noted.others or noted.corrected)
            lines[f"{logged.where}: {in_words(noted)}."] = is_new
        if absent is not None:
            new = put_absences(connection, gone)
            lines[f"{absent.where}: {count(new, 'new absence')}."] = bool(new)
        for line, is_new in lines.items():
            if is_new:
                note(connection, f"Imported {line}")
    return Imported(list(lines), remarks_on(entries, today))


@dataclass(frozen=True)
class _Reader:
    """Reads sheets that note what is wrong with any of them."""

    content: TableSet
    names: Mapping[str, Mapping[str, str]]
    without: Mapping[str, Collection[int]]

    def read(self, path: Path | None, kind: str, name: str, heads: Sequence[str]) -> Table | None:
        """Return a sheet, if one is given and can be read."""
        if path is None:
            return None
        found = self.content.attempt(
            lambda: renamed(read_source(path, name, heads), self.names.get(kind, {}))
        )
        if found is None:
            return None
        left_out = set(self.without.get(kind, ()))
        kept = [row for row, number in enumerate(found.rows) if number not in left_out]
        return found.only(kept).noting_in(self.content.found)


def import_clean(
    programme: Programme, kind: str, path: Path, **options: Any
) -> tuple[Imported, dict[int, list[str]]]:
    """Import the rows of one sheet that nothing is wrong with; return what is wrong with others.

    The rest goes by the numbers of rows. ``options`` are those of `import_sheets`.

    Raises
    ------
    FileError
        Where something is wrong that is not about a row.
    """
    place = {"log": {"log": path}, "absences": {"away": path}}.get(kind, {"sheets": {kind: path}})
    wrong: dict[int, list[str]] = {}
    while True:
        try:
            done = import_sheets(
                programme, **{"sheets": {}, **place, **options, "without": {kind: wrong}}
            )
        except FileError as error:
            more = {line: _row_of(line, path) for line in error.args}
            if None in more.values():
                raise FileError(*(line for line, row in more.items() if row is None)) from None
            for line, row in more.items():
                assert row is not None
                wrong.setdefault(row, []).append(line)
        else:
            return done, wrong


def _row_of(line: str, path: Path) -> int | None:
    found = re.match(rf"{re.escape(str(path))} row (\d+)\b", line)
    return None if found is None else int(found[1])


def _import_members(
    programme: Programme, connection: sql.Connection, tables: Mapping[str, Table], content: TableSet
) -> dict[str, bool]:
    """Write the roster; return a line for each sheet, and whether it says anything new."""
    lines = {}
    for role, table in tables.items():
        rows = content.attempt(lambda t=table, r=role: read_rows(t, r, programme.calendar)) or []  # type: ignore[misc]
        # A name that stands twice is noted; the first row stands in, so that the log can be read.
        first: dict[str, Row] = {}
        for row in rows:
            first.setdefault(row.name, row)
        new, changed = put_rows(connection, role, first.values())
        parts = [f"{new} new", f"{changed} changed", f"{len(rows) - new - changed} as before"]
        words = ", ".join(part for part in parts if not part.startswith("0 "))
        lines[f"{table.where}: {words}."] = bool(new or changed)
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
