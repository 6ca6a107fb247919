"""People of a programme: found by name, looked at one by one, added, paused, gone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import numpy as np
import sqlalchemy as sql

from sequoia.errors import ProblemError
from sequoia.problem.names import closest, composed, flaw_of
from sequoia.problem.tables import TableSet
from sequoia.validation import FloatArray
from sequoia_programme.entries import find_name
from sequoia_programme.estimates import last_kernels
from sequoia_programme.history import Event, events
from sequoia_programme.importing import check_members
from sequoia_programme.members import ONE_GROUP, Member, Row, members, put_rows
from sequoia_programme.schema import ARM, WORKER, absences, notes, roster, sightings, visits
from sequoia_programme.settings import Programme
from sequoia_programme.space import as_table
from sequoia_programme.store import actor_of, casefolded, note
from sequoia_programme.to_log import DatedLog, to_log

# How somebody stands: in the programme, away for now, gone.
STANDINGS = ("here", "away", "gone")
_LONGEST_NOTE = 2000


@dataclass(frozen=True)
class PersonLine:
    """Somebody in a list.

    Attributes
    ----------
    seen, seen_on
        The state that was seen last, and when; empty and ``None`` where none was.
    visited_on
        When the last visit was.
    """

    name: str
    group: str
    standing: str
    seen: str
    seen_on: date | None
    visited_on: date | None


@dataclass(frozen=True)
class PeoplePage:
    """A page of a list: those on it, how many there are in all, and all groups."""

    people: Sequence[PersonLine]
    total: int
    groups: Sequence[str]


@dataclass(frozen=True)
class Note:
    """What somebody noted of a person, and when, in UTC."""

    words: str
    by: str
    at: datetime


@dataclass(frozen=True, eq=False)
class Person:
    """Somebody, and all that is known of them.

    Attributes
    ----------
    events
        Visits and sightings, the last first.
    dates, belief
        Dates of steps, and what was believed of the state when each began, ``(T, S)``; from the
        first sighting on.
    """

    member: Member
    standing: str
    events: Sequence[Event]
    notes: Sequence[Note]
    dates: Sequence[date]
    belief: FloatArray


def find_people(
    programme: Programme,
    day: date,
    *,
    search: str = "",
    group: str = "",
    standing: str = "",
    state: str = "",
    first: int = 0,
    most: int = 50,
) -> PeoplePage:
    """Return a page of the people whose name contains a text, by name.

    Parameters
    ----------
    group, standing, state
        Only those of a group, who stand so, or who were last seen in a state.
    first, most
        Where the page begins, and how many it holds.
    """
    gone = sql.or_(roster.c.left <= day, roster.c.joined > day)
    away = sql.exists().where(
        absences.c.member == roster.c.id, absences.c.first <= day, absences.c.last >= day
    )
    stands = sql.case((gone, STANDINGS[2]), (away, STANDINGS[1]), else_=STANDINGS[0])
    seen = _last(sightings.c.state, day)
    fields = (roster.c.name, roster.c.group, stands, seen)
    dates = (_last(sightings.c.date, day), _last(visits.c.date, day))
    with programme.store.open().reading() as connection:
        name = casefolded(connection, roster.c.name)
        asked = [roster.c.role == ARM]
        asked += [name.contains(composed(search).casefold(), autoescape=True)] if search else []
        asked += [roster.c.group == group] if group else []
        asked += [stands == standing] if standing else []
        asked += [seen == state] if state else []
        total = connection.execute(sql.select(sql.func.count(roster.c.id)).where(*asked))
        page = sql.select(*fields, *dates).where(*asked).order_by(name).offset(first).limit(most)
        groups = sql.select(roster.c.group).where(roster.c.role == ARM).distinct()
        return PeoplePage(
            [PersonLine(*row[:3], row[3] or "", *row[4:]) for row in connection.execute(page)],
            total.scalar_one(),
            sorted(connection.execute(groups).scalars()),
        )


def find_person(programme: Programme, who: str, day: date, steps: int = 40) -> Person:
    """Return all that is known of somebody, and what was believed in the last ``steps``."""
    with programme.store.open().reading() as connection:
        member = _member(connection, who)
        own = notes.c.member == member.id
        chosen = sql.select(notes.c.words, notes.c.by, notes.c.at).where(own)
        said = [Note(*row) for row in connection.execute(chosen.order_by(notes.c.id.desc()))]
        happened = events(connection, date.min, date.max, member)
        dated = to_log(programme, connection, [member], day)
        away = _away_on(connection, day)
    # Not while the first connection reads: between the two a writer may wait, and wait for it.
    dates, belief = _beliefs(programme, dated, steps)
    stands = _standing(member.id, member.joined, member.left, away, day)
    return Person(member, stands, list(reversed(happened)), said, dates, belief)


def add_person(
    programme: Programme, name: str, role: str, facts: dict[str, str], **values: Any
) -> None:
    """Add somebody to the roster, or change what is known of them.

    Parameters
    ----------
    role
        Whether they are visited or visit.
    facts
        Such as a cost or a capacity, by the name of the column.
    values
        ``group``, ``joined`` and ``left``, where they are said.
    """
    name = composed(name).strip()
    if flaw_of(name):
        raise ProblemError(f"the name is {name!r}; {flaw_of(name)}.")
    with programme.store.open().writing() as connection:
        if role == ARM and not values.get("group"):
            values.pop("group", None)
        new, changed = put_rows(connection, role, [Row(name, values, facts)])
        one = next(one for one in members(connection, role) if one.name == name)
        content = TableSet({})
        check_members(programme, connection, {role: as_table([one], name)}, content)
        content.settle()
        if new or changed:
            note(connection, f"{'Added' if new else 'Changed'} {name}.")


def set_left(programme: Programme, who: str, day: date | None) -> str:
    """Note that somebody leaves: ``day`` is the first without them; ``None`` brings them back."""
    with programme.store.open().writing() as connection:
        member = _member(connection, who)
        if day is not None and member.joined is not None and day <= member.joined:
            raise ProblemError(f"{member.name} joined on {member.joined}; a later date is wanted.")
        change = roster.update().where(roster.c.id == member.id).values(left=day)
        connection.execute(change)
        said = f"left on {day}" if day else "is in the programme again"
        note(connection, f"{member.name} {said}.")
    return member.name


def add_note(programme: Programme, who: str, words: str) -> str:
    """Note something about somebody."""
    words = composed(words).strip()
    if not words or len(words) > _LONGEST_NOTE:
        raise ProblemError(
            f"the note has {len(words)} characters; 1 to {_LONGEST_NOTE} are wanted."
        )
    with programme.store.open().writing() as connection:
        member = _member(connection, who)
        by = actor_of(connection)
        connection.execute(notes.insert().values(member=member.id, words=words, by=by))
        note(connection, f"Noted something about {member.name}.", moves=False)
    return member.name


def find_names(programme: Programme, search: str, most: int = 20) -> list[str]:
    """Return some names of people and staff that contain a text."""
    with programme.store.open().reading() as connection:
        name = casefolded(connection, roster.c.name)
        own = name.contains(composed(search).casefold(), autoescape=True)
        chosen = sql.select(roster.c.name).where(own).order_by(roster.c.name).limit(most)
        return list(connection.execute(chosen).scalars())


def _member(connection: sql.Connection, who: str) -> Member:
    chosen = sql.select(roster.c.name, roster.c.id).where(roster.c.role.in_((ARM, WORKER)))
    name: str | None = composed(who)
    numbers = _numbers(connection, chosen.where(roster.c.name == name))
    if not numbers:
        numbers = _numbers(connection, chosen)
        name = find_name(composed(who), list(numbers))
    if name is None:
        raise ProblemError(f"nobody is called {who!r}{closest(who, list(numbers))}.")
    row = sql.select(roster).where(roster.c.id == numbers[name])
    one = connection.execute(row).mappings().one()
    away = sql.select(absences.c.first, absences.c.last).where(absences.c.member == one["id"])
    times = tuple((first, last) for first, last in connection.execute(away))
    fields = {key: one[key] for key in ("id", "name", "group", "joined", "left", "facts")}
    return Member(**fields, away=times)


def _numbers(connection: sql.Connection, chosen: sql.Select[Any]) -> dict[str, int]:
    return {one.name: one.id for one in connection.execute(chosen)}


def _beliefs(programme: Programme, dated: DatedLog, steps: int) -> tuple[list[date], FloatArray]:
    """Return what was believed of somebody's state, step by step, from the first sighting on."""
    kernels = last_kernels(programme, dated.arms[0].group or ONE_GROUP)
    log = dated.log
    if kernels is None or not len(log.sightings):
        return [], np.zeros((0, len(programme.states)))
    seen = {int(step): int(state) for _, step, state in log.sightings}
    given = {int(step): int(level) for _, step, level in log.visits}
    about, found = np.zeros(len(programme.states)), []
    for step in range(min(seen), log.n_steps + 1):
        about = np.eye(len(about))[seen[step]] if step in seen else about
        found.append((programme.calendar.date_of(dated.offset + step), about))
        about = about @ kernels[given.get(step, 0)]
    found = found[-steps:]
    return [when for when, _ in found], np.array([own for _, own in found])


