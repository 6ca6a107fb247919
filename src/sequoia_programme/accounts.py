"""Who may open the planner's page: accounts with a role, and their sessions.

Of a password only an argon2id hash is kept (RFC 9106), of a session only a hash of its token: who
reads the database gets in nowhere.
"""

import hashlib
import hmac
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

import sqlalchemy as sql
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from sequoia.errors import ProblemError
from sequoia.problem.names import closest, composed, flaw_of
from sequoia_programme.attempts import Key, reserve, take_back
from sequoia_programme.schema import WORKER as STAFF
from sequoia_programme.schema import accounts, now, roster, sessions
from sequoia_programme.settings import Programme
from sequoia_programme.store import note

ROLES = ("view", "work", "plan", "administer")
VIEW, WORK, PLAN, ADMINISTER = ROLES
# What is for everybody who signed in.
ANY = "any"
# Whoever has a role may do what is for these: numbers without names; the visits of a worker.
_COVERED = {
    VIEW: (ANY, VIEW),
    WORK: (ANY, WORK),
    PLAN: (ANY, VIEW, WORK, PLAN),
    ADMINISTER: (ANY, *ROLES),
}
# Short ones are guessed (NIST SP 800-63B asks for 8 and more); longer ones keep the hasher busy.
_SHORTEST, _LONGEST = 10, 1000
# Of fewer letters, a long password is as easily guessed as a short one.
_FEWEST_LETTERS = 5
# What lists of passwords that were stolen begin with, of those that are long enough.
_COMMON = (
    *("1234567890", "0123456789", "0987654321", "12345678910", "123456789a", "1234567891"),
    *("qwertyuiop", "qwertzuiop", "1q2w3e4r5t", "1qaz2wsx3edc", "q1w2e3r4t5", "abcdefghij"),
    *("password12", "password123", "passwordpassword", "passwort123", "iloveyou123"),
    *("administrator", "letmein123", "welcome123", "changeme123", "sequoiasequoia"),
)
# A session ends so long after it was used last, and its use is noted so often.
_LIFETIME, _NOTED = timedelta(hours=12), timedelta(minutes=10)
# However much it is used: whoever has the phone of another has it no longer than a week.
_LONGEST_SESSION = timedelta(days=7)
# A hash takes 64 MB and a processor; more at once would keep everything else from answering.
_HASHING = threading.BoundedSemaphore(2)
# Failures that are free: those of somebody who signs in; those of a whole office behind one
# address; and those with one name from everywhere, which only many addresses together reach.
_OWN_FREE, _ADDRESS_FREE, _NAME_FREE = 5, 20, 50


@dataclass(frozen=True)
class Account:
    """Somebody who may open the page.

    Attributes
    ----------
    worker
        Of the role `WORK`, the name of whom on the staff: nobody else's visits are theirs to see.
    """

    name: str
    role: str
    worker: str = ""

    def may(self, role: str) -> bool:
        """Whether they may do what ``role`` may."""
        return role in _COVERED[self.role]


# An account as `Account` has it.
_ACCOUNTS = sql.select(
    accounts.c.name, accounts.c.role, sql.func.coalesce(roster.c.name, "")
).select_from(accounts.outerjoin(roster, roster.c.id == accounts.c.worker))


def all_accounts(programme: Programme) -> list[Account]:
    """Return all accounts, by name."""
    with programme.store.open().reading() as connection:
        return [Account(*row) for row in connection.execute(_ACCOUNTS.order_by(accounts.c.name))]


def has_accounts(programme: Programme) -> bool:
    """Whether there is an account at all; where there is none, nobody needs one."""
    with programme.store.reading() as connection:
        return connection.execute(sql.select(accounts.c.name).limit(1)).first() is not None


def add_account(
    programme: Programme, name: str, role: str, password: str, worker: str = ""
) -> Account:
    """Add an account; the first one must be able to administer the others.

    ``worker`` is whom of the staff it belongs to, where the role is `WORK`.
    """
    name = composed(name).strip()
    if flaw_of(name):
        raise ProblemError(f"the account is called {name!r}; {flaw_of(name)}.")
    _require_role(role)
    hashed = _hash(password, name)
    with programme.store.open().writing() as connection:
        chosen = sql.select(accounts.c.name, accounts.c.role)
        there = {one.name: one.role for one in connection.execute(chosen)}
        if name.casefold() in {one.casefold() for one in there}:
            raise ProblemError(f"the account {name!r} is there already.")
        if role != ADMINISTER and ADMINISTER not in there.values():
            raise ProblemError(f"the first account needs the role {ADMINISTER}, not {role}.")
        number, worker = _worker(connection, role, worker)
        values = {"name": name, "role": role, "hash": hashed, "worker": number}
        connection.execute(accounts.insert().values(values))
        note(connection, f"Added the account {name!r} with the role {role}.", moves=False)
    return Account(name, role, worker)


