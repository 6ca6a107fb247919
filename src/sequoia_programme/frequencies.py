"""How often people are visited, as promised: at least, at most, exactly; in days of the calendar.

A promise is a row of the plan's rules: somebody who is due is visited, somebody who was visited
a short while ago is not. So a plan keeps it, a conflict names it, and its price is that of a wish.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

import numpy as np
import sqlalchemy as sql

from sequoia.errors import FileError
from sequoia.planning.overrides import Wish
from sequoia.problem import ActionSpace, Floor, Rules, with_rules
from sequoia.problem.names import count
from sequoia.problem.tables import TableSet
from sequoia.validation import ActionArray
from sequoia_programme.columns import Columns
from sequoia_programme.members import Member
from sequoia_programme.outcomes import ATTEMPTS
from sequoia_programme.plans import PlannedTask
from sequoia_programme.schema import outcomes, visits
from sequoia_programme.settings import Programme
from sequoia_programme.space import PROMISED

# Visits that are due in so many steps are made room for, from today on.
_AHEAD = 20
# After so many who do not fit, one after the other, hardly anybody does.
_MOST_MISSES = 20
_LONGEST = 3660


@dataclass(frozen=True)
class Due:
    """Somebody to whom a visit is promised.

    Attributes
    ----------
    by
        The last date of the calendar on which a visit keeps the promise.
    why
        The promise, in words.
    """

    who: str
    by: date
    why: str


@dataclass(frozen=True)
class Promised:
    """What is promised for a day.

    Attributes
    ----------
    due
        Whom to visit, the nearest dates first; those before the day are overdue.
    closed
        Who was visited too short a while ago, and why, in words.
    """

    due: Sequence[Due] = ()
    closed: Mapping[str, str] = field(default_factory=dict)


def find_promised(
    programme: Programme,
    connection: sql.Connection,
    arms: Sequence[Member],
    day: date,
    expected: Sequence[PlannedTask],
) -> Promised:
    """Return what is promised to ``arms`` on a day.

    A promise counts from the last visit; from when somebody joined, or the programme began, where
    there was none. Visits that are ``expected`` count, and attempts where the settings say so.
    """
    groups, counts_attempts = _read(programme)
    terms = {one.name: _terms(one, groups.get(one.group, {})) for one in arms}
    if not any(any(own) for own in terms.values()):
        return Promised()
    last = _last_visits(connection, day, counts_attempts)
    planned = {task.who: task.date for task in expected}
    due, closed = [], {}
    for one in arms:
        every, apart, once = terms[one.name]
        when = max((d for d in (last.get(one.id), planned.get(one.name)) if d), default=None)
        since = when or one.joined or programme.calendar.start
        if every:
            by = since + timedelta(days=every)
            due.append(Due(one.name, by, f"at least every {count(every, 'day')}"))
        if apart and when is not None and (day - when).days < apart:
            closed[one.name] = f"not within {count(apart, 'day')}"
        if once:
            start = programme.calendar.start
            begins = start + timedelta(days=(day - start).days // once * once)
            ends = begins + timedelta(days=once - 1)
            if when is not None and when >= begins:
                closed[one.name] = f"exactly once from {begins} to {ends}"
            elif one.left is None or one.left > ends:
                due.append(Due(one.name, ends, f"exactly once in {count(once, 'day')}"))
    return Promised(sorted(due, key=lambda one: (one.by, one.who)), closed)


def promise_wishes(
    programme: Programme,
    columns: Columns,
    promised: Promised,
    space: ActionSpace,
    day: date,
    rules: Rules,
    workers: Sequence[Member],
) -> list[Wish]:
    """Return what promises ask of a day, as wishes; what is settled otherwise goes before them.

    Whoever is due is visited. Whoever is due soon is, if later days have no room for all. Whoever
    is overdue is, as far as there is room.

    Parameters
    ----------
    space
        What may be done on any day.
    rules
        Wishes, absences and whatever else holds for the day.
    """
    must, never = _arms(columns, rules.must), _arms(columns, rules.never)
    barred = {name: why for name, why in promised.closed.items() if name not in must}
    due = [one for one in promised.due if one.who not in never and one.who not in barred]
    wishes = [
        Wish(f"{name} is not visited ({why})", columns.rules(Rules(never=[name])))
        for name, why in barred.items()
    ]
    in_time = [one for one in due if one.by >= day]
    needed = _needed_today(programme, columns, in_time, space, day, workers)
    today = _room_of(space, rules)
    first = _action(columns, [*must, *(one.who for one in needed)])
    late, _ = _fill(columns, today, first, [one for one in due if one.by < day])
    return [*wishes, *(_wish(columns, one) for one in [*needed, *late])]


def least_relaxation(
    columns: Columns, promised: Promised, space: ActionSpace, day: date, rules: Rules
) -> list[Due]:
    """Return whom not to visit today, so that all others who are due by then can be."""
    never = _arms(columns, rules.never)
    due = [one for one in promised.due if one.by == day and one.who not in never]
    first = _action(columns, list(_arms(columns, rules.must)))
    return _fill(columns, _room_of(space, rules), first, due)[1]


def _wish(columns: Columns, one: Due) -> Wish:
    """Return the wish that somebody is visited; its row says why."""
    group = f"{one.who} (due by {one.by}: {one.why})"
    rules = Rules(groups={group: columns.of(one.who)}, floors=[Floor(group, count=1)])
    return Wish(f"{one.who} is visited (due by {one.by}: {one.why})", rules)


def _needed_today(
    programme: Programme,
    columns: Columns,
    due: Sequence[Due],
    space: ActionSpace,
    day: date,
    workers: Sequence[Member],
) -> list[Due]:
    """Return whom to visit today, so that everybody who is due can be visited in time.

    From the last step back, each step takes as many as it has room for of those who are due then or
    were left over from later ones; who is left over at the first step is needed today.
    """
    calendar = programme.calendar
    now = calendar.step_of(day)
    steps: dict[int, list[Due]] = {}
    for one in due:
        # The last step that begins by then.
        last = calendar.step_of(one.by)
        last -= calendar.date_of(last) > one.by
        if last - now < _AHEAD:
            steps.setdefault(max(0, last - now), []).append(one)
    left: list[Due] = []
    for ahead in range(max(steps, default=0), 0, -1):
        waiting = [*steps.get(ahead, []), *left]
        then = calendar.date_of(now + ahead)
        away = Rules(absent=[one.name for one in workers if one.is_away(then)])
        _, left = _fill(columns, _room_of(space, away), _action(columns, []), waiting)
    return [*steps.get(0, []), *left]


def _room_of(space: ActionSpace, rules: Rules) -> ActionSpace:
    """Return a space with only those rules under which fewer visits are always allowed."""
    both = space.rules.and_also(rules)
    return with_rules(
        space.base,
        Rules(
            never=both.never,
            at_most_one=both.at_most_one,
            absent=both.absent,
            hours=both.hours,
            bars=both.bars,
            most=both.most,
        ),
    )


def _fill(
    columns: Columns, room: ActionSpace, action: ActionArray, due: Sequence[Due]
) -> tuple[list[Due], list[Due]]:
    """Return who fits beside an action, one after the other, and who does not."""
    taken: list[Due] = []
    left: list[Due] = []
    misses = 0
    for one in due:
        more = np.maximum(action, _action(columns, [one.who]))
        if misses < _MOST_MISSES and room.contains(more[None])[0]:
            action, misses = more, 0
            taken.append(one)
        else:
            misses += 1
            left.append(one)
    return taken, left


def _arms(columns: Columns, actions: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(columns.arms[columns.arm_of(name)] for name in actions))


def _action(columns: Columns, who: Sequence[str]) -> ActionArray:
    """Return the action of visiting some people, each with their first dose."""
    names = {columns.of(one)[0] for one in who}
    return np.array([name in names for name in columns.names], dtype=np.int8)


def _last_visits(connection: sql.Connection, day: date, counts_attempts: bool) -> dict[int, date]:
    """Return the date of the last visit before a day, by the number of the arm."""
    found: dict[int, date] = {}
    tables = [visits, outcomes] if counts_attempts else [visits]
    for table in tables:
        which = table.c.kind.in_(ATTEMPTS) if table is outcomes else sql.true()
        chosen = sql.select(table.c.arm, sql.func.max(table.c.date)).where(
            table.c.date < day, which
        )
        for arm, when in connection.execute(chosen.group_by(table.c.arm)):
            found[arm] = max(when, found.get(arm, when))
    return found


def _read(programme: Programme) -> tuple[dict[str, dict[str, int]], bool]:
    """Return the promises of groups, and whether attempts keep them."""
    content = TableSet(programme.promises, where=f"{programme.where} [promises]")
    counts = content.option("attempts", bool, False)
    groups = {}
    for name, own in content.option("groups", dict, {}).items():
        part = content.part(own if type(own) is dict else {}, f"{content.where} groups.{name}")
        part.known(set(PROMISED))
        groups[name] = {
            key: part.option(key, int, 0, least=0, most=_LONGEST) for key in part.options
        }
    content.option("same_worker", bool, False)
    content.known({"attempts", "groups", "same_worker"})
    content.settle()
    return groups, counts


def wants_same_worker(programme: Programme) -> bool:
    """Whether the worker of last time comes again where that takes nothing from anybody."""
    return programme.promises.get("same_worker", False) is True


def _terms(one: Member, group: Mapping[str, int]) -> tuple[int, int, int]:
    """Return every, apart and once in, in days, 0 for none; the roster goes before the group."""
    own = []
    for column in PROMISED:
        text = one.facts.get(column, "")
        if not text:
            own.append(group.get(column, 0))
            continue
        if not text.isdecimal() or int(text) > _LONGEST:
            raise FileError(
                f"the roster, {one.name}, column {column!r} is {text!r}; a number of days up to "
                f"{_LONGEST} is wanted."
            )
        own.append(int(text))
    every, apart, once = own
    if once and (every or apart):
        raise FileError(f"the roster, {one.name} has 'once in' beside 'every' or 'apart'.")
    if every and apart > every:
        raise FileError(
            f"the roster, {one.name} is promised a visit every {count(every, 'day')}, but none "
            f"within {apart}; that is a contradiction."
        )
    return every, apart, once
