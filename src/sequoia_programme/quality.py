"""How good a programme is: against what is possible, for whom, and what more staff would buy."""

import datetime as dt
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sequoia.errors import SequoiaError
from sequoia.io import write_text
from sequoia.planning.planner import Planner
from sequoia.validation import FloatArray
from sequoia_programme.estimates import hold_out
from sequoia_programme.history import events
from sequoia_programme.margins import (
    RuleCost,
    StaffValue,
    rule_costs,
    staff_values,
    unit_of_hours,
)
from sequoia_programme.played import POLICIES, PlayedDays, play_days
from sequoia_programme.rules import WrittenRule
from sequoia_programme.settings import Programme
from sequoia_programme.situation import Situation

FILE = "quality.json"
# How far back what was done is looked at.
_DAYS = 28


@dataclass(frozen=True)
class GroupShare:
    """How a group fares.

    Attributes
    ----------
    now
        What a step is worth for one of them, as things are believed to stand.
    visits
        Visits in the last four weeks for one of them.
    rewards
        What a step is worth for one of them in the days to come, by policy.
    """

    group: str
    people: int
    now: float
    visits: float
    rewards: Mapping[str, float]


@dataclass(frozen=True)
class Foresight:
    """How well the last fifth of the log is foreseen from the rest.

    Attributes
    ----------
    words
        In words.
    bins
        Of predictions of about one probability: their mean, how often it came true, how many.
    """

    words: str
    bins: Sequence[tuple[float, float, int]]


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
    unit
        What `StaffValue.more` is one of.
    foresight
        ``None`` where the transitions are given or the log is too short.
    next_visits
        By when at least half of the played runs visit somebody; ``None`` where none is in sight.
    """

    date: dt.date
    rewards: Mapping[str, tuple[float, float]]
    bound: float
    now: float
    groups: Sequence[GroupShare]
    unit: str
    staff: Sequence[StaffValue]
    rules: Sequence[RuleCost]
    foresight: Foresight | None
    next_visits: Mapping[str, dt.date | None]


def find_quality(situation: Situation, progress: Callable[[float, str], None]) -> Quality:
    """Find out how good a programme is; it takes some seconds to minutes.

    Parameters
    ----------
    progress
        Is told how much is done, from 0 to 1, and what comes next.
    """
    played = play_days(situation, lambda share: progress(0.05 + 0.45 * share, "policies"))
    progress(0.5, "bound")
    bound = Planner(situation.problem, situation.state).relaxation.bound
    staff = staff_values(
        situation, bound.total, lambda share: progress(0.55 + 0.3 * share, "staff")
    )
    progress(0.85, "rules")
    rules = rule_costs(situation, bound.total)
    progress(0.95, "foresight")
    means = {name: played.mean(name) for name in POLICIES}
    return Quality(
        date=situation.day,
        rewards={name: (one.mean, one.half) for name, one in means.items()},
        bound=bound.per_step,
        now=float(_believed_rewards(situation).sum()),
        groups=_groups(situation, played),
        unit=unit_of_hours(situation.problem.space),
        staff=staff,
        rules=rules,
        foresight=_foresight(situation),
        next_visits=played.next_visits(),
    )


def _foresight(situation: Situation) -> Foresight | None:
    if situation.estimates.fitted is None:
        return None
    try:
        held = hold_out(situation.programme, situation.day)
    except SequoiaError:
        return None
    columns = (held.predicted.tolist(), held.seen.tolist(), held.count.tolist())
    return Foresight(held.words, list(zip(*columns, strict=True)))


def _believed_rewards(situation: Situation) -> FloatArray:
    """Return what a step is worth for each arm as it is believed to stand, ``(J,)``."""
    arms = situation.believed.original.arms
    rewards: FloatArray = (situation.belief * arms.rewards[arms.model]).sum(axis=1)
    return rewards


def _groups(situation: Situation, played: PlayedDays) -> list[GroupShare]:
    first = situation.day - dt.timedelta(days=_DAYS)
    with situation.programme.store.reading() as connection:
        visited = [one.who for one in events(connection, first, situation.day) if one.dose]
    worth = _believed_rewards(situation)
    shares = []
    for group in sorted({one.group for one in situation.arms}):
        own = [number for number, one in enumerate(situation.arms) if one.group == group]
        names = {situation.arms[number].name for number in own}
        count = sum(name in names for name in visited)
        ahead = {name: played.mean(name, own).mean / len(own) for name in POLICIES}
        shares.append(
            GroupShare(group, len(own), float(worth[own].mean()), count / len(own), ahead)
        )
    return shares


def quality_content(quality: Quality) -> dict[str, Any]:
    """Return all of it as JSON can hold it."""
    due = {name: None if day is None else str(day) for name, day in quality.next_visits.items()}
    return {**asdict(quality), "date": str(quality.date), "next_visits": due}


def write_quality(programme: Programme, quality: Quality) -> None:
    """Keep how good a programme is, in its folder."""
    content = json.dumps(quality_content(quality), ensure_ascii=False, indent=1)
    write_text(programme.folder / FILE, content)


def read_quality(programme: Programme) -> Quality | None:
    """Return what was found out last; ``None`` where nothing was, or by another version."""
    try:
        content = json.loads((programme.folder / FILE).read_text(encoding="utf-8"))
        return _from_content(content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _from_content(content: dict[str, Any]) -> Quality:
    held, due = content["foresight"], content["next_visits"]
    rules = [(one["rule"], one["month"]) for one in content["rules"]]
    return Quality(
        date=dt.date.fromisoformat(content["date"]),
        rewards={name: (mean, half) for name, (mean, half) in content["rewards"].items()},
        bound=content["bound"],
        now=content["now"],
        groups=[GroupShare(**one) for one in content["groups"]],
        unit=content["unit"],
        staff=[StaffValue(**one) for one in content["staff"]],
        rules=[
            RuleCost(WrittenRule(**{**rule, "names": tuple(rule["names"])}), month)
            for rule, month in rules
        ],
        foresight=held and Foresight(held["words"], [(p, s, n) for p, s, n in held["bins"]]),
        next_visits={
            name: None if day is None else dt.date.fromisoformat(day) for name, day in due.items()
        },
    )
