"""The log of a database as arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import sqlalchemy as sql

from sequoia.errors import FileError
from sequoia.problem.names import closest, count
from sequoia.records.log import Log
from sequoia.validation import IntArray
from sequoia_programme.members import Member
from sequoia_programme.plans import PlannedTask
from sequoia_programme.schema import sightings, visits
from sequoia_programme.settings import Programme

# So many arms are asked for by number; more, by reading everybody's rows.
_FEW = 100


@dataclass(frozen=True, eq=False)
class DatedLog:
    """A log, and what its numbers mean.

    Attributes
    ----------
    arms
        Everybody in it, in the order of its arms.
    groups
        The names of its groups.
    offset
        The calendar's number of the log's step 0.
    """

    log: Log
    arms: Sequence[Member]
    groups: Sequence[str]
    offset: int


def to_log(
    programme: Programme,
    connection: sql.Connection,
    arms: Sequence[Member],
    day: date,
    expected: Sequence[PlannedTask] = (),
) -> DatedLog:
    """Return what was known when the step of ``day`` began: its sightings, and all before.

    Of several sightings in a step the last counts, of several visits the largest dose.

    Parameters
    ----------
    expected
        Visits that are taken to have happened, besides those that are recorded.
    """
    now = programme.calendar.step_of(day)
    place = {arm.id: index for index, arm in enumerate(arms)}
    level = {name: number for number, name in enumerate(programme.doses, start=1)}
    state = {name: number for number, name in enumerate(programme.states)}
    seen = _events(programme, connection, sightings, "state", place, state)
    seen = seen[seen[:, 1] <= now]
    given = _events(programme, connection, visits, "dose", place, level)
    given = np.concatenate([_steps_of(programme, expected, arms, level), given[given[:, 1] < now]])
    first = np.concatenate([seen, given])
    begins = np.full(len(arms), now)
    np.minimum.at(begins, first[:, 0], first[:, 1])
    came = np.array(
        [
            min(now, begins[i] if arm.joined is None else programme.calendar.step_of(arm.joined))
            for i, arm in enumerate(arms)
        ],
        dtype=np.int64,
    )
    gone = np.array([_end(programme, arm, now) for arm in arms], dtype=np.int64)
    offset = int(came.min(initial=now))
    groups = sorted({arm.group for arm in arms})
    log = Log(
        group=[groups.index(arm.group) for arm in arms],
        n_steps=now - offset,
        sightings=_one_each(seen, offset),
        visits=_one_each(given, offset),
        joined=came - offset,
        left=np.maximum(gone, came) - offset,
    )
    return DatedLog(log, arms, groups, offset)


def _end(programme: Programme, arm: Member, now: int) -> int:
    """Return the first step after an arm's last."""
    if arm.left is None:
        return now + 1
    return min(now, programme.calendar.step_of(arm.left - timedelta(days=1))) + 1


def _events(
    programme: Programme,
    connection: sql.Connection,
    table: sql.Table,
    field: str,
    place: Mapping[int, int],
    number: Mapping[str, int],
) -> IntArray:
    """Return arm, step of the calendar and number of each row of a table, in their order."""
    chosen = sql.select(table.c.arm, table.c.date, table.c[field]).order_by(table.c.date)
    if len(place) <= _FEW:
        chosen = chosen.where(table.c.arm.in_(list(place)))
    rows = [tuple(row) for row in connection.execute(chosen) if row.arm in place]
    unknown = {value for _, _, value in rows} - set(number)
    if unknown:
        name = min(unknown)
        times = sum(value == name for _, _, value in rows)
        raise FileError(
            f"the log has {count(times, 'row')} with the {field} {name!r}, which {programme.where} "
            f"does not name{closest(name, list(number))}; sequoia programme rename gives it "
            "another name."
        )
    steps = programme.calendar.steps_of([day for _, day, _ in rows])
    found = [
        (place[arm], step, number[value])
        for (arm, _, value), step in zip(rows, steps.tolist(), strict=True)
    ]
    if field == "dose":
        # The largest of a step comes last.
        found.sort(key=lambda event: event[2])
    return np.array(found, dtype=np.int64).reshape(len(found), 3)


def _steps_of(
    programme: Programme,
    expected: Sequence[PlannedTask],
    arms: Sequence[Member],
    level: Mapping[str, int],
) -> IntArray:
    """Return arm, step of the calendar and dose of visits that are taken to have happened."""
    place = {arm.name: index for index, arm in enumerate(arms) if expected}
    steps = programme.calendar.steps_of([task.date for task in expected]).tolist()
    rows = [
        (place[task.who], step, level[task.dose])
        for task, step in zip(expected, steps, strict=True)
        if task.dose in level and task.who in place and arms[place[task.who]].is_member(task.date)
    ]
    return np.array(rows, dtype=np.int64).reshape(len(rows), 3)


def _one_each(events: IntArray, offset: int) -> IntArray:
    """Return the last event of each arm and step, with steps from 0."""
    last = {(arm, step): value for arm, step, value in events.tolist()}
    rows = [(arm, step - offset, value) for (arm, step), value in last.items()]
    return np.array(rows, dtype=np.int64).reshape(len(rows), 3)
