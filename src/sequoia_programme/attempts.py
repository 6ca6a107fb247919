"""How often somebody may try a password: failures are counted in the database, by key.

A try counts as failed before its password is looked at, in one transaction, and is taken back when
it was right: of many at once no more are looked at than of many in a row, and a server that begins
again has forgotten nothing.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sql

from sequoia_programme.schema import attempts, now

# After the free failures each waits twice as long as the one before.
_FIRST_WAIT, _LONGEST_WAIT = 2.0, 900.0
# Failures are forgotten so long after the last one.
_REMEMBERED = timedelta(days=1)


@dataclass(frozen=True)
class Key:
    """What failures are counted by.

    Attributes
    ----------
    text
        Such as an account and an address.
    free
        So many failures are a slip of the fingers.
    is_own
        Whether all of them are by one who signs in: then one success forgets them.
    """

    text: str
    free: int
    is_own: bool = False

    @property
    def digest(self) -> str:
        """What is kept: some type their password where the name belongs."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def reserve(connection: sql.Connection, keys: Iterable[Key]) -> float:
    """Count a try as failed and return 0; or return for how many seconds it is refused."""
    time = now()
    connection.execute(attempts.delete().where(attempts.c.at < time - _REMEMBERED))
    found = [(key, *_failures(connection, key, time)) for key in keys]
    wait = max((_seconds(until - time) for _, _, until in found), default=0.0)
    if wait:
        return wait
    for key, failures, _ in found:
        over = failures + 1 - key.free
        # Clipped before the power: it need not be a large number.
        pause = min(_FIRST_WAIT * 2 ** min(over, 20), _LONGEST_WAIT) if over >= 0 else 0.0
        _put(connection, key, failures + 1, time + timedelta(seconds=pause))
    return 0.0


def take_back(connection: sql.Connection, keys: Iterable[Key]) -> None:
    """Note that a try was right: its own failures are forgotten, and those of others stay."""
    time = now()
    for key in keys:
        failures, _ = _failures(connection, key, time)
        _put(connection, key, 0 if key.is_own else failures - 1, time)


def _failures(connection: sql.Connection, key: Key, time: datetime) -> tuple[int, datetime]:
    """Return how many failures there were, and until when to wait."""
    chosen = sql.select(attempts.c.failures, attempts.c.until).where(attempts.c.key == key.digest)
    found = connection.execute(chosen).one_or_none()
    return (0, time) if found is None else (int(found.failures), found.until)


def _put(connection: sql.Connection, key: Key, failures: int, until: datetime) -> None:
    connection.execute(attempts.delete().where(attempts.c.key == key.digest))
    if failures > 0:
        values = {"key": key.digest, "failures": failures, "until": until}
        connection.execute(attempts.insert().values(**values))


def _seconds(wait: timedelta) -> float:
    """Return how long to wait; a clock that was set back makes nobody wait for years."""
    return min(max(wait.total_seconds(), 0.0), _LONGEST_WAIT)
