"""Published is promised: visits that the next plans take as going to happen."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

import sqlalchemy as sql

from sequoia_programme.plans import PlannedTask, plans_between
from sequoia_programme.schema import outcomes, roster, visits
from sequoia_programme.settings import Programme

# What is said of somebody whose visit is taken to happen, before its date.
DUE = ", visit expected on "


def expected_visits(
    programme: Programme,
    connection: sql.Connection,
    day: date,
    today: date,
    ahead: Mapping[date, Sequence[PlannedTask]],
) -> list[PlannedTask]:
    """Return the published visits before the step of ``day`` that are taken to happen.

    These are visits of which nothing is recorded: neither that they were made nor that they were
    not. One that nobody recorded by the end of the day after it is not taken to have happened.

    Parameters
    ----------
    today
        The date on which the plan is made.
    ahead
        Visits by the date of their plan, which take the place of published ones.
    """
    calendar = programme.calendar
    now = calendar.step_of(day)
    # A step back from the step before: a week's plan has visits until its last day.
    first = calendar.date_of(calendar.step_of(min(today, day)) - 2)
    published = {plan.date: plan.tasks for plan in plans_between(connection, first, day)}
    plans = {**published, **ahead}
    tasks = [task for date_of in sorted(plans) if date_of < day for task in plans[date_of]]
    if not tasks:
        return []
    happened = set[tuple[str, int]]()
    for table in (visits, outcomes):
        chosen = sql.select(roster.c.name, table.c.date).join(roster, roster.c.id == table.c.arm)
        rows = connection.execute(chosen.where(table.c.date.between(first, day))).all()
        steps = calendar.steps_of([when for _, when in rows]).tolist()
        happened |= {(who, step) for (who, _), step in zip(rows, steps, strict=True)}
    places = [(task, calendar.step_of(task.date)) for task in tasks]
    return [
        task
        for task, step in places
        if step < now and (task.who, step) not in happened and today <= _settled(programme, task)
    ]


def _settled(programme: Programme, task: PlannedTask) -> date:
    """Return the last day on which a visit that nobody recorded is taken to happen."""
    calendar = programme.calendar
    if calendar.step == "week":
        return task.date + timedelta(days=1)
    return calendar.date_of(calendar.step_of(task.date) + 1)
