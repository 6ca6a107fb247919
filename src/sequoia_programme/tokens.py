"""Who else gets in: other systems by tokens with scopes, calendars by secret addresses.

Of both only hashes are kept. They are long and random, so that a quick hash does.
"""

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sql

from sequoia.errors import ProblemError
from sequoia.problem.names import closest, composed, flaw_of
from sequoia_programme.schema import WORKER, feeds, now, roster, tokens
from sequoia_programme.settings import Programme
from sequoia_programme.store import note

# What a token may be for: look; record what happened; wish, publish and change people and staff;
# rules, long work, exports and the journal; the numbers of the server.
SCOPES = ("read", "record", "plan", "manage", "metrics")
READ, RECORD, PLAN, MANAGE, METRICS = SCOPES
_MOST_DAYS = 366


@dataclass(frozen=True)
class Token:
    """What another system may do, and until when, in UTC."""

    name: str
    scopes: tuple[str, ...]
    expires: datetime


def add_token(programme: Programme, name: str, scopes: Iterable[str], days: int) -> str:
    """Add a token for another system and return it; it is kept nowhere."""
    name = composed(name).strip()
    asked = tuple(one for one in SCOPES if one in set(scopes))
    if flaw_of(name):
        raise ProblemError(f"the token is called {name!r}; {flaw_of(name)}.")
    for one in scopes:
        if one not in SCOPES:
            raise ProblemError(
                f"the scope is {one!r}; some of {', '.join(SCOPES)} are wanted"
                f"{closest(one, SCOPES)}."
            )
    if not asked:
        raise ProblemError(f"the token has no scope; some of {', '.join(SCOPES)} are wanted.")
    if not 1 <= days <= _MOST_DAYS:
        raise ProblemError(f"the token lasts {days} days; 1 to {_MOST_DAYS} are wanted.")
    secret = secrets.token_urlsafe(32)
    with programme.store.open().writing() as connection:
        if connection.execute(sql.select(tokens.c.name).where(tokens.c.name == name)).first():
            raise ProblemError(f"the token {name!r} is there already.")
        values = {"name": name, "digest": _digest(secret), "scopes": " ".join(asked)}
        expires = now() + timedelta(days=days)
        connection.execute(tokens.insert().values(**values, expires=expires))
        note(connection, f"Added the token {name!r} for {', '.join(asked)}.", moves=False)
    return secret


def all_tokens(programme: Programme) -> list[Token]:
    """Return all tokens, by name."""
    fields = (tokens.c.name, tokens.c.scopes, tokens.c.expires)
    with programme.store.open().reading() as connection:
        rows = connection.execute(sql.select(*fields).order_by(tokens.c.name)).all()
    return [Token(name, tuple(scopes.split()), expires) for name, scopes, expires in rows]


def remove_token(programme: Programme, name: str) -> None:
    """Remove a token; whoever has it is out at once."""
    with programme.store.open().writing() as connection:
        if not connection.execute(tokens.delete().where(tokens.c.name == name)).rowcount:
            names = list(connection.execute(sql.select(tokens.c.name)).scalars())
            raise ProblemError(f"no token is called {name!r}{closest(name, names)}.")
        note(connection, f"Removed the token {name!r}.", moves=False)


def find_token(programme: Programme, secret: str) -> Token | None:
    """Return what a token is for, if it is one and has not expired."""
    chosen = sql.select(tokens).where(tokens.c.digest == _digest(secret), tokens.c.expires > now())
    with programme.store.reading() as connection:
        found = connection.execute(chosen).mappings().one_or_none()
    if found is None:
        return None
    return Token(found["name"], tuple(found["scopes"].split()), found["expires"])


def open_feed(programme: Programme, worker: str) -> str:
    """Return the secret of a new address of somebody's calendar; the one before is void."""
    secret = secrets.token_urlsafe(32)
    with programme.store.open().writing() as connection:
        number = _number(connection, worker)
        connection.execute(feeds.delete().where(feeds.c.worker == number))
        connection.execute(feeds.insert().values(digest=_digest(secret), worker=number))
        note(connection, f"The calendar of {worker} has a new address.", moves=False)
    return secret


def close_feed(programme: Programme, worker: str) -> bool:
    """Void the address of somebody's calendar; return whether there was one."""
    with programme.store.open().writing() as connection:
        own = feeds.c.worker == _number(connection, worker)
        if not connection.execute(feeds.delete().where(own)).rowcount:
            return False
        note(connection, f"The calendar of {worker} has no address any more.", moves=False)
    return True


def find_feed(programme: Programme, secret: str) -> str | None:
    """Return whose calendar has an address."""
    chosen = sql.select(roster.c.name).join(feeds, feeds.c.worker == roster.c.id)
    with programme.store.open().reading() as connection:
        own = feeds.c.digest == _digest(secret)
        return connection.execute(chosen.where(own)).scalar_one_or_none()


def _number(connection: sql.Connection, worker: str) -> int:
    chosen = sql.select(roster.c.id).where(roster.c.role == WORKER, roster.c.name == worker)
    number = connection.execute(chosen).scalar_one_or_none()
    if number is None:
        raise ProblemError(f"nobody of the staff is called {worker!r}.")
    return int(number)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
