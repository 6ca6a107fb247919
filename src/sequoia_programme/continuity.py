"""The same worker as last time, where that takes nothing from anybody."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date

import sqlalchemy as sql

from sequoia.planning.planner import DayPlan
from sequoia.problem import Lock, Rules, with_rules
from sequoia_programme.columns import Columns
from sequoia_programme.schema import roster, visits

# Who comes to whom there is a matter of the way.
_ON_ROUTES = ("walk", "team")


def last_workers(connection: sql.Connection, day: date) -> dict[str, str]:
    """Return who visited each arm last before a day, by the name of the arm."""
    chosen = (
        sql.select(roster.c.name, visits.c.by)
        .join(roster, roster.c.id == visits.c.arm)
        .where(visits.c.date < day, visits.c.by != "")
        .order_by(visits.c.date, visits.c.id)
    )
    return dict(tuple(row) for row in connection.execute(chosen))


def with_same_workers(found: DayPlan, columns: Columns, last: Mapping[str, str]) -> DayPlan:
    """Return a plan of the same visits, as many as can be by the worker of last time.

    Whom to visit is settled before, so it costs nothing. Visits are settled one after the other, at
    first those that are by the same worker already.
    """
    space, action = found.problem.space, found.decision.action
    if space.base.kind in _ON_ROUTES:
        return found
    now = {columns.arm_of(task.where): task.who for task in found.tasks}
    present = set(space.base.worker_names) - set(space.rules.absent)
    wanted = []
    for column in space.chosen(action):
        place = columns.arm_of(column)
        worker = last.get(columns.arms[place], "")
        if worker in present:
            wanted.append((worker != now.get(place), Lock(column, worker)))
    settled = with_rules(space, Rules())
    for _, lock in sorted(wanted, key=lambda pair: pair[0]):
        tried = with_rules(settled, Rules(locks=[lock]))
        if tried.contains(action[None])[0]:
            settled = tried
    if settled.rules == space.rules:
        return found
    problem = replace(found.problem, space=settled)
    return replace(found, problem=problem, decision=settled.certify(action))
