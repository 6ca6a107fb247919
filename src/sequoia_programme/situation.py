"""How a programme stands on a day: who is there, what is believed of them, what may be done."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np
import sqlalchemy as sql

from sequoia.errors import FileError
from sequoia.problem import ActionSpace, Problem, Rules
from sequoia.problem.names import count, say
from sequoia.records.belief import BeliefProblem, belief_problem, say_belief
from sequoia.records.fit import with_kernels
from sequoia.records.log import Log, Seen
from sequoia.records.uncertain import cautious
from sequoia.rng import stream
from sequoia.validation import FloatArray, IntArray
from sequoia_programme.columns import Columns
from sequoia_programme.continuity import last_workers
from sequoia_programme.estimates import Estimates, as_arms, find_estimates, is_new
from sequoia_programme.frequencies import Promised, find_promised, wants_same_worker
from sequoia_programme.members import Member, members
from sequoia_programme.plans import PlannedTask
from sequoia_programme.promised import DUE, expected_visits
from sequoia_programme.schema import ARM, WORKER, sightings
from sequoia_programme.settings import Programme
from sequoia_programme.space import build_space
from sequoia_programme.to_log import to_log

EXPECTED, EXPLORE, CAUTIOUS = "expected", "explore", "cautious"
# How many first sightings of all groups a group's own first sightings are mixed with.
_COMMON = 3.0


@dataclass(frozen=True, eq=False)
class Situation:
    """A programme on a day.

    Attributes
    ----------
    day
        The first date of the step.
    arms, workers
        Who belongs to the programme on that day, absent or not.
    everyone
        Who ever did, or will.
    believed
        The problem from that day on, whose states are beliefs.
    belief
        The distribution of each arm's state, ``(J, S)``.
    state
        The state of `problem` that is nearest to it, ``(J,)``.
    columns
        The actions.
    knowledge
        What is known of each arm's state, in words.
    absences
        The rules of the day: whom absence keeps from visiting, or from being visited.
    expected
        Published visits before the day that are taken to happen.
    promised
        Whom to visit on the day, and whom not, as promised.
    last_by
        Who visited each arm last, where the same worker is promised.
    estimates
        The transitions.
    remarks
        What is worth a look.
    """

    programme: Programme
    day: date
    arms: Sequence[Member]
    workers: Sequence[Member]
    everyone: Sequence[Member]
    believed: BeliefProblem
    belief: FloatArray
    state: IntArray
    columns: Columns
    knowledge: Sequence[str]
    absences: Rules
    expected: Sequence[PlannedTask]
    promised: Promised
    last_by: Mapping[str, str]
    estimates: Estimates
    remarks: Sequence[str]

    @property
    def problem(self) -> Problem:
        """The problem from that day on."""
        return self.believed.problem


def find_situation(
    programme: Programme,
    day: date,
    outlook: str = EXPECTED,
    today: date | None = None,
    ahead: Mapping[date, Sequence[PlannedTask]] | None = None,
) -> Situation:
    """Read the database and say how things stand when the step of ``day`` begins.

    What is published before it is taken to happen; see `expected_visits`.

    Parameters
    ----------
    outlook
        Which transitions to plan for, where they are estimated: the ``"expected"`` ones; a
        draw from what they may be, to ``"explore"``; or ``"cautious"`` ones, worse than most.
    today
        The date on which the plan is made; ``day`` unless given, or where that is past.
    ahead
        Visits of days before, by the date of their plan, which take the place of published ones.
    """
    day = programme.calendar.date_of(programme.calendar.step_of(day))
    with programme.store.open().reading() as connection:
        everyone, staff = members(connection, ARM), members(connection, WORKER)
        arms = _there(everyone, day)
        all_time = to_log(programme, connection, everyone, day)
        asked_on = day if today is None else min(today, day)
        expected = expected_visits(programme, connection, day, asked_on, ahead or {})
        expected = [task for task in expected if task.who in {one.name for one in arms}]
        log = to_log(programme, connection, arms, day, expected).log
        seen_on = _last_seen(connection, day)
        promised = find_promised(programme, connection, arms, day, expected)
        last_by = last_workers(connection, day) if wants_same_worker(programme) else {}
    workers = [one for one in staff if one.is_member(day)]
    columns = Columns([one.name for one in arms], programme.doses)
    space, remarks = build_space(programme, columns, arms, workers, (*everyone, *staff))
    estimates = find_estimates(programme, day)
    start = _first_states(all_time.log, len(estimates.groups), len(programme.states))
    groups, kernels = list(estimates.groups), estimates.kernels
    hidden = _hidden_problem(programme, arms, columns, space, groups, kernels, start)
    # A log that does not tell what a visit does would leave everybody alone, and never tell.
    outlook = EXPLORE if outlook == EXPECTED and is_new(all_time) else outlook
    hidden = with_kernels(hidden, _planned_for(hidden, columns, estimates, outlook, day))
    believed = belief_problem(hidden, Seen(**programme.seen))
    belief = believed.about(_expanded(log, columns))
    state = believed.nodes(belief)
    unit = programme.calendar.step
    due = {task.who: f"{DUE}{task.date}" for task in expected}
    return Situation(
        programme=programme,
        day=day,
        arms=arms,
        workers=workers,
        everyone=(*everyone, *staff),
        believed=believed,
        belief=belief,
        state=state,
        columns=columns,
        knowledge=[
            say_belief(hidden.arms, own, _ago(programme, seen_on.get(one.id), day), unit)
            + due.get(one.name, "")
            for one, own in zip(arms, belief, strict=True)
        ],
        absences=columns.rules(
            Rules(
                never=[one.name for one in arms if one.is_away(day)],
                absent=[one.name for one in workers if one.is_away(day)],
            )
        ),
        expected=expected,
        promised=promised,
        last_by={**last_by, **{task.who: task.by for task in expected if task.by and last_by}},
        estimates=estimates,
        remarks=[*_taken(expected), *remarks, *([estimates.remark] if estimates.remark else [])],
    )


def _taken(expected: Sequence[PlannedTask]) -> list[str]:
    """Say which published visits are taken to happen."""
    dates = Counter(task.date for task in expected)
    said = [f"{count(number, 'visit')} of {day}" for day, number in sorted(dates.items())]
    return [f"Taken to happen, as published: {say(said)}."] if said else []


def find_outline(programme: Programme, day: date) -> Problem:
    """Return who is there on a day and what may be done, without what is known of transitions.

    That is enough to read wishes, and takes no estimates.
    """
    day = programme.calendar.date_of(programme.calendar.step_of(day))
    with programme.store.open().reading() as connection:
        everyone, staff = members(connection, ARM), members(connection, WORKER)
    arms = _there(everyone, day)
    workers = [one for one in staff if one.is_member(day)]
    columns = Columns([one.name for one in arms], programme.doses)
    space, _ = build_space(programme, columns, arms, workers, (*everyone, *staff))
    groups, size = sorted({one.group for one in arms}), len(programme.states)
    alike = np.full((len(groups), len(programme.doses) + 1, size, size), 1 / size)
    return _hidden_problem(programme, arms, columns, space, groups, alike, alike[:, 0, 0])


def _there(everyone: Sequence[Member], day: date) -> list[Member]:
    """Return who belongs to the programme on a day; at least one is wanted."""
    arms = [one for one in everyone if one.is_member(day)]
    if not arms:
        raise FileError(f"nobody is on the roster on {day}; sequoia programme import adds some.")
    return arms


def space_for(
    situation: Situation, programme: Programme | None = None, more: Sequence[Member] = ()
) -> ActionSpace:
    """Return what might be done under other settings, or by ``more`` workers."""
    return build_space(
        situation.programme if programme is None else programme,
        situation.columns,
        situation.arms,
        (*situation.workers, *more),
        (*situation.everyone, *more),
    )[0]


def _planned_for(
    hidden: Problem, columns: Columns, estimates: Estimates, outlook: str, day: date
) -> FloatArray:
    """Return the transitions to plan for; the same for a day, however often it is planned."""
    if estimates.fitted is None or outlook == EXPECTED:
        return columns.expand(estimates.kernels)
    if outlook == CAUTIOUS:
        draws = columns.expand(estimates.fitted.draws)
        return cautious(replace(estimates.fitted, draws=draws), hidden)
    drawn = estimates.fitted.draw(stream(day.toordinal(), "programme:explore"))
    return columns.expand(drawn)


def _hidden_problem(
    programme: Programme,
    arms: Sequence[Member],
    columns: Columns,
    space: ActionSpace,
    groups: Sequence[str],
    kernels: FloatArray,
    start: FloatArray,
) -> Problem:
    """Return the problem whose states are not always seen."""
    model = np.array([groups.index(one.group) for one in arms])
    return Problem(
        programme.name,
        replace(
            as_arms(programme, groups, kernels),
            doses=np.tile(columns.values, (len(groups), 1)),
            kernels=columns.expand(kernels),
            model=model,
            names=columns.arms,
        ),
        space,
        start=start[model],
        influence=columns.influence,
        horizon=programme.horizon,
        discount=programme.discount,
    )


def _expanded(log: Log, columns: Columns) -> Log:
    """Return a log whose levels are those of the problem's doses."""
    visits = log.visits.copy()
    visits[:, 2] = columns.levels[visits[:, 2]]
    return Log(log.group, log.n_steps, log.sightings, visits, log.joined, log.left)


def _first_states(log: Log, groups: int, states: int) -> FloatArray:
    """Return what is believed of the state of somebody new, by group, ``(G, S)``.

    How often others were first seen in each; each group's numbers mixed with some of all groups.
    """
    arm, place = np.unique(log.sightings[:, 0], return_index=True)
    counts = np.zeros((groups, states))
    np.add.at(counts, (log.group[arm], log.sightings[place, 2]), 1.0)
    common = (counts.sum(axis=0) + 1) / (counts.sum() + states)
    mixed = counts + _COMMON * common
    result: FloatArray = mixed / mixed.sum(axis=1, keepdims=True)
    return result


def _last_seen(connection: sql.Connection, day: date) -> dict[int, date]:
    last = (
        sql.select(sightings.c.arm, sql.func.max(sightings.c.date))
        .where(sightings.c.date <= day)
        .group_by(sightings.c.arm)
    )
    return {int(arm): seen for arm, seen in connection.execute(last)}


def _ago(programme: Programme, seen: date | None, day: date) -> int | None:
    """Return how many days, or weeks, ago somebody was seen."""
    if seen is None:
        return None
    if programme.calendar.step == "day":
        return (day - seen).days
    return programme.calendar.step_of(day) - programme.calendar.step_of(seen)