def _worker(connection: sql.Connection, role: str, worker: str) -> tuple[int | None, str]:
    """Return the number and the name of whom an account belongs to, if its role asks for one."""
    if role != WORK:
        return None, ""
    chosen = sql.select(roster.c.name, roster.c.id).where(roster.c.role == STAFF)
    staff = {str(one.name): int(one.id) for one in connection.execute(chosen)}
    worker = composed(worker).strip()
    if worker not in staff:
        raise ProblemError(
            f"the role {WORK} is for somebody of the staff, and nobody there is called {worker!r}"
            f"{closest(worker, list(staff))}."
        )
    return staff[worker], worker


def change_account(
    programme: Programme,
    name: str,
    *,
    role: str | None = None,
    password: str | None = None,
    worker: str = "",
) -> None:
    """Give an account another role or another password; its sessions end."""
    name = composed(name).strip()
    if role is not None:
        _require_role(role)
    new = {"role": role, "hash": None if password is None else _hash(password, name)}
    with programme.store.open().writing() as connection:
        _require_account(connection, name)
        if role is not None and role != ADMINISTER:
            _require_another_administrator(connection, name)
        values = {key: value for key, value in new.items() if value is not None}
        if role is not None:
            number, _ = _worker(connection, role, worker)
            connection.execute(_account(name).values(worker=number))
        connection.execute(_account(name).values(values))
        connection.execute(sessions.delete().where(sessions.c.account == name))
        what = " and ".join(
            {"role": f"the role {role}", "hash": "a new password"}[k] for k in values
        )
        note(connection, f"The account {name!r} has {what}.", moves=False)


def remove_account(programme: Programme, name: str) -> None:
    """Remove an account and end its sessions; one that can administer stays."""
    name = composed(name).strip()
    with programme.store.open().writing() as connection:
        _require_account(connection, name)
        _require_another_administrator(connection, name)
        connection.execute(sessions.delete().where(sessions.c.account == name))
        connection.execute(accounts.delete().where(accounts.c.name == name))
        note(connection, f"Removed the account {name!r}.", moves=False)


def change_own_password(programme: Programme, name: str, new: str, token: str) -> None:
    """Give an account another password; its sessions end, but the one with ``token``."""
    hashed = _hash(new, name)
    with programme.store.open().writing() as connection:
        _require_account(connection, name)
        connection.execute(_account(name).values(hash=hashed))
        others = sql.and_(sessions.c.account == name, sessions.c.digest != _digest(token))
        connection.execute(sessions.delete().where(others))
        note(connection, f"The account {name!r} has a new password.", moves=False)


def _account(name: str) -> sql.Update:
    return accounts.update().where(accounts.c.name == name)


@dataclass(frozen=True)
class SignIn:
    """What came of a name and a password.

    Attributes
    ----------
    account
        ``None`` where they are wrong, or were not looked at.
    wait
        For how many seconds no other try is looked at.
    """

    account: Account | None
    wait: float = 0.0


def sign_in(
    programme: Programme, name: str, password: str, address: str = "", device: str = ""
) -> SignIn:
    """Look at a password, unless too many were wrong.

    Parameters
    ----------
    address
        From where; failures are counted by it.
    device
        The mark of a browser that this account signed in with before (`mark_device`). Its failures
        are its own, so that nobody else can lock its owner out.
    """
    name = composed(name).strip()
    keys = _keys(programme, name, address, device)
    with programme.store.open().writing() as connection:
        wait = reserve(connection, keys)
    if wait:
        return SignIn(None, wait)
    account = check_password(programme, name, password)
    if account is not None:
        with programme.store.writing() as connection:
            take_back(connection, keys)
    return SignIn(account)


def _keys(programme: Programme, name: str, address: str, device: str) -> Sequence[Key]:
    """Return what failures are counted by."""
    mark, _, seal = device.partition(".")
    if seal and hmac.compare_digest(device.encode(), _sealed(programme, name, mark).encode()):
        return (Key(f"device {mark}", _OWN_FREE, is_own=True),)
    folded = name.casefold()
    return (
        Key(f"name {folded} from {address}", _OWN_FREE, is_own=True),
        Key(f"from {address}", _ADDRESS_FREE),
        Key(f"name {folded}", _NAME_FREE),
    )


def mark_device(programme: Programme, account: Account) -> str:
    """Return a mark for the browser that an account signs in with; a new password voids it."""
    return _sealed(programme, account.name, secrets.token_urlsafe(16))


