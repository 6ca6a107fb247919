"""What became of plans: what was done, what was left, what was done besides."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import sqlalchemy as sql

from sequoia.errors import ProblemError
from sequoia.problem.names import closest
from sequoia_programme.calendar import LAST
from sequoia_programme.entries import find_name
from sequoia_programme.members import Member, members
from sequoia_programme.plans import PlannedTask, StoredPlan, plans_between
from sequoia_programme.schema import ARM, journal, outcomes, roster, sightings, visits
from sequoia_programme.settings import Programme

# What stands beside a record.
_SAID = ("time", "note")


@dataclass(frozen=True)
class Event:
    """A visit, a sighting or another outcome, its ``kind``; what it was not is empty."""

    date: date
    who: str
    state: str
    by: str
    dose: str
    kind: str = ""
    time: str = ""
    note: str = ""


@dataclass(frozen=True)
class Outcome:
    """A task, and what became of it.

    Attributes
    ----------
    visit
        The visit in its step; ``None`` where there was none.
    instead
        What is recorded instead, such as nobody at home.
    """

    task: PlannedTask
    visit: Event | None
    instead: Event | None = None


@dataclass(frozen=True)
class PlanHistory:
    """A plan, what became of each task, and the visits that it did not have."""

    plan: StoredPlan
    outcomes: Sequence[Outcome]
    besides: Sequence[Event]

    @property
    def done(self) -> int:
        """How many tasks were done."""
        return sum(one.visit is not None for one in self.outcomes)


def events(
    connection: sql.Connection, first: date, last: date, who: Member | None = None
) -> list[Event]:
    """Return visits with what they showed, other sightings and other outcomes, by date."""

    def chosen(table: sql.Table, *fields: str) -> sql.Select[Any]:
        columns = [roster.c.name, *(table.c[name] for name in ("date", *fields))]
        rows = sql.select(*columns).join(roster, roster.c.id == table.c.arm).order_by(table.c.id)
        rows = rows.where(table.c.date.between(first, last))
        return rows if who is None else rows.where(table.c.arm == who.id)

    seen = {row[:2]: row[2:] for row in connection.execute(chosen(sightings, "state", *_SAID))}
    found, visited = [], set()
    for name, day, by, dose, *said in connection.execute(chosen(visits, "by", "dose", *_SAID)):
        visited.add((name, day))
        state = seen.get((name, day), ("",))[0]
        found.append(Event(day, name, state, by, dose, "", *said))
    for (name, day), (state, *said) in seen.items():
        if (name, day) not in visited:
            found.append(Event(day, name, state, "", "", "", *said))
    for name, day, by, kind, *said in connection.execute(chosen(outcomes, "by", "kind", *_SAID)):
        found.append(Event(day, name, "", by, "", kind, *said))
    return sorted(found, key=lambda one: (one.date, one.who, one.by))


def find_history(programme: Programme, first: date, last: date) -> list[PlanHistory]:
    """Return the plans of a range of dates, the last first, and what became of them."""
    calendar = programme.calendar
    with programme.store.open().reading() as connection:
        plans = plans_between(connection, first, last)
        # A week's plan has visits until its Sunday.
        end = min(last, LAST) + timedelta(days=7)
        happened = [one for one in events(connection, first, end) if one.dose or one.kind]
    by_step: dict[int, list[Event]] = {}
    for event in happened:
        by_step.setdefault(calendar.step_of(event.date), []).append(event)
    return [_became(plan, by_step.get(calendar.step_of(plan.date), [])) for plan in reversed(plans)]


def find_visits(programme: Programme, day: date) -> list[Event]:
    """Return the visits in the step of a date."""
    calendar = programme.calendar
    step = calendar.step_of(day)
    first, last = calendar.date_of(step), calendar.date_of(step + 1) - timedelta(days=1)
    with programme.store.open().reading() as connection:
        return [one for one in events(connection, first, last) if one.dose]


def _became(plan: StoredPlan, happened: Sequence[Event]) -> PlanHistory:
    left = [one for one in happened if one.dose]
    others = {one.who: one for one in happened if one.kind}
    became = []
    for task in plan.tasks:
        own = [one for one in left if one.who == task.who]
        # Several visits to one arm are told apart by date, then by worker.
        own.sort(key=lambda one: (one.date != task.date, one.by != task.by))
        visit = own[0] if own else None
        if visit is not None:
            left.remove(visit)
        became.append(Outcome(task, visit, others.get(task.who) if visit is None else None))
    return PlanHistory(plan, became, left)


def find_events(programme: Programme, who: str, first: date, last: date) -> tuple[str, list[Event]]:
    """Return the name of an arm and everything that happened with it."""
    with programme.store.open().reading() as connection:
        known = {one.name: one for one in members(connection, ARM)}
        name = find_name(who, list(known))
        if name is None:
            raise ProblemError(f"nobody is called {who!r}{closest(who, list(known))}.")
        return name, events(connection, first, last, known[name])


@dataclass(frozen=True)
class JournalLine:
    """What happened, when, in UTC, and whose account did it; nothing where it was the command."""

    at: datetime
    by: str
    words: str


def read_journal(programme: Programme, lines: int) -> list[JournalLine]:
    """Return the last lines of the journal, the last first."""
    fields = (journal.c.at, journal.c.by, journal.c.words)
    chosen = sql.select(*fields).order_by(journal.c.id.desc()).limit(lines)
    with programme.store.open().reading() as connection:
        return [JournalLine(at, by or "", words) for at, by, words in connection.execute(chosen)]


def find_journal(programme: Programme, lines: int) -> list[str]:
    """Return the last lines of the journal in words, the last first."""
    return [
        f"{one.at:%Y-%m-%d %H:%M} UTC  {f'{one.by}: ' if one.by else ''}{one.words}"
        for one in read_journal(programme, lines)
    ]
