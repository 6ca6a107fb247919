"""How good a programme is: against what is possible, for whom, and what more staff would buy."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta

import numpy as np

from sequoia.bounds.lagrangian.relax import relax
from sequoia.errors import SequoiaError
from sequoia.evaluation import Evaluation, evaluate
from sequoia.io import write_text
from sequoia.planning.planner import Planner
from sequoia.problem import Problem, Rules
from sequoia.programme.estimates import hold_out
from sequoia.programme.history import events
from sequoia.programme.settings import Programme
from sequoia.programme.situation import Situation
from sequoia.validation import FloatArray

FILE = "quality.json"
# Policies that are compared: the plan's own, the one that looks a step ahead, and none.
POLICIES = ("price", "myopic", "random")
_EPISODES = 10
_SECONDS = 2.0
# So much more of a worker's day: less may be too little for one more visit, and worth nothing.
_MORE = 0.25
# How far back what was done is looked at.
_DAYS = 28


@dataclass(frozen=True)
class GroupShare:
    """How a group fares: how many there are, how they are believed to be, how often visited.

    Attributes
    ----------
    reward
        What a step is worth for one of them, as things are believed to stand.
    visits
        Visits in the last four weeks for one of them.
    """

    group: str
    people: int
    reward: float
    visits: float


@dataclass(frozen=True)
class StaffValue:
    """What somebody's work is worth to all steps to the horizon, as prices see it.

    Attributes
    ----------
    whole
        What they are worth to all steps.
    unit
        What one more unit of their capacity in each step, such as a minute, is worth to all steps.
    """

    worker: str
    whole: float
    unit: float


@dataclass(frozen=True)
class RuleCost:
    """What a rule costs in a month, as prices see it."""

    words: str
    month: float


@dataclass(frozen=True)
class Quality:
    """How good a programme is on a day.

    Attributes
    ----------
    rewards
        Mean reward of a step under each policy, from today to the horizon, and its 95 % interval.
    bound
        What no policy exceeds.
    now
        What a step is worth as things are believed to stand: what was done led here.
    calibration
        How well the last fifth of the log is foreseen from the rest, in words; empty where the
        transitions are given or the log is too short.
    """

    date: date
    rewards: Mapping[str, tuple[float, float]]
    bound: float
    now: float
    groups: Sequence[GroupShare]
    staff: Sequence[StaffValue]
    rules: Sequence[RuleCost]
    calibration: str


def find_quality(situation: Situation, progress: Callable[[float, str], None]) -> Quality:
    """Find out how good a programme is; it takes some seconds to minutes.

    Parameters
    ----------
    progress
        Is told how much is done, from 0 to 1, and what comes next.
    """
    problem = situation.problem
    progress(0.05, "policies")
    here = replace(problem, start=np.eye(problem.arms.n_states)[situation.state])
    found = evaluate(here, POLICIES, _EPISODES, bound="none", seconds=_SECONDS)
    progress(0.5, "bound")
    planner = Planner(problem, situation.state)
    total = planner.relaxation.bound
    progress(0.6, "staff")
    staff = _staff(situation, total.total, progress)
    progress(0.9, "rules")
    return Quality(
        date=situation.day,
        rewards=_rewards(found),
        bound=total.per_step,
        now=float(_believed_rewards(situation).sum()),
        groups=_groups(situation),
        staff=staff,
        rules=_rules(situation, total.total),
        calibration=_calibration(situation),
    )


def _calibration(situation: Situation) -> str:
    if situation.estimates.fitted is None:
        return ""
    try:
        return hold_out(situation.programme, situation.day).words
    except SequoiaError:
        return ""


def _rewards(found: Evaluation) -> dict[str, tuple[float, float]]:
    means = {name: found.mean(name) for name in found.names}
    return {name: (one.mean, one.half) for name, one in means.items()}


def _believed_rewards(situation: Situation) -> FloatArray:
    """Return what a step is worth for each arm as it is believed to stand, ``(J,)``."""
    arms = situation.believed.original.arms
    rewards: FloatArray = (situation.belief * arms.rewards[arms.model]).sum(axis=1)
    return rewards


def _groups(situation: Situation) -> list[GroupShare]:
    programme: Programme = situation.programme
    first = situation.day - timedelta(days=_DAYS)
    with programme.store.reading() as connection:
        visited = [one.who for one in events(connection, first, situation.day) if one.dose]
    worth = _believed_rewards(situation)
    shares = []
    for group in sorted({one.group for one in situation.arms}):
        own = [number for number, one in enumerate(situation.arms) if one.group == group]
        names = {situation.arms[number].name for number in own}
        count = sum(name in names for name in visited)
        shares.append(GroupShare(group, len(own), float(worth[own].mean()), count / len(own)))
    return shares


def _staff(
    situation: Situation, total: float, progress: Callable[[float, str], None]
) -> list[StaffValue]:
    """Return what each worker adds, whole and at the margin."""
    values = []
    workers = list(situation.problem.space.base.worker_names)
    for number, worker in enumerate(workers):
        progress(0.6 + 0.3 * number / len(workers), "staff")
        whole = total - _bound(situation, Rules(absent=[worker]))
        usual = situation.problem.space.base.usual_hours(worker)
        more = _bound(situation, Rules(hours={worker: (1 + _MORE) * usual}))
        values.append(StaffValue(worker, whole, (more - total) / (_MORE * usual)))
    return values


def _rules(situation: Situation, total: float) -> list[RuleCost]:
    """Return what each extra rule of the programme costs in a month."""
    space = situation.problem.space
    calendar = situation.programme.calendar
    month = calendar.step_of(situation.day + timedelta(days=30)) - calendar.step_of(situation.day)
    share = month / situation.problem.horizon
    costs = []
    for words, without in _each_rule(space.rules):
        problem = replace(situation.problem, space=space.base).with_rules(without)
        gain = relax(problem, start=situation.state).bound.total - total
        costs.append(RuleCost(words, max(0.0, gain) * share))
    return costs


def _each_rule(rules: Rules) -> list[tuple[str, Rules]]:
    """Return each rule in words, and all others."""
    found = [
        (str(floor), replace(rules, floors=[one for one in rules.floors if one is not floor]))
        for floor in rules.floors
    ]
    found += [
        (f"{name} is visited in every step", replace(rules, must=_without(rules.must, name)))
        for name in rules.must
    ]
    found += [
        (f"{name} is never visited", replace(rules, never=_without(rules.never, name)))
        for name in rules.never
    ]
    return found


def _without(names: Sequence[str], name: str) -> list[str]:
    return [one for one in names if one != name]


def _bound(situation: Situation, rules: Rules) -> float:
    problem: Problem = situation.problem.with_rules(rules)
    return float(relax(problem, start=situation.state).bound.total)


def write_quality(programme: Programme, quality: Quality) -> None:
    """Keep how good a programme is, in its folder."""
    content = {**asdict(quality), "date": str(quality.date)}
    write_text(programme.folder / FILE, json.dumps(content, ensure_ascii=False, indent=1))


def read_quality(programme: Programme) -> Quality | None:
    """Return what was found out last; ``None`` where nothing was, or by another version."""
    try:
        content = json.loads((programme.folder / FILE).read_text(encoding="utf-8"))
        return Quality(
            date=date.fromisoformat(content["date"]),
            rewards={name: (mean, half) for name, (mean, half) in content["rewards"].items()},
            bound=content["bound"],
            now=content["now"],
            groups=[GroupShare(**one) for one in content["groups"]],
            staff=[StaffValue(**one) for one in content["staff"]],
            rules=[RuleCost(**one) for one in content["rules"]],
            calibration=content["calibration"],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
