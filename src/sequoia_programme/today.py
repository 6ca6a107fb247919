"""Today's plan: made for the problem as it is now, by the policy that is best for it, and kept."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property

import numpy as np
import sqlalchemy as sql

from sequoia.defaults import FEW_EPISODES, PLANNERS, PLANNING_SECONDS, PLAYED_SECONDS
from sequoia.errors import InfeasibleSpace, ProblemError, TooLarge
from sequoia.evaluation import Evaluation, evaluate
from sequoia.planning.overrides import OVERRIDES, Wish, todays_wishes, together
from sequoia.planning.planner import DayPlan, Planner, Why, Worth
from sequoia.planning.wish_costs import WishCost, wish_costs
from sequoia.policies import QFunction, make_policy
from sequoia.problem import Problem, Rules
from sequoia.problem.names import say
from sequoia.problem.spaces.base import Task
from sequoia.validation import IntArray
from sequoia_programme.calendar import WEEKDAYS
from sequoia_programme.continuity import with_same_workers
from sequoia_programme.drafts import (
    Overrides,
    clear_draft,
    last_change,
    put_draft,
    same_wishes,
    wishes_for,
)
from sequoia_programme.frequencies import least_relaxation, promise_wishes
from sequoia_programme.plans import (
    PlannedTask,
    StoredPlan,
    keep,
    plans_between,
    proposed,
    remove_last,
)
from sequoia_programme.settings import Programme
from sequoia_programme.situation import Situation
from sequoia_programme.store import moved_since, note

# The luck of very many arms averages out within an episode: so many arms, each so often, tell as
# much as the usual episodes of a thousand. Fewer than three have no interval to speak of.
_ARM_EPISODES, _LEAST_EPISODES = 10_000, 3
# Each is another plan; more promises are kept, and not priced.
_MOST_PRICED = 10
# Seconds that a comparison of policies may take; where a decision takes one, it would take minutes.
_MOST_PLAYING = 60.0
# What a route has besides visits.
_ON_THE_WAY = ("begin", "pass", "return")


@dataclass(frozen=True)
class Choice:
    """A policy, and why it is the one."""

    policy: str
    reason: str


def choose(problem: Problem, state: IntArray, q: QFunction | None = None) -> Choice:
    """Let the policies that apply play from ``state``, under the same luck, and take the best."""
    here = replace(problem, start=np.eye(problem.arms.n_states)[state])
    names = [name for name in PLANNERS if _applies(name, here, q)]
    if len(names) == 1:
        return Choice(names[0], f"{names[0]} is the only policy that applies")
    decisions = FEW_EPISODES * here.horizon * len(names)
    if decisions * min(here.space.base.decision_seconds, PLAYED_SECONDS) > _MOST_PLAYING:
        others = say(names[1:])
        return Choice(names[0], f"{names[0]} is usual; to play it against {others} takes too long")
    found = evaluate(
        here,
        names,
        min(FEW_EPISODES, max(_LEAST_EPISODES, _ARM_EPISODES // problem.arms.n_arms)),
        model=q,
        bound="none",
        seconds=PLAYED_SECONDS,
        progress=False,
    )
    best = next(name for name in names if name in found.as_good_as_best)
    return Choice(best, _reason(found, best))


def _applies(name: str, problem: Problem, q: QFunction | None) -> bool:
    try:
        make_policy(name, problem, q, PLAYED_SECONDS)
    except (ProblemError, TooLarge):
        return False
    return True


def _reason(found: Evaluation, best: str) -> str:
    others = [name for name in found.names if name != best]
    compared = ", ".join(_against(found, best, name) for name in others)
    return (
        f"{best} earns {found.mean(best)} per step in {found.n_episodes} simulated runs from "
        f"today; {compared}"
    )


def _against(found: Evaluation, best: str, name: str) -> str:
    behind = found.paired(name, best)
    if behind.includes_zero:
        return f"{name} is as good"
    return f"{name} earns {abs(behind.mean):.2g} less"


@dataclass(frozen=True)
class PricedWish:
    """What a wish costs: how much better the best plan would be without it.

    Attributes
    ----------
    option, text
        The wish, such as ``"must"`` and ``"Ada"``.
    cost
        ``None`` where there would be no plan.
    """

    option: str
    text: str
    cost: Worth | None


@dataclass(frozen=True, eq=False)
class TodaysPlan:
    """A plan as it was found, and as it is kept; what each wish costs, if that was asked for.

    Attributes
    ----------
    published
        The plan that is published for the date; ``None`` where none is.
    """

    situation: Situation
    planner: Planner
    found: DayPlan
    stored: StoredPlan
    why: Sequence[Why]
    costs: Sequence[WishCost] = ()
    published: StoredPlan | None = None


class Planning:
    """Plans a day again and again, each time for other wishes.

    How things stand, which policy is best and what doses are worth are found once.

    Parameters
    ----------
    policy
        A policy by name; unless given, the one that is best for the problem as it is now.
    """

    def __init__(
        self,
        situation: Situation,
        policy: str | None = None,
        q: QFunction | None = None,
        seconds: float = PLANNING_SECONDS,
    ) -> None:
        self.situation = situation
        self.planner = Planner(situation.problem, situation.state, seconds)
        self.seconds = seconds
        self._policy = policy
        self._q = q
        self._found: dict[str, DayPlan] = {}

    @cached_property
    def choice(self) -> Choice:
        """The policy, and why it is the one."""
        if self._policy:
            return Choice(self._policy, "it was asked for")
        return choose(self.situation.problem, self.situation.state, self._q)

    def plan(
        self,
        overrides: Overrides,
        why: Sequence[str] = (),
        besides: Rules = Rules(),
    ) -> TodaysPlan:
        """Plan the day.

        Parameters
        ----------
        overrides
            What somebody asks for, by option, as in ``sequoia plan``; see `todays_wishes`.
        why
            Arms about which to say what it would cost to drop or include them.
        besides
            Rules that nobody wishes, such as what stays as it was published.
        """
        found = self._find(overrides, besides)
        if self.situation.last_by:
            found = with_same_workers(found, self.situation.columns, self.situation.last_by)
        stored = StoredPlan(
            date=self.situation.day,
            policy=self.choice.policy,
            reason=self.choice.reason,
            overrides={key: list(texts) for key, texts in overrides.items() if texts},
            tasks=_tasks(self.situation, self.planner, found),
        )
        reasons = [self.planner.why(found, text) for text in why]
        return TodaysPlan(self.situation, self.planner, found, stored, reasons)

    def cost(self, overrides: Overrides) -> Worth:
        """Return what all wishes cost together: how much better the plan is without any."""
        return self._find({}).worth - self._find(overrides).worth

    def costs(self, overrides: Overrides) -> list[PricedWish]:
        """Return what each wish costs, beside all others, by its option and text."""
        asked = [(option, text) for option in OVERRIDES for text in overrides.get(option, ())]
        return [
            PricedWish(option, text, one.cost)
            for (option, text), one in zip(asked, self.wish_costs(overrides), strict=True)
        ]

    def wish_costs(self, overrides: Overrides) -> list[WishCost]:
        """Return what each wish costs, beside all others, and why there would be no plan."""
        wishes = todays_wishes(self.situation.problem, overrides)
        kept = together(self._promises(self._rules(overrides)))
        base = self.situation.problem.with_rules(self.situation.absences.and_also(kept))
        return wish_costs(self.planner, base, self._find(overrides), wishes)

    def promises(self, overrides: Overrides) -> list[Wish]:
        """Return what promises ask of the day, beside some wishes."""
        return self._promises(self._rules(overrides))

    def promise_costs(self, overrides: Overrides) -> list[WishCost]:
        """Return what each promise that is due costs today, beside all else."""
        rules = self._rules(overrides)
        base = self.situation.problem.with_rules(rules)
        wishes = self._promises(rules)
        return wish_costs(self.planner, base, self._find(overrides), wishes[:_MOST_PRICED])

    def _rules(self, overrides: Overrides) -> Rules:
        wished = together(todays_wishes(self.situation.problem, overrides))
        return self.situation.absences.and_also(wished)

    def _promises(self, rules: Rules) -> list[Wish]:
        now = self.situation
        if not (now.promised.due or now.promised.closed):
            return []
        wishes = promise_wishes(
            *(now.programme, now.columns, now.promised, now.problem.space, now.day),
            *(rules, now.workers),
        )
        # Who is due first: that is what a plan has to say first.
        return sorted(wishes, key=lambda wish: bool(wish.rules.never))

    def _find(
        self,
        overrides: Overrides,
        besides: Rules = Rules(),
    ) -> DayPlan:
        """Return the plan for some wishes, found once."""
        asked = {key: sorted(texts) for key, texts in sorted(overrides.items()) if texts}
        key = json.dumps(asked) + repr(besides)
        if key not in self._found:
            rules = self._rules(overrides).and_also(besides)
            today = rules.and_also(together(self._promises(rules)))
            problem = self.situation.problem.with_rules(today)
            try:
                self._found[key] = self.planner.plan(problem, self.choice.policy, self._q)
            except InfeasibleSpace as error:
                raise InfeasibleSpace(f"{error}{self._way_out(rules)}") from None
        return self._found[key]

    def _way_out(self, rules: Rules) -> str:
        """Say the least that would make room for the promises that are due."""
        now = self.situation
        off = least_relaxation(now.columns, now.promised, now.problem.space, now.day, rules)
        said = ", ".join(f"--never {one.who!r} ({one.why})" for one in off)
        return f" The least that makes room: {said}." if off else ""


def plan_today(
    situation: Situation,
    overrides: Overrides,
    *,
    policy: str | None = None,
    q: QFunction | None = None,
    why: Sequence[str] = (),
    seconds: float = PLANNING_SECONDS,
) -> TodaysPlan:
    """Plan the day and keep the plan as a proposal, priced; the arguments are `Planning`'s."""
    planning = Planning(situation, policy, q, seconds)
    made = planning.plan(overrides, why)
    costs = [*planning.wish_costs(overrides), *planning.promise_costs(overrides)]
    made = replace(made, costs=costs)
    day = situation.day
    with situation.programme.store.writing() as connection:
        # The command's own wishes: what others wish on the page stays a draft.
        wishes = wishes_for(connection, day)
        if last_change(connection, day) and not same_wishes(wishes, overrides):
            remark = f"Wishes on the page stay there, and are not in this plan: {_said(wishes)}."
            situation = replace(situation, remarks=[*situation.remarks, remark])
        holding = plans_between(connection, day, day)
        if keep(connection, made.stored):
            note(connection, f"Proposed {_what(made.stored)}.", moves=False)
    return replace(made, situation=situation, published=holding[0] if holding else None)