def _sealed(programme: Programme, name: str, mark: str) -> str:
    """Return a mark with a seal that only who knows the hash of the account's password can make."""
    key = _hash_of(programme, name) or _nobodys_hash()
    seal = hmac.digest(key.encode(), f"device {name} {mark}".encode(), "sha256")
    return f"{mark}.{seal.hex()}"


def check_password(programme: Programme, name: str, password: str) -> Account | None:
    """Return the account, if the password is its own; it takes as long for names nobody has."""
    own = accounts.c.name == composed(name).strip()
    with programme.store.open().reading() as connection:
        found = connection.execute(_ACCOUNTS.where(own)).one_or_none()
        hashed = connection.execute(sql.select(accounts.c.hash).where(own)).scalar_one_or_none()
    hashed = hashed or _nobodys_hash()
    try:
        with _HASHING:
            _hasher().verify(hashed, password[:_LONGEST])
    except (VerificationError, InvalidHashError):
        return None
    return None if found is None else Account(*found)


def _hash_of(programme: Programme, name: str) -> str | None:
    chosen = sql.select(accounts.c.hash).where(accounts.c.name == name)
    with programme.store.open().reading() as connection:
        return connection.execute(chosen).scalar_one_or_none()


def open_session(programme: Programme, account: Account, device: str = "") -> str:
    """Begin a session and return its token, which is kept nowhere; ``device`` says in what."""
    token = secrets.token_urlsafe(32)
    with programme.store.writing() as connection:
        connection.execute(sessions.delete().where(~_lasts()))
        values = {"digest": _digest(token), "account": account.name, "device": device}
        connection.execute(sessions.insert().values(values))
        note(connection, f"{account.name} signed in.", moves=False)
    return token


def find_session(programme: Programme, token: str) -> Account | None:
    """Return whose session it is, if it has not ended."""
    own = sessions.c.digest == _digest(token)
    chosen = _ACCOUNTS.join(sessions, accounts.c.name == sessions.c.account)
    chosen = chosen.add_columns(sessions.c.at).where(own, _lasts())
    with programme.store.reading() as connection:
        found = connection.execute(chosen).one_or_none()
    if found is None:
        return None
    if found.at < now() - _NOTED:
        with programme.store.writing() as connection:
            connection.execute(sessions.update().where(own).values(at=now()))
    return Account(*found[:-1])


@dataclass(frozen=True)
class Session:
    """A browser in which somebody is signed in.

    Attributes
    ----------
    digest
        What it is known by; nobody gets in by it.
    device
        Which browser, as far as it says.
    began, at
        When it began, and when it was last used, in UTC.
    """

    digest: str
    device: str
    began: datetime
    at: datetime
    is_this: bool


def sessions_of(programme: Programme, name: str, token: str) -> list[Session]:
    """Return the sessions of an account, the one with ``token`` among them, the last used first."""
    fields = (sessions.c.digest, sessions.c.device, sessions.c.began, sessions.c.at)
    chosen = sql.select(*fields).where(sessions.c.account == name, _lasts())
    with programme.store.open().reading() as connection:
        rows = connection.execute(chosen.order_by(sessions.c.at.desc())).all()
    return [Session(row[0], row[1] or "", *row[2:], row[0] == _digest(token)) for row in rows]


def end_session_of(programme: Programme, name: str, digest: str) -> None:
    """End a session of an account."""
    own = sql.and_(sessions.c.account == name, sessions.c.digest == digest)
    with programme.store.writing() as connection:
        if connection.execute(sessions.delete().where(own)).rowcount:
            note(connection, f"{name} ended a session.", moves=False)


def _lasts() -> sql.ColumnElement[bool]:
    """Return which sessions have not ended."""
    time = now()
    return sql.and_(sessions.c.at >= time - _LIFETIME, sessions.c.began >= time - _LONGEST_SESSION)


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


def _hash(password: str, name: str) -> str:
    if not _SHORTEST <= len(password) <= _LONGEST:
        raise ProblemError(
            f"the password has {len(password)} characters; {_SHORTEST} to {_LONGEST} are wanted."
        )
    if len(set(password)) < _FEWEST_LETTERS:
        raise ProblemError(
            f"the password has {len(set(password))} different characters; at least "
            f"{_FEWEST_LETTERS} are wanted."
        )
    folded = password.casefold()
    if folded in _COMMON or folded.replace(name.casefold(), "") in ("", "123", "1234", "!"):
        raise ProblemError("the password is one of the first that is guessed; another is wanted.")
    with _HASHING:
        return _hasher().hash(password)


@cache
def _hasher() -> PasswordHasher:
    return PasswordHasher()


@cache
def _nobodys_hash() -> str:
    return _hasher().hash(secrets.token_urlsafe())


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
