"""How a programme stands on a day: who is there, what is known of them, what may be done."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from sequoia.errors import FileError
from sequoia.problem import Arms, Problem, Rules
from sequoia.programme.given import read_given
from sequoia.programme.members import Member, members
from sequoia.programme.schema import ARM, WORKER
from sequoia.programme.settings import Programme
from sequoia.programme.space import build_space
from sequoia.programme.to_log import DatedLog, to_log
from sequoia.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Situation:
    """A programme on a day.

    Attributes
    ----------
    day
        The first date of the step.
    arms, workers
        Who belongs to the programme on that day, absent or not.
    problem, state
        The problem from that day on, and the state of each arm, ``(J,)``.
    knowledge
        What is known of each arm's state, in words.
    absences
        The rules of the day: whom absence keeps from visiting, or from being visited.
    model
        Where the transitions come from, in words.
    """

    programme: Programme
    day: date
    arms: Sequence[Member]
    workers: Sequence[Member]
    dated: DatedLog
    problem: Problem
    state: IntArray
    knowledge: Sequence[str]
    absences: Rules
    model: str
    remarks: Sequence[str]


def find_situation(programme: Programme, day: date) -> Situation:
    """Read the database and say how things stand when the step of ``day`` begins."""
    day = programme.calendar.date_of(programme.calendar.step_of(day))
    with programme.store.open().reading() as connection:
        everyone = members(connection, ARM)
        staff = members(connection, WORKER)
        dated = to_log(programme, connection, everyone, day)
    arms = [one for one in everyone if one.is_member(day)]
    workers = [one for one in staff if one.is_member(day)]
    if not arms:
        raise FileError(f"nobody is on the roster on {day}; sequoia programme import adds some.")
    space, remarks = build_space(programme, arms, workers, (*everyone, *staff))
    kernels = _transitions(programme, dated)
    model = [dated.groups.index(one.group) for one in arms]
    last, ago = _last_seen(dated, arms)
    group_rewards = [programme.rewards_of(group) for group in dated.groups]
    problem = Problem(
        programme.name,
        Arms(
            rewards=group_rewards,
            doses=[[0.0, *programme.doses.values()]] * len(dated.groups),
            kernels=kernels,
            model=model,
            names=[one.name for one in arms],
            model_names=dated.groups,
            state_names=programme.states,
            dose_names={dose: name for name, dose in programme.doses.items()},
        ),
        space,
        start=np.eye(len(programme.states))[last],
        horizon=programme.horizon,
        discount=programme.discount,
    )
    return Situation(
        programme=programme,
        day=day,
        arms=arms,
        workers=workers,
        dated=dated,
        problem=problem,
        state=last,
        knowledge=[
            _words(programme, s, a) for s, a in zip(last.tolist(), ago.tolist(), strict=True)
        ],
        absences=Rules(
            never=[one.name for one in arms if one.is_away(day)],
            absent=[one.name for one in workers if one.is_away(day)],
        ),
        model="transitions.csv",
        remarks=remarks,
    )


def _transitions(programme: Programme, dated: DatedLog) -> FloatArray:
    given = read_given(programme, dated.groups)
    if given is None:
        raise FileError(f"{programme.folder} has no transitions.csv.")
    return given


def _last_seen(dated: DatedLog, arms: Sequence[Member]) -> tuple[IntArray, IntArray]:
    place = {arm.id: index for index, arm in enumerate(dated.arms)}
    state, ago = np.zeros(len(dated.arms), np.int64), np.full(len(dated.arms), -1, np.int64)
    for arm, step, seen in dated.log.sightings.tolist():
        state[arm], ago[arm] = seen, dated.log.n_steps - step
    own = [place[arm.id] for arm in arms]
    return state[own], ago[own]


def _words(programme: Programme, state: int, ago: int) -> str:
    if ago < 0:
        return "never seen"
    return f"{programme.states[state]}, seen {ago} steps ago"