@dataclass(frozen=True)
class Published:
    """A plan that was published, and the one that held before; ``None`` where none did."""

    plan: StoredPlan
    before: StoredPlan | None


def publish_proposed(programme: Programme, day: date) -> Published:
    """Publish the plan that was proposed last for a date; see `publish_all`."""
    return publish_all(programme, [programme.calendar.date_of(programme.calendar.step_of(day))])[0]


def publish_all(programme: Programme, days: Sequence[date]) -> list[Published]:
    """Publish the plans that were proposed last for the first dates of some steps, or none.

    Raises
    ------
    ProblemError
        Where one has none, or records changed since it was made.
    """
    with programme.store.open().writing() as connection:
        ready = [_ready(programme, connection, day) for day in days]
        for one in ready:
            if same_wishes(wishes_for(connection, one.plan.date), one.plan.overrides):
                clear_draft(connection, one.plan.date)
            _publish(connection, one.plan)
    return ready


def _ready(programme: Programme, connection: sql.Connection, day: date) -> Published:
    """Return the proposed plan of a date, if it is still one that may be published."""
    again = f"sequoia programme today {programme.folder} --date {day}"
    plan = proposed(connection, day)
    if plan is None:
        raise ProblemError(f"no plan is proposed for {day}; {again} makes one.")
    holding = plans_between(connection, day, day)
    is_holding = bool(holding) and holding[0].digest == plan.digest
    if not is_holding and moved_since(connection, plan.made):
        raise ProblemError(
            f"records changed since the plan of {day} was made; {again} makes it anew."
        )
    return Published(plan, holding[0] if holding else None)


