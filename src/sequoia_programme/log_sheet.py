"""A sheet of the log: read for those on the roster, and what came of it in words."""

from collections.abc import Sequence
from datetime import date

import sqlalchemy as sql

from sequoia.problem.names import count, say
from sequoia.problem.tables import Table, TableSet
from sequoia_programme.entries import Entry, Noted, read_entries
from sequoia_programme.members import members
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.settings import Programme


def read_log(
    programme: Programme,
    connection: sql.Connection,
    sheet: Table,
    content: TableSet,
    day: date | None = None,
) -> list[Entry]:
    """Read a sheet of the log about those on the roster."""
    arms, workers = ([one.name for one in members(connection, role)] for role in (ARM, WORKER))
    sheet = sheet.noting_in(content.found)
    found = content.attempt(lambda: read_entries(sheet, programme, arms, workers, day))
    return found or []


def in_words(noted: Noted) -> str:
    """Say what came of entries."""
    parts = []
    if noted.seen:
        parts.append(count(noted.seen, "new sighting"))
    if noted.visited:
        parts.append(count(noted.visited, "new visit"))
    if noted.others:
        parts.append(count(noted.others, "other outcome"))
    if noted.corrected:
        parts.append(f"{noted.corrected} corrected")
    if noted.known:
        parts.append(f"{count(noted.known, 'row')} known already")
    return say(parts) if parts else "nothing to record"


def remarks_on(entries: Sequence[Entry], today: date | None) -> list[str]:
    """Return what is worth a look: entries of days to come."""
    late = [one for one in entries if today is not None and one.date > today]
    if not late:
        return []
    return [
        f"{late[0].place} is of {late[0].date}, after today, {today}; there are "
        f"{count(len(late), 'such row')}."
    ]
