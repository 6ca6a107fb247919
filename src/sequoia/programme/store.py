"""The database of a programme: SQLite in its folder, or a server such as PostgreSQL."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from sequoia.errors import FileError
from sequoia.programme.migrations import MIGRATIONS, migrate, require_readable, version_of
from sequoia.programme.schema import journal

FILE = "records.db"
# How long one who writes waits for another; each holds the database for a moment only.
_PATIENCE = 60.0
# Any number will do, as long as all who write agree on it.
_WRITERS = 5_073_001


class Store:
    """Reads and writes in transactions; what was committed survives any end of the process.

    Writers come one after the other, so that whoever reads and then writes in one transaction
    needs to think of nobody else. SQLite keeps its default journal with full synchronisation: a
    commit returns when the file system has it, and the database stays one file.
    """

    def __init__(self, url: str, where: str, actor: str = "") -> None:
        self._where = where
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
        return cls(f"sqlite:///{folder / FILE}", str(folder / FILE), actor)

    def make(self) -> None:
        """Make the tables, or bring those that are there to the newest version."""
        with self._transaction(writes=True) as connection:
            migrate(connection, self._where)

    def open(self) -> "Store":
        """Return this store, ready for use: there, readable and at the newest version."""
        with self._transaction(writes=False) as connection:
            found = version_of(connection)
        if not found:
            raise FileError(f"{self._where} holds no records; sequoia programme init makes them.")
        require_readable(found, self._where)
        if found < len(MIGRATIONS):
            self.make()
        return self

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
    def _transaction(self, writes: bool) -> Iterator[sql.Connection]:
        try:
            with self._engine.connect() as connection:
                connection = connection.execution_options(writes=writes, actor=self._actor)
                with connection.begin():
                    if writes and self._engine.dialect.name == "postgresql":
                        connection.execute(sql.select(sql.func.pg_advisory_xact_lock(_WRITERS)))
                    yield connection
        except SQLAlchemyError as error:
            raise FileError(f"{self._where}: {_one_line(error)}.") from None


def note(connection: sql.Connection, words: str, *, moves: bool = True) -> None:
    """Write a line into the journal.

    Parameters
    ----------
    moves
        Whether a plan may be another one after it.
    """
    connection.execute(journal.insert().values(words=words, by=actor_of(connection), moves=moves))


def actor_of(connection: sql.Connection) -> str:
    """Return whose account writes; nothing where it is the command."""
    return str(connection.get_execution_options().get("actor", ""))


def _configure(connection: sqlite3.Connection, _: Any) -> None:
    # Transactions begin where we say, not where the driver guesses.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {int(1000 * _PATIENCE)}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")


def _begin(connection: sql.Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _one_line(error: BaseException) -> str:
    cause = getattr(error, "orig", None) or error
    return " ".join(str(cause).split())[:200].rstrip(".")
