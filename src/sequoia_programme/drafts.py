"""What is wished for a date before its plan is published; every change can be undone."""

import re
from collections.abc import Mapping, Sequence
from datetime import date

import sqlalchemy as sql

from sequoia_programme.plans import plans_between
from sequoia_programme.schema import drafts, plans
from sequoia_programme.settings import Programme
from sequoia_programme.store import note

Overrides = Mapping[str, Sequence[str]]
# The option of a wish, and its text.
Wished = tuple[str, str]


def read_draft(connection: sql.Connection, day: date) -> Overrides | None:
    """Return what is wished for a date; ``None`` where nothing was changed since its plan."""
    chosen = sql.select(drafts.c.overrides).where(drafts.c.date == day)
    last = connection.execute(chosen.order_by(drafts.c.id.desc()).limit(1)).scalar_one_or_none()
    return None if last is None else dict(last)


def last_change(connection: sql.Connection, day: date) -> str:
    """Return a text that no other change of the wishes for a date has; empty where none was made.

    A number alone does not do: the database gives that of a row that is gone to the next one.
    """
    chosen = sql.select(drafts.c.id, drafts.c.at).where(drafts.c.date == day)
    last = connection.execute(chosen.order_by(drafts.c.id.desc()).limit(1)).one_or_none()
    return "" if last is None else f"{last.id}@{last.at.isoformat()}"


def same_wishes(one: Overrides, other: Overrides) -> bool:
    """Whether two sets of wishes ask for the same, in whichever order."""
    left, right = (
        {key: sorted(texts) for key, texts in wishes.items() if texts} for wishes in (one, other)
    )
    return left == right


def wishes_for(connection: sql.Connection, day: date) -> Overrides:
    """Return what is wished for a date: by the draft, or else by the plan that holds."""
    draft = read_draft(connection, day)
    if draft is not None:
        return draft
    published = plans_between(connection, day, day)
    return published[0].overrides if published else {}


def after_wish(
    before: Overrides,
    option: str,
    text: str,
    *,
    wanted: bool = True,
    instead: Wished | None = None,
) -> dict[str, list[str]]:
    """Return all wishes after one is added, in place of another if said, or taken back.

    A person who must be visited is no longer one who must not, and the other way round; the hours
    of a worker that were said last hold.
    """
    opposite = {"must": "never", "never": "must"}.get(option, "")
    after = {key: list(texts) for key, texts in before.items()}
    if instead is not None:
        after[instead[0]] = [one for one in after.get(instead[0], ()) if one != instead[1]]
    for key in (option, opposite) if wanted else (option,):
        after[key] = [one for one in after.get(key, ()) if one != text]
    if wanted and option == "hours":
        worker = text.rpartition("=")[0]
        after[option] = [one for one in after[option] if one.rpartition("=")[0] != worker]
    if wanted:
        after[option].append(text)
    return {key: texts for key, texts in after.items() if texts}


def set_wish(
    programme: Programme,
    day: date,
    option: str,
    text: str,
    *,
    wanted: bool = True,
    instead: Wished | None = None,
) -> Overrides:
    """Add a wish such as ``("must", "Ada")``, or take it back; return all (`after_wish`)."""
    with programme.store.open().writing() as connection:
        before = wishes_for(connection, day)
        after = after_wish(before, option, text, wanted=wanted, instead=instead)
        if after != before:
            put_draft(connection, day, after)
            verb = "Wished" if wanted else "No longer wished"
            note(connection, f"{verb} for {day}: {option} {text}.", moves=False)
            if instead is not None:
                gone = " ".join(instead)
                note(connection, f"No longer wished for {day}: {gone}.", moves=False)
    return after


def undo_wish(programme: Programme, day: date, change: str | None = None) -> bool:
    """Take the last change of the wishes back; return whether that was done.

    Parameters
    ----------
    change
        The `last_change` when somebody looked: where it is another one by now, nothing is taken
        back.
    """
    with programme.store.open().writing() as connection:
        last = last_change(connection, day)
        if not last or change not in (None, last):
            return False
        connection.execute(drafts.delete().where(drafts.c.id == int(last.partition("@")[0])))
        note(connection, f"Took back the last wish for {day}.", moves=False)
    return True


def rename_in_wishes(connection: sql.Connection, old: str, new: str) -> int:
    """Give somebody another name in all wishes; return in how many rows."""
    changed = 0
    for table in (drafts, plans):
        for number, wishes in connection.execute(sql.select(table.c.id, table.c.overrides)).all():
            other = {
                key: [_renamed(text, old, new) for text in texts] for key, texts in wishes.items()
            }
            if other != wishes:
                own = table.update().where(table.c.id == number)
                connection.execute(own.values(overrides=other))
                changed += 1
    return changed


def _renamed(text: str, old: str, new: str) -> str:
    """Return a wish such as ``"Anna=Ada@Mon"`` with another name."""
    parts = re.split(r"(^\w+:|\s*[=@>]\s*)", text)
    return new if text == old else "".join(new if part == old else part for part in parts)


def put_draft(connection: sql.Connection, day: date, overrides: Overrides) -> None:
    """Keep what is wished for a date after a change."""
    connection.execute(drafts.insert().values(date=day, overrides=dict(overrides)))


def clear_draft(connection: sql.Connection, day: date) -> None:
    """Forget all changes of the wishes for a date."""
    connection.execute(drafts.delete().where(drafts.c.date == day))
