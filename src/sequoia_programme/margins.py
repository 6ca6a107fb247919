"""What staff and rules are worth at the margin: bounds with and without them, compared."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from sequoia.bounds.lagrangian.relax import relax
from sequoia.errors import SequoiaError
from sequoia.problem import ActionSpace, Problem, Rules
from sequoia_programme.members import Member
from sequoia_programme.rules import WrittenRule, without_rule, written_rules
from sequoia_programme.situation import Situation, space_for

# So much more of a worker's day: less may be too little for one more visit, and worth nothing.
_MORE = 0.25
# What hours are counted in, and how many of that an hour or a slot is; see `usual_hours`.
_UNITS = {"assignment": ("hour", 60.0), "schedule": ("slot", 1.0)}
_HOUR = ("hour", 1.0)


@dataclass(frozen=True)
class StaffValue:
    """What somebody's work is worth to all steps to the horizon, as prices see it.

    Attributes
    ----------
    whole
        What they are worth to all steps.
    more
        What an hour more in each step, or a slot, is worth to all steps.
    again
        What one more worker with the same hours would be worth: the marginal nurse. ``None`` where
        a sheet would have to say whom they may visit.
    """

    worker: str
    whole: float
    more: float
    again: float | None


@dataclass(frozen=True)
class RuleCost:
    """What a rule costs in a month, as prices see it."""

    rule: WrittenRule
    month: float


def unit_of_hours(space: ActionSpace) -> str:
    """Return what `StaffValue.more` is one of: an hour or a slot."""
    return _UNITS.get(space.base.kind, _HOUR)[0]


def staff_values(
    situation: Situation, total: float, progress: Callable[[float], None]
) -> list[StaffValue]:
    """Return what each worker adds to ``total``, the bound: whole, by the hour, and once more."""
    problem = situation.problem
    size = _UNITS.get(problem.space.base.kind, _HOUR)[1]
    values = []
    working = [one for one in situation.workers if one.name in problem.space.base.worker_names]
    for number, worker in enumerate(working):
        progress(number / len(working))
        name, usual = worker.name, problem.space.base.usual_hours(worker.name)
        longer = problem.with_rules(Rules(hours={name: (1 + _MORE) * usual}))
        values.append(
            StaffValue(
                worker=name,
                whole=total - _bound(situation, problem.with_rules(Rules(absent=[name]))),
                more=(_bound(situation, longer) - total) * size / (_MORE * usual) if usual else 0.0,
                again=_once_more(situation, worker, total),
            )
        )
    return values


def _once_more(situation: Situation, worker: Member, total: float) -> float | None:
    twin = replace(worker, name=_unused(situation))
    try:
        space = space_for(situation, more=[twin])
    except SequoiaError:
        return None
    return _bound(situation, replace(situation.problem, space=space)) - total


def _unused(situation: Situation) -> str:
    """Return a name that nobody has."""
    names = {one.name for one in situation.everyone}
    return next(name for n in range(len(names) + 1) if (name := f"one more {n}") not in names)


def rule_costs(situation: Situation, total: float) -> list[RuleCost]:
    """Return what each extra rule of the programme costs in a month, beside the others."""
    calendar = situation.programme.calendar
    month = calendar.step_of(situation.day + timedelta(days=30)) - calendar.step_of(situation.day)
    share = month / situation.problem.horizon
    costs = []
    for rule in written_rules(situation.programme):
        space = space_for(situation, without_rule(situation.programme, rule))
        gain = _bound(situation, replace(situation.problem, space=space)) - total
        costs.append(RuleCost(rule, max(0.0, gain) * share))
    return costs


def _bound(situation: Situation, problem: Problem) -> float:
    return float(relax(problem, start=situation.state).bound.total)
