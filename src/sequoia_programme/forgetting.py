"""Forget a person: delete or anonymise them, with everything that was derived from them."""

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import sqlalchemy as sql

from sequoia.errors import ProblemError
from sequoia.problem.names import closest, composed
from sequoia_programme.entries import find_name
from sequoia_programme.members import Member, members
from sequoia_programme.quality import FILE as QUALITY
from sequoia_programme.schema import (
    ARM,
    WORKER,
    absences,
    answers,
    drafts,
    journal,
    notes,
    outcomes,
    plans,
    roster,
    sightings,
    tasks,
    visits,
)
from sequoia_programme.settings import Programme
from sequoia_programme.space import heads
from sequoia_programme.store import note

# What stands for somebody who was forgotten, in lines of the journal.
SOMEBODY = "somebody"
# Where somebody lives is not kept of whoever is anonymous.
_PLACES = ("x", "y", "lat", "lon")


@dataclass(frozen=True)
class Forgotten:
    """What was done, and what is left to do by hand.

    Attributes
    ----------
    people
        How many were forgotten.
    rows
        How many rows were deleted or changed, by table.
    files
        Files of the folder that went.
    left
        Files of the folder that still name one of them.
    """

    people: int
    rows: Mapping[str, int]
    files: Sequence[str]
    left: Sequence[str]


def forget(
    programme: Programme,
    who: Sequence[str],
    *,
    left_before: date | None = None,
    anonymise: bool = False,
) -> Forgotten:
    """Delete people, or make them anonymous, in one transaction.

    Whoever is deleted leaves nothing in the log. Whoever is anonymous stays in it under a random
    name, without notes and places, so that estimates lose nothing. Of staff only names can go: what
    they did belongs to those whom they visited.

    Parameters
    ----------
    left_before
        All who left before this date, besides those who are named.
    """
    with programme.store.open().writing() as connection:
        arms, staff = members(connection, ARM), members(connection, WORKER)
        chosen = _find(who, arms, staff)
        if left_before is not None:
            gone = [one for one in arms if one.left is not None and one.left < left_before]
            chosen += [one for one in gone if one not in chosen]
        numbers = {one.id for one in staff}
        workers = [one for one in chosen if one.id in numbers]
        if workers and not anonymise:
            raise ProblemError(
                f"{workers[0].name} is on the staff, and visits are of those who were visited; "
                "--anonymise takes the name away."
            )
        rows: dict[str, int] = {}
        for one in chosen:
            role = WORKER if one in workers else ARM
            new = _anonymous(connection, programme, one, role, rows) if anonymise else ""
            if not anonymise:
                _delete(connection, one, rows)
            _replace_in_words(
                connection, one.name, new or SOMEBODY, is_gone=not anonymise, rows=rows
            )
        if chosen:
            verb = "Made anonymous" if anonymise else "Deleted"
            note(connection, f"{verb}: {len(chosen)}.")
    files = _remove_files(programme.folder) if chosen else []
    return Forgotten(len(chosen), rows, files, _still_named(programme.folder, chosen))


def _find(who: Sequence[str], arms: Sequence[Member], staff: Sequence[Member]) -> list[Member]:
    everyone = {one.name: one for one in (*staff, *arms)}
    found = []
    for text in who:
        name = find_name(composed(text), list(everyone))
        if name is None:
            raise ProblemError(f"nobody is called {text!r}{closest(text, list(everyone))}.")
        found.append(everyone[name])
    return list({one.id: one for one in found}.values())


def _delete(connection: sql.Connection, one: Member, rows: dict[str, int]) -> None:
    for table, column in (
        *((sightings, "arm"), (visits, "arm"), (outcomes, "arm")),
        *((absences, "member"), (notes, "member")),
    ):
        _count(rows, table, connection.execute(table.delete().where(table.c[column] == one.id)))
    _count(rows, tasks, connection.execute(tasks.delete().where(tasks.c.who == one.name)))
    _count(rows, roster, connection.execute(roster.delete().where(roster.c.id == one.id)))


def _anonymous(
    connection: sql.Connection,
    programme: Programme,
    one: Member,
    role: str,
    rows: dict[str, int],
) -> str:
    """Give somebody a random name, and keep only what plans need; return the name."""
    new = f"Person {secrets.token_hex(4)}"
    useful = {name.casefold() for name in heads(programme, role)} - set(_PLACES)
    facts = {key: text for key, text in one.facts.items() if key.casefold() in useful}
    own = roster.update().where(roster.c.id == one.id)
    _count(rows, roster, connection.execute(own.values(name=new, facts=facts)))
    deleted = notes.delete().where(notes.c.member == one.id)
    _count(rows, notes, connection.execute(deleted))
    for table in (sightings, visits, outcomes):
        silent = table.update().where(table.c.arm == one.id, table.c.note != "").values(note="")
        _count(rows, table, connection.execute(silent))
    for table, column in ((tasks, "who"), (tasks, "by"), (visits, "by"), (outcomes, "by")):
        if (column == "who") is (role == ARM):
            renamed = table.update().where(table.c[column] == one.name).values({column: new})
            _count(rows, table, connection.execute(renamed))
    return new


def _replace_in_words(
    connection: sql.Connection, name: str, new: str, *, is_gone: bool, rows: dict[str, int]
) -> None:
    """Take a name out of wishes, of the journal and of answers that are kept for a while."""
    whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    for table in (drafts, plans):
        for number, wishes in connection.execute(sql.select(table.c.id, table.c.overrides)).all():
            if not whole.search(json.dumps(wishes, ensure_ascii=False)):
                continue
            other = {
                key: [
                    whole.sub(new, text) for text in texts if not (is_gone and whole.search(text))
                ]
                for key, texts in wishes.items()
            }
            change = table.update().where(table.c.id == number).values(overrides=other)
            _count(rows, table, connection.execute(change))
    # Answers that are kept for whoever sends a request again; nobody misses one.
    deleted = answers.delete().where(answers.c.body.contains(name))
    _count(rows, answers, connection.execute(deleted))
    named = sql.select(journal.c.id, journal.c.words).where(journal.c.words.contains(name))
    for number, words in connection.execute(named).all():
        change = journal.update().where(journal.c.id == number).values(words=whole.sub(new, words))
        _count(rows, journal, connection.execute(change))


def _count(rows: dict[str, int], table: sql.Table, done: Any) -> None:
    if done.rowcount:
        rows[table.name] = rows.get(table.name, 0) + done.rowcount


def _remove_files(folder: Path) -> list[str]:
    """Remove what is computed from records and names people; it is computed again."""
    path = folder / QUALITY
    if not path.exists():
        return []
    path.unlink()
    return [path.name]


def _still_named(folder: Path, people: Sequence[Member]) -> list[str]:
    """Return files of the folder that still hold a name, or may: copies of the database do."""
    needles = [one.name.encode() for one in people]
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in (".csv", ".db", ".xlsx", ".html", ".ics", ".json"):
            is_packed = path.suffix == ".xlsx"
            content = path.read_bytes()
            if people and (is_packed or any(needle in content for needle in needles)):
                found.append(path.relative_to(folder).as_posix())
    return found
