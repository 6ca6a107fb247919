"""When a programme last changed in a way that may change its plans."""

import sqlalchemy as sql

from sequoia_programme.given import FILE as TRANSITIONS
from sequoia_programme.schema import journal
from sequoia_programme.settings import FILE, Programme


def standing(programme: Programme) -> str:
    """Return a text that is another one whenever records, settings or transitions changed."""
    last = sql.select(sql.func.max(journal.c.id)).where(journal.c.moves)
    with programme.store.open().reading() as connection:
        parts = [str(connection.execute(last).scalar_one() or 0)]
    for name in (FILE, TRANSITIONS):
        path = programme.folder / name
        parts.append(str(path.stat().st_mtime_ns) if path.exists() else "")
    return "-".join(parts)
