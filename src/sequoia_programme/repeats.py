"""Requests that may be sent twice, because an answer got lost, and are done once."""

from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sql

from sequoia_programme.schema import answers, now
from sequoia_programme.settings import Programme

# Nobody sends a request again so long after it.
_REMEMBERED = timedelta(days=1)


class Repeated(Exception):
    """A key was used for something else, or what it was used for has no answer yet."""


@dataclass(frozen=True)
class Answer:
    """What was answered."""

    status: int
    body: str


def begin_answer(
    programme: Programme, key: str, request: str, *, is_once: bool = False
) -> Answer | None:
    """Return what was answered to a key; ``None`` where it is new, and is worked on from now.

    Parameters
    ----------
    is_once
        Whether the request does no harm when it is done again: then one that was cut off is.

    Raises
    ------
    Repeated
        Where the key belongs to another request, or to one that is worked on or was cut off: then
        nobody knows whether it was done.
    """
    chosen = sql.select(answers).where(answers.c.key == key)
    with programme.store.open().writing() as connection:
        connection.execute(answers.delete().where(answers.c.at < now() - _REMEMBERED))
        found = connection.execute(chosen).mappings().one_or_none()
        if found is None:
            connection.execute(answers.insert().values(key=key, request=request))
            return None
    if found["request"] != request:
        raise Repeated("the key was used for another request")
    if found["status"] is None and is_once:
        return None
    if found["status"] is None:
        raise Repeated(
            "the request with this key has no answer yet; look whether it was done before you "
            "send it with another key"
        )
    return Answer(found["status"], found["body"])


def keep_answer(programme: Programme, key: str, status: int, body: str) -> None:
    """Keep what was answered to a key."""
    change = answers.update().where(answers.c.key == key).values(status=status, body=body)
    with programme.store.writing() as connection:
        connection.execute(change)


def drop_answer(programme: Programme, key: str) -> None:
    """Forget a key whose request did nothing."""
    with programme.store.writing() as connection:
        connection.execute(answers.delete().where(answers.c.key == key))
