"""Migrations: what each version of the schema adds to the one before.

A database knows its version. Opening it applies what is missing, in order, in one transaction, so
that it is at a version or at the next and never between.
"""

from collections.abc import Callable, Sequence

import sqlalchemy as sql

from sequoia.errors import FileError
from sequoia.programme.schema import exported, fits, journal, metadata, version

Migration = Callable[[sql.Connection], None]


_FIRST = (
    *("schema_version", "roster", "absences", "sightings", "visits", "plans", "tasks"),
    "journal",
)
_FOURTH = ("drafts", "notes", "receipts", "accounts", "sessions")


def _first(connection: sql.Connection) -> None:
    """Make the roster, the log and the plans."""
    metadata.create_all(connection, tables=[metadata.tables[name] for name in _FIRST])


def _second(connection: sql.Connection) -> None:
    """Keep estimates of transitions."""
    fits.create(connection)


def _third(connection: sql.Connection) -> None:
    """Keep what the states of exported problems are."""
    exported.create(connection)


def _fourth(connection: sql.Connection) -> None:
    """Keep what people wish, note and send, who they are, and who did what."""
    metadata.create_all(connection, tables=[metadata.tables[name] for name in _FOURTH])
    there = {column["name"] for column in sql.inspect(connection).get_columns(journal.name)}
    for column in ('"by" VARCHAR', "moves BOOLEAN DEFAULT TRUE NOT NULL"):
        if column.split()[0].strip('"') not in there:
            connection.execute(sql.text(f"ALTER TABLE journal ADD COLUMN {column}"))


# Version n is what the first n of these make. One that was released is never edited: a change is a
# new function at the end.
MIGRATIONS: Sequence[Migration] = (_first, _second, _third, _fourth)


def version_of(connection: sql.Connection) -> int:
    """Return the version of a database; 0 when it is empty."""
    if not sql.inspect(connection).has_table(version.name):
        return 0
    return int(connection.execute(sql.select(version.c.number)).scalar_one_or_none() or 0)


def require_readable(found: int, where: str) -> None:
    """Raise unless this version of sequoia knows the schema."""
    if found > len(MIGRATIONS):
        raise FileError(
            f"{where} has schema version {found}; this version of sequoia knows "
            f"{len(MIGRATIONS)}: use a newer one."
        )


def migrate(connection: sql.Connection, where: str) -> None:
    """Bring a database to the newest version; the caller commits."""
    found = version_of(connection)
    require_readable(found, where)
    for step in MIGRATIONS[found:]:
        step(connection)
    if found < len(MIGRATIONS):
        connection.execute(version.delete())
        connection.execute(version.insert().values(number=len(MIGRATIONS)))