def publish(programme: Programme, plan: StoredPlan) -> bool:
    """Publish a plan, if its wishes are still those for its date.

    They are compared in the transaction that keeps it, so that a wish comes before it or after it
    and is never lost. Return whether the plan was kept; its wishes are no draft any more then.
    """
    with programme.store.open().writing() as connection:
        if not same_wishes(wishes_for(connection, plan.date), plan.overrides):
            return False
        clear_draft(connection, plan.date)
        _publish(connection, plan)
    return True


def _publish(connection: sql.Connection, plan: StoredPlan) -> None:
    """Keep a plan as the one that holds; plans of later dates are others then."""
    if keep(connection, plan, publishes=True):
        note(connection, f"Published {_what(plan)}.")


def _what(plan: StoredPlan) -> str:
    asked = _said(plan.overrides)
    said = f"the plan of {plan.date} by {plan.policy}, tasks: {len(plan.tasks)}"
    return f"{said} ({asked})" if asked else said


def _said(wishes: Overrides) -> str:
    return "; ".join(f"{key} {', '.join(texts)}" for key, texts in wishes.items() if texts)


def withdraw(programme: Programme, day: date, digest: str | None = None) -> bool:
    """Take back the plan that was published last for a date; its wishes are a draft again.

    Parameters
    ----------
    digest
        That of the plan that somebody looked at: where another one holds by now, nothing is taken
        back.
    """
    with programme.store.open().writing() as connection:
        holding = plans_between(connection, day, day)
        if not holding or digest not in (None, holding[0].digest):
            return False
        remove_last(connection, day)
        if not last_change(connection, day):
            put_draft(connection, day, holding[0].overrides)
        note(connection, f"Took back the plan of {day}.")
    return True


def _tasks(situation: Situation, planner: Planner, found: DayPlan) -> list[PlannedTask]:
    """Return the tasks of a plan, worker by worker, in the order in which they are done.

    Without slots or a route a worker begins with what gains most: what is left at the end of a day
    that was too short then costs least.
    """
    problem = found.problem
    columns = situation.columns
    level = problem.levels(found.decision.action[None])[0]
    worth = planner.long_run if planner.has_prices else planner.next_step
    slots = list(problem.space.base.slot_names)
    workers = list(problem.space.base.worker_names)
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
