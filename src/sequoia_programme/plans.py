"""Plans as they are kept: the tasks of a day, why they are so, and what was overridden."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime

import sqlalchemy as sql

from sequoia_programme.schema import now, plans, tasks


@dataclass(frozen=True)
class PlannedTask:
    """One line of a plan.

    Attributes
    ----------
    by, when
        The worker and the slot; empty where there is none.
    who, dose
        Whom to act on, and what to give.
    minutes
        How long it takes; ``None`` where nobody knows.
    state
        What is known of the state, in words.
    gain
        What the task is worth, against leaving it.
    """

    date: date
    by: str
    when: str
    who: str
    dose: str
    minutes: float | None
    state: str
    gain: float


@dataclass(frozen=True)
class StoredPlan:
    """The plan of a step.

    Attributes
    ----------
    date
        The first date of the step.
    policy, reason
        Which policy made it, and why that one.
    overrides
        What somebody asked for, by option, such as ``{"must": ["Ada"]}``.
    made
        When it was made, in UTC.
    """

    date: date
    policy: str
    reason: str
    overrides: Mapping[str, Sequence[str]]
    tasks: Sequence[PlannedTask]
    made: datetime = field(default_factory=now)

    @property
    def digest(self) -> str:
        """A hash of all but the time, and the words of reasons."""
        content = {
            "date": str(self.date),
            "policy": self.policy,
            "overrides": {key: list(self.overrides[key]) for key in sorted(self.overrides)},
            "tasks": [[str(value) for value in asdict(one).values()] for one in self.tasks],
        }
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def keep(connection: sql.Connection, plan: StoredPlan) -> bool:
    """Keep a plan as the one that holds for its date; return whether it is a new one.

    The same plan made twice is kept once.
    """
    same = sql.and_(plans.c.date == plan.date, plans.c.digest == plan.digest)
    if connection.execute(plans.update().where(same).values(at=now())).rowcount:
        return False
    made = connection.execute(
        plans.insert().values(
            date=plan.date,
            digest=plan.digest,
            policy=plan.policy,
            reason=plan.reason,
            overrides={key: list(value) for key, value in plan.overrides.items()},
        )
    )
    (number,) = made.inserted_primary_key or (None,)
    rows = [
        {"plan": number, "position": position, **asdict(one)}
        for position, one in enumerate(plan.tasks)
    ]
    if rows:
        connection.execute(tasks.insert(), rows)
    return True


def plans_between(connection: sql.Connection, first: date, last: date) -> list[StoredPlan]:
    """Return the plan that holds for each date, of those that begin in a range, in order."""
    chosen = (
        sql.select(plans)
        .where(plans.c.date.between(first, last))
        .order_by(plans.c.date, plans.c.at, plans.c.id)
    )
    holding = {one["date"]: one for one in connection.execute(chosen).mappings()}
    return [
        StoredPlan(
            date=one["date"],
            policy=one["policy"],
            reason=one["reason"],
            overrides=one["overrides"],
            tasks=_tasks_of(connection, one["id"]),
            made=one["at"],
        )
        for one in holding.values()
    ]


def remove_last(connection: sql.Connection, day: date) -> None:
    """Remove the plan that holds for a date, so that the one before it does."""
    last = sql.select(plans.c.id).where(plans.c.date == day)
    number = connection.execute(
        last.order_by(plans.c.at.desc(), plans.c.id.desc()).limit(1)
    ).scalar_one()
    connection.execute(tasks.delete().where(tasks.c.plan == number))
    connection.execute(plans.delete().where(plans.c.id == number))


def _tasks_of(connection: sql.Connection, plan: int) -> list[PlannedTask]:
    fields = [tasks.c[name] for name in PlannedTask.__dataclass_fields__]
    chosen = sql.select(*fields).where(tasks.c.plan == plan).order_by(tasks.c.position)
    return [PlannedTask(**one) for one in connection.execute(chosen).mappings()]


def planned_by(connection: sql.Connection, day: date, who: str) -> str:
    """Return who was to visit somebody, by the plan of the step that begins on ``day``."""
    chosen = (
        sql.select(tasks.c.by)
        .join(plans, plans.c.id == tasks.c.plan)
        .where(plans.c.date == day, tasks.c.who == who)
        .order_by(plans.c.at.desc(), plans.c.id.desc())
        .limit(1)
    )
    return str(connection.execute(chosen).scalar_one_or_none() or "")
