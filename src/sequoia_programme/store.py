"""The database of a programme: SQLite in its folder, or a server such as PostgreSQL.

A database knows its version. Opening it applies what migrations add, in order, in one transaction,
so that it is at a version or at the next and never between.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from sequoia.errors import FileError
from sequoia.io import room_in, write_bytes
from sequoia_programme.schema import (
    accounts,
    answers,
    attempts,
    exported,
    feeds,
    fits,
    journal,
    metadata,
    outcomes,
    plans,
    sessions,
    sightings,
    tokens,
    version,
    visits,
)
from sequoia_programme.sound import Damaged

Migration = Callable[[sql.Connection], None]


_FIRST = (
    *("schema_version", "roster", "absences", "sightings", "visits", "plans", "tasks"),
    "journal",
)
_FOURTH = ("drafts", "notes", "receipts", "accounts", "sessions")
FILE = "records.db"
# How long one who writes waits for another; each holds the database for a moment only.
_PATIENCE = 60.0
# Any number will do, as long as all who write agree on it.
_WRITERS = 5_073_001
# The databases that this process has checked, by path and number of the file.
_SOUND: set[tuple[str, int]] = set()


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
    _add(connection, journal, "by", '"by" VARCHAR')
    _add(connection, journal, "moves", "moves BOOLEAN DEFAULT TRUE NOT NULL")


def _fifth(connection: sql.Connection) -> None:
    """Keep failures to sign in, and when a session began; who is signed in does it once more."""
    attempts.create(connection)
    _add(connection, sessions, "began", f"began {_time(connection)}")
    connection.execute(sessions.delete())


def _sixth(connection: sql.Connection) -> None:
    """Tell proposed plans from published ones, as all were; keep outcomes, and what is said."""
    _add(connection, plans, "published", f"published {_time(connection)}")
    connection.execute(plans.update().values(published=plans.c.at))
    outcomes.create(connection)
    for table in (sightings, visits):
        for name in ("time", "note", "recorder"):
            _add(connection, table, name, f"\"{name}\" VARCHAR DEFAULT '' NOT NULL")


def _time(connection: sql.Connection) -> str:
    """Return what the database calls a column of times."""
    return journal.c.at.type.compile(dialect=connection.dialect)


def _add(connection: sql.Connection, table: sql.Table, name: str, column: str) -> None:
    """Add a column, unless the table has it: a table that is new has all of today."""
    there = {one["name"] for one in sql.inspect(connection).get_columns(table.name)}
    if name not in there:
        connection.execute(sql.text(f"ALTER TABLE {table.name} ADD COLUMN {column}"))


def _seventh(connection: sql.Connection) -> None:
    """Tie accounts to the staff, and say which browser a session is in.

    The role that looked at everything is gone: those who had it see numbers without names until
    somebody gives them another one.
    """
    for column in (accounts.c.worker, sessions.c.device):
        kind = column.type.compile(dialect=connection.dialect)
        _add(connection, column.table, column.name, f"{column.name} {kind}")
    connection.execute(accounts.update().where(accounts.c.role == "see").values(role="view"))


def _eighth(connection: sql.Connection) -> None:
    """Let other systems in by tokens, and calendars by secret addresses."""
    metadata.create_all(connection, tables=[tokens, feeds, answers])


# Version n is what the first n of these make. One that was released is never edited: a change is a
# new function at the end.
MIGRATIONS: Sequence[Migration] = (
    *(_first, _second, _third, _fourth, _fifth, _sixth, _seventh),
    _eighth,
)


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


class Store:
    """Reads and writes in transactions; what was committed survives any end of the process.

    Writers come one after the other, so that whoever reads and then writes in one transaction
    needs to think of nobody else. SQLite keeps its default journal with full synchronisation: a
    commit returns when the file system has it, and the database stays one file.
    """

    def __init__(self, url: str, where: str, actor: str = "", file: Path | None = None) -> None:
        self._where = where
        self._file = file
        self._actor = actor
        try:
            self._engine = sql.create_engine(url, poolclass=sql.NullPool)
        except (ArgumentError, NoSuchModuleError, ImportError) as error:
            raise FileError(f"{where} cannot be opened: {_one_line(error)}.") from None
        self._is_sqlite = self._engine.dialect.name == "sqlite"
        if self._is_sqlite:
            event.listen(self._engine, "connect", _configure)
            event.listen(self._engine, "begin", _begin)

    @classmethod
    def of_folder(cls, folder: Path, url: str = "", actor: str = "") -> "Store":
        """Return the store of a programme's folder.

        Parameters
        ----------
        url
            That of a server, if it has one.
        actor
            Whose account writes, for the journal.
        """
        if url:
            shown = url.partition("?")[0].rpartition("@")[2]
            return cls(url, f"the database {shown}", actor)
        return cls(f"sqlite:///{folder / FILE}", str(folder / FILE), actor, folder / FILE)

    def make(self) -> None:
        """Make the tables, or bring those that are there to the newest version."""
        with self._transaction(writes=True, makes=True) as connection:
            migrate(connection, self._where)

    def open(self) -> "Store":
        """Return this store, ready for use: there, readable and at the newest version."""
        with self._transaction(writes=False) as connection:
            self._require_sound(connection)
            found = version_of(connection)
        if not found:
            raise self._empty()
        require_readable(found, self._where)
        if found < len(MIGRATIONS):
            if self._file is not None:
                copy_database(self._file, _fresh(self._file, f"version-{found}"))
            self.make()
        return self

    def _empty(self) -> FileError:
        return FileError(f"{self._where} holds no records; sequoia programme init makes them.")

    def _require_there(self) -> None:
        """Raise where there is no file: SQLite would make an empty one."""
        if self._file is None:
            return
        if not self._file.exists():
            raise self._empty()
        if not self._file.stat().st_size:
            raise self._damaged("it has 0 bytes, and lost what it held")

    def _require_sound(self, connection: sql.Connection) -> None:
        """Let SQLite check its file once in this process: it reads damaged ones without a word."""
        if self._file is None:
            return
        known = (str(self._file.resolve()), self._file.stat().st_ino)
        if known in _SOUND:
            return
        found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one()
        if found != "ok":
            raise self._damaged(" ".join(str(found).split())[:100])
        _SOUND.add(known)

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """Yield a connection that sees one state of the database."""
        with self._transaction(writes=False) as connection:
            yield connection

    @contextmanager
    def writing(self, words: str = "") -> Iterator[sql.Connection]:
        """Yield a connection; everything is committed at the end, or nothing.

        Parameters
        ----------
        words
            What happens, for the journal.
        """
        with self._transaction(writes=True) as connection:
            yield connection
            if words:
                note(connection, words)

    @contextmanager
    def _transaction(self, writes: bool, makes: bool = False) -> Iterator[sql.Connection]:
        if not makes:
            self._require_there()
        try:
            with self._engine.connect() as connection:
                connection = connection.execution_options(writes=writes, actor=self._actor)
                with connection.begin():
                    if writes and self._engine.dialect.name == "postgresql":
                        connection.execute(sql.select(sql.func.pg_advisory_xact_lock(_WRITERS)))
                    yield connection
        except SQLAlchemyError as error:
            raise FileError(f"{self._where}: {_one_line(error)}.") from None
        except Damaged as error:
            raise self._damaged(str(error)) from None
        except UnicodeDecodeError:
            # SQLite quotes what is damaged, and the driver takes it for text.
            raise self._damaged("what it holds is not UTF-8") from None

    def _damaged(self, why: str) -> FileError:
        return FileError(
            f"{self._where} is damaged: {why}; sequoia programme restore brings a backup back."
        )


def copy_database(source: Path, target: Path) -> None:
    """Copy a SQLite database as it is between two transactions, and check the copy.

    Others may read and write meanwhile.
    """
    with room_in(target.parent) as room:
        made = room / FILE
        try:
            with closing(sqlite3.connect(source)) as here, closing(sqlite3.connect(made)) as there:
                here.backup(there)
                (found,) = there.execute("PRAGMA integrity_check(1)").fetchone()
        except sqlite3.Error as error:
            raise FileError(f"{source} cannot be copied: {error}.") from None
        if found != "ok":
            raise FileError(f"{source} cannot be copied: {' '.join(found.split())[:100]}.")
        write_bytes(target, made.read_bytes())


def _fresh(file: Path, what: str) -> Path:
    """Return a name beside a file that no other has."""
    named = file.with_stem(f"{file.stem}-{what}")
    number = 2
    while named.exists():
        named = file.with_stem(f"{file.stem}-{what}-{number}")
        number += 1
    return named


def note(connection: sql.Connection, words: str, *, moves: bool = True) -> None:
    """Write a line into the journal.

    Parameters
    ----------
    moves
        Whether a plan may be another one after it.
    """
    connection.execute(journal.insert().values(words=words, by=actor_of(connection), moves=moves))


def moved_since(connection: sql.Connection, time: datetime) -> bool:
    """Whether anything happened after a time that may make a plan another one."""
    later = sql.select(journal.c.id).where(journal.c.moves, journal.c.at > time).limit(1)
    return connection.execute(later).first() is not None


def casefolded(connection: sql.Connection, column: sql.Column[str]) -> sql.Function[str]:
    """Return a column whatever its capitals, to be compared with casefolded texts."""
    is_sqlite = connection.dialect.name == "sqlite"
    return sql.func.casefold(column) if is_sqlite else sql.func.lower(column)


def actor_of(connection: sql.Connection) -> str:
    """Return whose account writes; nothing where it is the command."""
    return str(connection.get_execution_options().get("actor", ""))


def _configure(connection: sqlite3.Connection, _: Any) -> None:
    # Transactions begin where we say, not where the driver guesses.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {int(1000 * _PATIENCE)}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    # What is deleted, such as a person, is overwritten in the file.
    connection.execute("PRAGMA secure_delete = ON")
    # SQLite's own lower() knows English letters only.
    connection.create_function("casefold", 1, str.casefold, deterministic=True)


def _begin(connection: sql.Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _one_line(error: BaseException) -> str:
    cause = getattr(error, "orig", None) or error
    return " ".join(str(cause).split())[:200].rstrip(".")
