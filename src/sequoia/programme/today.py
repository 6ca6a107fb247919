"""Today's plan: made for the problem as it is now, and kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from sequoia.planning.overrides import todays_wishes, together
from sequoia.planning.planner import DayPlan, Planner, Why
from sequoia.policies import QFunction
from sequoia.problem.spaces.base import Task
from sequoia.programme.calendar import WEEKDAYS
from sequoia.programme.choosing import Choice, choose
from sequoia.programme.plans import PlannedTask, StoredPlan, keep
from sequoia.programme.situation import Situation
from sequoia.programme.store import note

# What a route has besides visits.
_ON_THE_WAY = ("begin", "pass", "return")


@dataclass(frozen=True, eq=False)
class TodaysPlan:
    """A plan as it was found, and as it is kept."""

    situation: Situation
    planner: Planner
    found: DayPlan
    stored: StoredPlan
    why: Sequence[Why]


def plan_today(
    situation: Situation,
    overrides: Mapping[str, Sequence[str]],
    *,
    policy: str | None = None,
    q: QFunction | None = None,
    why: Sequence[str] = (),
    seconds: float = 10.0,
) -> TodaysPlan:
    """Plan the day and keep the plan.

    Parameters
    ----------
    overrides
        What somebody asks for, by option, as in ``sequoia plan``; see `todays_wishes`.
    policy
        A policy by name; unless given, the one that is best for the problem as it is now.
    why
        Arms about which to say what it would cost to drop or include them.
    """
    problem = situation.problem
    rules = situation.absences.and_also(together(todays_wishes(problem, overrides)))
    planner = Planner(problem, situation.state, seconds)
    today = problem.with_rules(rules)
    chosen = Choice(policy, "it was asked for") if policy else choose(problem, situation.state, q)
    found = planner.plan(today, chosen.policy, q)
    reasons = [planner.why(found, text) for text in why]
    stored = StoredPlan(
        date=situation.day,
        policy=chosen.policy,
        reason=chosen.reason,
        overrides={key: list(texts) for key, texts in overrides.items() if texts},
        tasks=_tasks(situation, planner, found),
    )
    with situation.programme.store.writing() as connection:
        if keep(connection, stored):
            asked = "; ".join(f"{key} {', '.join(v)}" for key, v in stored.overrides.items())
            note(
                connection,
                f"Planned {stored.date} by {stored.policy}: {len(stored.tasks)} tasks"
                f"{f' ({asked})' if asked else ''}.",
            )
    return TodaysPlan(situation, planner, found, stored, reasons)


def _tasks(situation: Situation, planner: Planner, found: DayPlan) -> list[PlannedTask]:
    """Return the tasks of a plan, worker by worker, in the order in which they are done.

    Without slots or a route a worker begins with what gains most: what is left at the end of a day
    that was too short then costs least.
    """
    problem = found.problem
    columns = situation.columns
    level = problem.levels(found.decision.action[None])[0]
    worth = planner.long_run if planner.has_prices else planner.next_step
    slots = list(getattr(problem.space.base, "slot_names", ()))
    workers = list(getattr(problem.space.base, "worker_names", ()))
    tasks = []
    for task in found.tasks:
        if task.do in _ON_THE_WAY:
            continue
        arm = columns.arm_of(task.where)
        gain = float(worth[arm, level[arm]] - worth[arm, 0])
        tasks.append(
            PlannedTask(
                date=_date_of(situation, task),
                by=task.who,
                when=task.when,
                who=columns.arms[arm],
                dose=columns.dose_at(level[arm]),
                minutes=_minutes(situation, arm, columns.dose_at(level[arm])),
                state=situation.knowledge[arm],
                gain=gain,
            )
        )

    def order(one: PlannedTask) -> tuple[int, date, int, float]:
        worker = workers.index(one.by) if one.by in workers else -1
        slot = slots.index(one.when) if one.when in slots else -1
        # Along a route, tasks are in their order already.
        is_routed = bool(one.when) and not slots
        return worker, one.date, slot, 0.0 if is_routed else -one.gain

    return sorted(tasks, key=order)


def _date_of(situation: Situation, task: Task) -> date:
    """Return the date of a task: that of its slot, where slots are days of a week."""
    is_weekday = situation.programme.calendar.step == "week" and task.when in WEEKDAYS
    return situation.day + timedelta(days=WEEKDAYS.index(task.when) if is_weekday else 0)


def _minutes(situation: Situation, arm: int, dose: str) -> float | None:
    """Return how long a visit takes: the roster's minutes, or the cost where workers have hours."""
    facts = situation.arms[arm].facts
    is_time = situation.problem.space.base.kind == "assignment"
    for name in ("minutes", "cost") if is_time else ("minutes",):
        for key in (f"{name} {dose}", name):
            try:
                return float(facts[key])
            except (KeyError, ValueError):
                continue
    return None
