"""When a programme last changed in a way that may change its plans."""

from datetime import date

import sqlalchemy as sql

from sequoia_programme.given import FILE as TRANSITIONS
from sequoia_programme.schema import journal
from sequoia_programme.settings import FILE, Programme


def standing(programme: Programme) -> str:
    """Return a text that is another one whenever records, settings or transitions changed.

    And on every day: what was published is not expected for ever.
    """
    last = sql.select(sql.func.max(journal.c.id)).where(journal.c.moves)
    with programme.store.open().reading() as connection:
        parts = [str(date.today()), str(connection.execute(last).scalar_one() or 0)]
    for name in (FILE, TRANSITIONS):
        path = programme.folder / name
        parts.append(str(path.stat().st_mtime_ns) if path.exists() else "")
    return "-".join(parts)
