"""Several days at once: who, on which day, by whom and in which order, as one plan.

Day follows day: each is planned for what is believed if the visits before it are made, with prices
that look as far ahead as any plan. One program over all days was measured too and earned less than
it took; see ``benchmarks/weeks.py``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from sequoia.defaults import PLANNING_SECONDS
from sequoia.errors import InfeasibleSpace, ProblemError
from sequoia.optimize import ActionEncoding, LinearArgmax
from sequoia.planning.overrides import todays_wishes, together
from sequoia.problem import Lock, Rules
from sequoia.problem.names import say
from sequoia.solvers import Limits
from sequoia_programme.drafts import Overrides
from sequoia_programme.plans import PlannedTask, StoredPlan, changes, keep, plans_between
from sequoia_programme.settings import Programme
from sequoia_programme.situation import EXPECTED, Situation, find_situation
from sequoia_programme.store import note
from sequoia_programme.today import Planning
from sequoia_programme.trained import with_own_model

# A tenth of a day in the best state: less than estimates tell apart, and less than a call to
# somebody who has been told of a visit is worth.
KEEP = 0.1


@dataclass(frozen=True, eq=False)
class WeekDay:
    """A day of several.

    Attributes
    ----------
    plan
        Its plan: the published one, where it stays.
    before
        The plan that is published for it; ``None`` where none is.
    changes
        How the plan differs from that: who, by whom before, and by whom now.
    reasons
        Why visits changed, one line each.
    """

    plan: StoredPlan
    before: StoredPlan | None
    changes: Sequence[tuple[str, str, str]]
    reasons: Sequence[str]


@dataclass(frozen=True, eq=False)
class Week:
    """Plans of several days, and what is worth a look.

    Attributes
    ----------
    worth
        What the plans of all days add in the long run, as prices see it, against idle days.
    """

    days: Sequence[WeekDay]
    policy: str
    reason: str
    worth: float
    remarks: Sequence[str]

    @property
    def together(self) -> StoredPlan:
        """All tasks as one plan, of the first date."""
        tasks = [task for day in self.days for task in day.plan.tasks]
        return replace(self.days[0].plan, tasks=tasks)


def plan_week(
    programme: Programme,
    days: Sequence[date],
    *,
    today: date | None = None,
    keep_worth: float = KEEP,
    policy: str | None = None,
    seconds: float = PLANNING_SECONDS,
    progress: Callable[[float], None] = lambda _: None,
) -> Week:
    """Plan several days and keep the plans as proposals.

    Parameters
    ----------
    days
        The first dates of their steps, from `calendar.days_of`.
    today
        The date on which the plan is made; the first day unless given.
    keep_worth
        What is published stays unless a change gains more than this for each visit it drops.
    policy
        A policy by name; unless given, the one that is best on the first day, for all of them.
    """
    asked_on = days[0] if today is None else today
    ahead: dict[date, Sequence[PlannedTask]] = {}
    found: list[WeekDay] = []
    remarks: dict[str, None] = {}
    reason, worth = "it was asked for", 0.0
    for number, day in enumerate(days):
        progress(number / len(days))
        situation, q = with_own_model(find_situation(programme, day, EXPECTED, asked_on, ahead))
        planning = Planning(situation, policy, q, seconds)
        if policy is None:
            policy, reason = planning.choice.policy, planning.choice.reason
        with programme.store.reading() as connection:
            published = plans_between(connection, day, day)
        before = published[0] if published else None
        one, gain = _plan_day(planning, before, keep_worth)
        ahead[day] = one.plan.tasks
        found.append(one)
        worth += gain
        remarks |= dict.fromkeys(_own_remarks(situation, number))
    with programme.store.writing() as connection:
        for one in found:
            if keep(connection, one.plan):
                words = f"the plan of {one.plan.date} by {policy}, tasks: {len(one.plan.tasks)}"
                note(connection, f"Proposed {words}.", moves=False)
    assert policy is not None
    return Week(found, policy, reason, worth, list(remarks))


def _own_remarks(situation: Situation, number: int) -> list[str]:
    """Return what there is to say of a day; that visits before it are expected, only once."""
    return [one for one in situation.remarks if number == 0 or not one.startswith("Taken to")]


def _plan_day(
    planning: Planning, before: StoredPlan | None, keep_worth: float
) -> tuple[WeekDay, float]:
    """Plan a day near to what is published for it; return it, and what it adds to idleness."""
    overrides: dict[str, list[str]] = {}
    lost: dict[str, str] = {}
    reasons = list[str]()
    held = Rules()
    if before is not None:
        overrides, reasons = _possible_wishes(planning.situation, before)
        lost = _impossible(planning.situation, before)
        reasons += lost.values()
        stays = [task for task in before.tasks if task.who not in lost]
        held = _held(planning, stays, overrides, keep_worth)
    try:
        made = planning.plan(overrides, besides=held)
    except InfeasibleSpace:
        # The same people by other workers, or in another order.
        made = planning.plan(overrides, besides=replace(held, locks=()))
    gain = made.found.worth - made.found.idle
    value = gain.next_step if gain.long_run is None else gain.long_run
    if before is None:
        return WeekDay(made.stored, None, (), ()), value
    changed = changes(before, made.stored)
    if not changed:
        return WeekDay(before, before, (), ()), value
    free = [who for who, _, _ in changed if who not in lost]
    if free:
        gains = {task.who: task.gain for task in made.stored.tasks}
        told = [f"{who} {gains[who]:+.2f}" for who in free if who in gains]
        more = f": {say(told)} in the long run" if told else ""
        reasons.append(f"{say(free)}: a change that gains more than {keep_worth:g} each{more}.")
    return WeekDay(made.stored, before, changed, reasons), value


def _possible_wishes(
    situation: Situation, before: StoredPlan
) -> tuple[dict[str, list[str]], list[str]]:
    """Return the wishes of a published plan that still mean something, and why others do not."""
    wishes: dict[str, list[str]] = {}
    reasons = []
    for option, texts in before.overrides.items():
        for text in texts:
            try:
                todays_wishes(situation.problem, {option: [text]})
            except ProblemError as error:
                reasons.append(f"The wish {option} {text!r} is left out: {error}")
                continue
            wishes.setdefault(option, []).append(text)
    return wishes, reasons


def _impossible(situation: Situation, before: StoredPlan) -> dict[str, str]:
    """Return why published visits cannot be made as they are, by whom they are to."""
    away = {*situation.absences.absent, *situation.absences.never}
    arms, workers = set(situation.columns.arms), {one.name for one in situation.workers}
    reasons = {}
    for task in before.tasks:
        if task.who not in arms:
            reasons[task.who] = f"{task.who} is not in the programme on {before.date}."
        elif any(action in away for action in situation.columns.of(task.who)):
            reasons[task.who] = f"{task.who} is absent on {before.date}."
        elif task.by and task.by not in workers:
            reasons[task.who] = f"{task.who}: {task.by} is not there on {before.date}."
        elif task.by in away:
            reasons[task.who] = f"{task.who}: {task.by} is absent on {before.date}."
    return reasons


def _held(
    planning: Planning, tasks: Sequence[PlannedTask], overrides: Overrides, keep_worth: float
) -> Rules:
    """Return which published visits stay: those that the best plan has where each is worth more.

    Each is worth ``keep_worth`` beside what it gains, so that one is dropped only for something
    that gains more than that.
    """
    situation, planner = planning.situation, planning.planner
    columns = situation.columns
    place = {name: number for number, name in enumerate(columns.arms)}
    level = dict(zip(columns.doses, columns.levels[1:].tolist(), strict=True))
    tasks = [task for task in tasks if task.dose in level]
    table = np.array(planner.long_run if planner.has_prices else planner.next_step)
    for task in tasks:
        table[place[task.who], level[task.dose]] += keep_worth
    wished = together(todays_wishes(situation.problem, overrides))
    today = situation.problem.with_rules(situation.absences.and_also(wished))
    argmax = LinearArgmax(ActionEncoding.of_problem(today), limits=Limits(planning.seconds))
    chosen = set(today.space.chosen(argmax.decide(table).action))
    action = {
        task.who: columns.of(task.who)[list(columns.doses).index(task.dose)] for task in tasks
    }
    kept = [task for task in tasks if action[task.who] in chosen]
    slots = set(today.space.base.slot_names)
    return Rules(
        must=[action[task.who] for task in kept],
        locks=[
            Lock(action[task.who], task.by or None, task.when if task.when in slots else None)
            for task in kept
            if task.by or task.when in slots
        ],
    )
