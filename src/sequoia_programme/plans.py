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
    made, published
        When it was made, and when it was published, in UTC; ``None`` where it was not.
    """

    date: date
    policy: str
    reason: str
    overrides: Mapping[str, Sequence[str]]
    tasks: Sequence[PlannedTask]
    made: datetime = field(default_factory=now)
    published: datetime | None = None

    @property
    def digest(self) -> str:
        """A hash of all but times, and the words of reasons."""
        content = {
            "date": str(self.date),
            "policy": self.policy,
            "overrides": {key: list(self.overrides[key]) for key in sorted(self.overrides)},
            "tasks": [[str(value) for value in asdict(one).values()] for one in self.tasks],
        }
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def keep(connection: sql.Connection, plan: StoredPlan, *, publishes: bool = False) -> bool:
    """Keep a plan as the proposed one of its date, or as the one that holds.

    The same plan made twice is kept once; an older proposal is forgotten. Return whether the plan
    is another one than before.
    """
    last = _last(connection, plan.date, plans.c.published if publishes else plans.c.at)
    same = sql.and_(plans.c.date == plan.date, plans.c.digest == plan.digest)
    times = {"at": now(), **({"published": now()} if publishes else {})}
    if not connection.execute(plans.update().where(same).values(**times)).rowcount:
        _insert(connection, plan, times)
    waste = sql.and_(plans.c.date == plan.date, plans.c.published.is_(None), sql.not_(same))
    numbers = sql.select(plans.c.id).where(waste)
    connection.execute(tasks.delete().where(tasks.c.plan.in_(numbers)))
    connection.execute(plans.delete().where(waste))
    return last is None or last["digest"] != plan.digest


def _insert(connection: sql.Connection, plan: StoredPlan, times: Mapping[str, datetime]) -> None:
    made = connection.execute(
        plans.insert().values(
            date=plan.date,
            digest=plan.digest,
            policy=plan.policy,
            reason=plan.reason,
            overrides={key: list(value) for key, value in plan.overrides.items()},
            **times,
        )
    )
    (number,) = made.inserted_primary_key or (None,)
    rows = [
        {"plan": number, "position": position, **asdict(one)}
        for position, one in enumerate(plan.tasks)
    ]
    if rows:
        connection.execute(tasks.insert(), rows)


def plans_between(connection: sql.Connection, first: date, last: date) -> list[StoredPlan]:
    """Return the published plan that holds for each date in a range, in order."""
    chosen = (
        sql.select(plans)
        .where(plans.c.date.between(first, last), plans.c.published.is_not(None))
        .order_by(plans.c.date, plans.c.published, plans.c.id)
    )
    holding = {one["date"]: one for one in connection.execute(chosen).mappings()}
    return [_plan(connection, one) for one in holding.values()]


def proposed(connection: sql.Connection, day: date) -> StoredPlan | None:
    """Return the plan that was made last for a date, published or not."""
    last = _last(connection, day, plans.c.at)
    return None if last is None else _plan(connection, last)


def changes(before: StoredPlan, after: StoredPlan) -> list[tuple[str, str, str]]:
    """Return who has another worker, or none: name, before and after; a tick for any worker."""
    old = {task.who: task.by or "✓" for task in before.tasks}
    new = {task.who: task.by or "✓" for task in after.tasks}
    return [
        (who, old.get(who, ""), new.get(who, ""))
        for who in dict.fromkeys([*old, *new])
        if old.get(who) != new.get(who)
    ]


def _last(
    connection: sql.Connection, day: date, when: sql.Column[datetime]
) -> sql.RowMapping | None:
    """Return the row of the plan of a date that was made, or published, last."""
    chosen = sql.select(plans).where(plans.c.date == day, when.is_not(None))
    ordered = chosen.order_by(when.desc(), plans.c.id.desc()).limit(1)
    return connection.execute(ordered).mappings().one_or_none()


def _plan(connection: sql.Connection, one: sql.RowMapping) -> StoredPlan:
    return StoredPlan(
        date=one["date"],
        policy=one["policy"],
        reason=one["reason"],
        overrides=one["overrides"],
        tasks=_tasks_of(connection, one["id"]),
        made=one["at"],
        published=one["published"],
    )


def remove_last(connection: sql.Connection, day: date) -> None:
    """Remove the plan that holds for a date, so that the one before it does."""
    last = _last(connection, day, plans.c.published)
    number = None if last is None else last["id"]
    connection.execute(tasks.delete().where(tasks.c.plan == number))
    connection.execute(plans.delete().where(plans.c.id == number))


def _tasks_of(connection: sql.Connection, plan: int) -> list[PlannedTask]:
    fields = [tasks.c[name] for name in PlannedTask.__dataclass_fields__]
    chosen = sql.select(*fields).where(tasks.c.plan == plan).order_by(tasks.c.position)
    return [PlannedTask(**one) for one in connection.execute(chosen).mappings()]


def was_planned(connection: sql.Connection, day: date, who: str, by: str) -> bool:
    """Whether a plan that was published for a step, now or before, sent ``by`` to somebody."""
    chosen = (
        sql.select(tasks.c.by)
        .join(plans, plans.c.id == tasks.c.plan)
        .where(plans.c.date == day, plans.c.published.is_not(None))
        .where(tasks.c.who == who, tasks.c.by == by)
    )
    return connection.execute(chosen.limit(1)).first() is not None


def planned_by(connection: sql.Connection, day: date, who: str) -> str:
    """Return who was to visit somebody, by the published plan of the step of ``day``."""
    chosen = (
        sql.select(tasks.c.by)
        .join(plans, plans.c.id == tasks.c.plan)
        .where(plans.c.date == day, tasks.c.who == who, plans.c.published.is_not(None))
        .order_by(plans.c.published.desc(), plans.c.id.desc())
        .limit(1)
    )
    return str(connection.execute(chosen).scalar_one_or_none() or "")
