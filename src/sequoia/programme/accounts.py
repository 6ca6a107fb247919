"""Who may open the planner's page: accounts with a role, and their sessions.

Of a password only an argon2id hash is kept (RFC 9106), of a session only a hash of its token: who
reads the database gets in nowhere.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

import sqlalchemy as sql
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from sequoia.errors import ProblemError
from sequoia.problem.names import closest, composed, flaw_of
from sequoia.programme.schema import accounts, now, sessions
from sequoia.programme.settings import Programme
from sequoia.programme.store import note

# Each may do what those before it may.
ROLES = ("see", "plan", "administer")
SEE, PLAN, ADMINISTER = ROLES
# Short ones are guessed (NIST SP 800-63B asks for 8 and more); longer ones keep the hasher busy.
_SHORTEST, _LONGEST = 10, 1000
# A session ends so long after it was used last, and its use is noted so often.
_LIFETIME, _NOTED = timedelta(hours=12), timedelta(minutes=10)


@dataclass(frozen=True)
class Account:
    """Somebody who may open the page."""

    name: str
    role: str

    def may(self, role: str) -> bool:
        """Whether they may do what ``role`` may."""
        return ROLES.index(self.role) >= ROLES.index(role)


def all_accounts(programme: Programme) -> list[Account]:
    """Return all accounts, by name."""
    chosen = sql.select(accounts.c.name, accounts.c.role).order_by(accounts.c.name)
    with programme.store.open().reading() as connection:
        return [Account(*row) for row in connection.execute(chosen)]


def has_accounts(programme: Programme) -> bool:
    """Whether there is an account at all; where there is none, nobody needs one."""
    with programme.store.reading() as connection:
        return connection.execute(sql.select(accounts.c.name).limit(1)).first() is not None


def add_account(programme: Programme, name: str, role: str, password: str) -> Account:
    """Add an account; the first one must be able to administer the others."""
    name = composed(name).strip()
    if flaw_of(name):
        raise ProblemError(f"the account is called {name!r}; {flaw_of(name)}.")
    _require_role(role)
    hashed = _hash(password)
    with programme.store.open().writing() as connection:
        chosen = sql.select(accounts.c.name, accounts.c.role)
        there = {one.name: one.role for one in connection.execute(chosen)}
        if name.casefold() in {one.casefold() for one in there}:
            raise ProblemError(f"the account {name!r} is there already.")
        if role != ADMINISTER and ADMINISTER not in there.values():
            raise ProblemError(f"the first account needs the role {ADMINISTER}, not {role}.")
        connection.execute(accounts.insert().values(name=name, role=role, hash=hashed))
        note(connection, f"Added the account {name!r} with the role {role}.", moves=False)
    return Account(name, role)


def change_account(
    programme: Programme, name: str, *, role: str | None = None, password: str | None = None
) -> None:
    """Give an account another role or another password; its sessions end."""
    if role is not None:
        _require_role(role)
    new = {"role": role, "hash": None if password is None else _hash(password)}
    with programme.store.open().writing() as connection:
        _require_account(connection, name)
        if role is not None and role != ADMINISTER:
            _require_another_administrator(connection, name)
        values = {key: value for key, value in new.items() if value is not None}
        connection.execute(accounts.update().where(accounts.c.name == name).values(values))
        connection.execute(sessions.delete().where(sessions.c.account == name))
        what = " and ".join(
            {"role": f"the role {role}", "hash": "a new password"}[k] for k in values
        )
        note(connection, f"The account {name!r} has {what}.", moves=False)


def remove_account(programme: Programme, name: str) -> None:
    """Remove an account and end its sessions; one that can administer stays."""
    with programme.store.open().writing() as connection:
        _require_account(connection, name)
        _require_another_administrator(connection, name)
        connection.execute(sessions.delete().where(sessions.c.account == name))
        connection.execute(accounts.delete().where(accounts.c.name == name))
        note(connection, f"Removed the account {name!r}.", moves=False)


def check_password(programme: Programme, name: str, password: str) -> Account | None:
    """Return the account, if the password is its own; it takes as long for names nobody has."""
    chosen = sql.select(accounts).where(accounts.c.name == composed(name).strip())
    with programme.store.open().reading() as connection:
        found = connection.execute(chosen).mappings().one_or_none()
    hashed = _nobodys_hash() if found is None else found["hash"]
    try:
        _hasher().verify(hashed, password[:_LONGEST])
    except (VerificationError, InvalidHashError):
        return None
    return None if found is None else Account(found["name"], found["role"])


def open_session(programme: Programme, account: Account) -> str:
    """Begin a session and return its token, which is kept nowhere."""
    token = secrets.token_urlsafe(32)
    with programme.store.writing() as connection:
        connection.execute(sessions.delete().where(sessions.c.at < now() - _LIFETIME))
        connection.execute(sessions.insert().values(digest=_digest(token), account=account.name))
        note(connection, f"{account.name} signed in.", moves=False)
    return token


def find_session(programme: Programme, token: str) -> Account | None:
    """Return whose session it is, if it has not ended."""
    own = sessions.c.digest == _digest(token)
    chosen = (
        sql.select(accounts.c.name, accounts.c.role, sessions.c.at)
        .join(accounts, accounts.c.name == sessions.c.account)
        .where(own, sessions.c.at >= now() - _LIFETIME)
    )
    with programme.store.reading() as connection:
        found = connection.execute(chosen).one_or_none()
    if found is None:
        return None
    if found.at < now() - _NOTED:
        with programme.store.writing() as connection:
            connection.execute(sessions.update().where(own).values(at=now()))
    return Account(found.name, found.role)


def end_session(programme: Programme, token: str) -> None:
    """End a session."""
    with programme.store.writing() as connection:
        connection.execute(sessions.delete().where(sessions.c.digest == _digest(token)))


def _require_role(role: str) -> None:
    if role not in ROLES:
        raise ProblemError(
            f"the role is {role!r}; {', '.join(ROLES[:-1])} or {ROLES[-1]} is wanted."
        )


def _require_account(connection: sql.Connection, name: str) -> None:
    names = list(connection.execute(sql.select(accounts.c.name)).scalars())
    if name not in names:
        raise ProblemError(f"no account is called {name!r}{closest(name, names)}.")


def _require_another_administrator(connection: sql.Connection, name: str) -> None:
    chosen = sql.select(accounts.c.name).where(
        accounts.c.role == ADMINISTER, accounts.c.name != name
    )
    if connection.execute(chosen.limit(1)).first() is None:
        raise ProblemError(f"{name!r} is the only account that can administer; it stays so.")


def _hash(password: str) -> str:
    if not _SHORTEST <= len(password) <= _LONGEST:
        raise ProblemError(
            f"the password has {len(password)} characters; {_SHORTEST} to {_LONGEST} are wanted."
        )
    return _hasher().hash(password)


@cache
def _hasher() -> PasswordHasher:
    return PasswordHasher()


@cache
def _nobodys_hash() -> str:
    return _hasher().hash(secrets.token_urlsafe())


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