def _away_on(connection: sql.Connection, day: date) -> set[int]:
    chosen = sql.select(absences.c.member).where(absences.c.first <= day, absences.c.last >= day)
    return set(connection.execute(chosen).scalars())


def _standing(
    number: int, joined: date | None, left: date | None, away: set[int], day: date
) -> str:
    if (left is not None and left <= day) or (joined is not None and joined > day):
        return STANDINGS[2]
    return STANDINGS[1] if number in away else STANDINGS[0]


def notes_of(connection: sql.Connection) -> dict[int, list[str]]:
    """Return what was noted of each, the last first, by their number."""
    found: dict[int, list[str]] = {}
    chosen = sql.select(notes.c.member, notes.c.words).order_by(notes.c.id.desc())
    for member, words in connection.execute(chosen):
        found.setdefault(member, []).append(words)
    return found


def last_states(connection: sql.Connection, day: date) -> dict[int, str]:
    """Return the state in which each was seen last, by their number, where any was."""
    chosen = sql.select(sightings.c.arm, sightings.c.state).where(sightings.c.date <= day)
    rows = connection.execute(chosen.order_by(sightings.c.date))
    return {int(arm): str(state) for arm, state in rows}


def _last(field: sql.Column[Any], day: date) -> sql.ScalarSelect[Any]:
    """Return a field of the last row of each member up to a day."""
    table = field.table
    rows = sql.select(field).where(table.c.arm == roster.c.id, table.c.date <= day)
    return rows.order_by(table.c.date.desc()).limit(1).scalar_subquery()
