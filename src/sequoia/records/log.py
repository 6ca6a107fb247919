"""The log of a programme as arrays: who was there, seen in which state, got what; from tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sequoia.errors import FileError, ProblemError
from sequoia.policies import Policy
from sequoia.problem import Problem
from sequoia.problem.framed_arms import framed, settle
from sequoia.problem.names import composed, count
from sequoia.problem.spreadsheet import read_csv
from sequoia.problem.tables import Table
from sequoia.shown import Shown
from sequoia.sizes import MOST_STEPS
from sequoia.validation import BoolArray, IntArray, frozen, require, set_fields, whole


@dataclass(frozen=True)
class Seen:
    """The chances that the state of an arm is seen, whatever the state is.

    Attributes
    ----------
    before
        Probability that it is known before the decision of a step, such as by a report; with 1,
        every state is known in every step.
    at_visit
        Probability that a dose other than 0 shows the state in which it is given. The decision
        of that step is then already made.
    """

    before: float = 0.0
    at_visit: float = 1.0

    def __post_init__(self) -> None:
        for name, value in (("before", self.before), ("at_visit", self.at_visit)):
            if not 0 <= value <= 1:
                raise ProblemError(f"seen.{name} is {value}; 0 to 1 is wanted.")


EVERY_STEP, AT_VISITS = Seen(1.0, 1.0), Seen(0.0, 1.0)


@dataclass(frozen=True)
class Words:
    """The names of what a log is about.

    Attributes
    ----------
    groups, states
        The name of each group and each state.
    doses
        The dose of each level, the first 0.
    """

    groups: Sequence[str]
    states: Sequence[str]
    doses: Sequence[float]


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Log(Shown):
    """The record of J arms over T steps.

    In step t the arm is in state ``s_t``, which may be seen; it gets the dose ``a_t``, 0 without a
    visit; then ``s_{t+1}`` follows by the transitions of its group under ``a_t``.

    Attributes
    ----------
    group
        The group, or model, of each arm, ``(J,)``.
    joined, left
        The first step of each arm, and the first after its last, ``(J,)``.
    n_steps
        ``T``; the doses of step ``T - 1`` are known, and states up to step T may have been seen.
    sightings
        Arm, step and state, ``(K, 3)``, in the order of arms and steps, each arm and step once.
    visits
        Arm, step and level of the dose, ``(V, 3)``, in that order too.
    words
        The names of groups, states and doses; ``None`` where nobody said them.

    Examples
    --------
    >>> from sequoia import Log
    >>> seen = {'arm': ['Ada', 'Ada'], 'step': [0, 2], 'state': ['ill', 'well'], 'dose': [1, None]}
    >>> Log.from_frame(seen, {'arm': ['Ada', 'Ben']}, states=['ill', 'well'])
    Log of 2 arms in 1 group over 2 steps: 2 sightings, 1 visit
    """

    group: IntArray
    joined: IntArray
    left: IntArray
    n_steps: int
    sightings: IntArray
    visits: IntArray
    words: Words | None

    def __init__(
        self,
        group: ArrayLike,
        n_steps: int,
        sightings: ArrayLike,
        visits: ArrayLike,
        joined: ArrayLike | None = None,
        left: ArrayLike | None = None,
        words: Words | None = None,
    ) -> None:
        group = frozen("log.group", group, np.int64, (None,))
        require("log.group", group, group >= 0, "groups run from 0")
        arms, steps = len(group), whole("log.n_steps", n_steps, 0, MOST_STEPS)
        came = frozen("log.joined", np.zeros(arms) if joined is None else joined, np.int64, (arms,))
        require("log.joined", came, (came >= 0) & (came <= steps), f"0 to {steps} is wanted")
        # Whoever is still there may also have been seen after the last step.
        gone = frozen(
            "log.left", np.full(arms, steps + 1) if left is None else left, np.int64, (arms,)
        )
        require("log.left", gone, (gone >= came) & (gone <= steps + 1), "after joining is wanted")
        set_fields(
            self,
            group=group,
            joined=came,
            left=gone,
            n_steps=steps,
            sightings=_events("log.sightings", sightings, came, gone),
            visits=_events("log.visits", visits, came, np.minimum(gone, steps)),
            words=words,
        )

    def _lines(self) -> list[str]:
        """Return how much was seen and done."""
        sighted, given = len(self.sightings), len(self.visits)
        return [
            f"Log of {count(self.n_arms, 'arm')} in {count(self.n_groups, 'group')} over "
            f"{count(self.n_steps, 'step')}: {count(sighted, 'sighting')}, {count(given, 'visit')}"
        ]

    @classmethod
    def from_frame(cls, log: Any, arms: Any, states: Sequence[str]) -> "Log":
        """Return a log from data frames, or from columns by name.

        Parameters
        ----------
        log
            The columns ``arm``, ``step``, ``state`` and ``dose``. A state that was not seen and a
            dose that was not given are empty; without the column ``dose`` nothing was ever done.
        arms
            A row for each arm: ``arm``, its name, and ``model``, the group whose arms move alike;
            without it, all arms do.
        states
            The names of states, from the first to the last.

        Raises
        ------
        ProblemError
            One line for each cell that is wrong.
        """
        who, rows = framed("arms", arms, "arm"), framed("log", log, "arm", "step", "state")
        names = who.names("arm")
        groups = list(dict.fromkeys(who.strings("model"))) if "model" in who.columns else ["all"]
        group = who.places("model", groups) if "model" in who.columns else np.zeros(len(names))
        settle(who)
        arm, step = rows.places("arm", names), rows.integers("step", 0)
        has_state = rows.filled("state")
        state = rows.at(has_state).numbers("state", "state", states)
        settle(rows)
        given = rows.filled("dose") if "dose" in rows.columns else has_state[:0]
        dose = rows.at(given).floats("dose") if len(given) else np.empty(0)
        settle(rows)
        doses, level = np.unique(np.append(dose, 0.0), return_inverse=True)
        if doses[0] < 0:
            raise ProblemError(f"log, column 'dose' has {doses[0]:g}; at least 0 is wanted.")
        steps = int(max(step[has_state].max(initial=0), step[given].max(initial=-1) + 1))
        visits = np.column_stack([arm[given], step[given], level[:-1]])
        return cls(
            group,
            steps,
            np.column_stack([arm[has_state], step[has_state], state]),
            visits[dose > 0],
            words=Words(tuple(groups), tuple(map(str, states)), tuple(doses.tolist())),
        )

    @property
    def n_arms(self) -> int:
        """``J``."""
        return len(self.group)

    @property
    def n_rows(self) -> int:
        """Sightings and visits together."""
        return len(self.sightings) + len(self.visits)

    @cached_property
    def n_groups(self) -> int:
        """One more than the largest number of a group."""
        return int(self.group.max(initial=-1)) + 1

    def before(self, step: int) -> "Log":
        """Return what was known when step ``step`` began: sightings up to it, doses before it."""
        kept = np.flatnonzero(self.joined <= step)
        number = np.full(self.n_arms, -1)
        number[kept] = np.arange(len(kept))
        earlier = self.sightings[self.sightings[:, 1] <= step]
        given = self.visits[self.visits[:, 1] < step]
        return Log(
            self.group[kept],
            step,
            np.column_stack([number[earlier[:, 0]], earlier[:, 1:]]),
            np.column_stack([number[given[:, 0]], given[:, 1:]]),
            self.joined[kept],
            np.minimum(self.left[kept], step + 1),
            self.words,
        )


def _events(where: str, rows: ArrayLike, first: IntArray, end: IntArray) -> IntArray:
    """Return arm, step and value of each event, sorted; or say which does not fit."""
    rows = np.asarray(rows)
    events = frozen(where, rows.reshape(0, 3) if not rows.size else rows, np.int64, (None, 3))
    arm, step, value = events.T
    require(f"{where}[:, 0]", arm, (arm >= 0) & (arm < len(first)), f"0 to {len(first) - 1}")
    require(f"{where}[:, 2]", value, value >= 0, "at least 0 is wanted")
    here = (step >= first[arm]) & (step < end[arm])
    require(f"{where}[:, 1]", step, here, "a step at which the arm is there is wanted")
    events = events[np.lexsort((step, arm))]
    twice = (np.diff(events[:, :2], axis=0) == 0).all(axis=1)
    if twice.any():
        at = events[np.flatnonzero(twice)[0]]
        raise ProblemError(f"{where} names arm {at[0]} at step {at[1]} twice; once is wanted.")
    events.setflags(write=False)
    return events


def simulate_log(
    problem: Problem, policy: Policy, steps: int, seen: Seen, rng: np.random.Generator
) -> Log:
    """Play ``policy``, which knows all states, and keep what is seen; arms are grouped by model.

    The first state is seen as those of all other steps are. Where arms infect each other, what acts
    on an arm is its dose and the pressure on it together: the level of the log is then
    ``dose + L * pressure``, also in steps without a visit.
    """
    states = problem.draw_start(rng, 1)
    policy.reset(1)
    sighted, given = [], []
    for step in range(steps + 1):
        last = step == steps
        actions = policy.act(states, step, [rng]).actions if not last else None
        levels = np.zeros_like(states) if actions is None else problem.levels(actions)
        shown = _shown(levels[0], seen, rng)
        sighted.append(_rows(shown, step, states[0]))
        if actions is not None:
            acting = levels[0]
            if problem.contagion is not None:
                acting = acting + problem.arms.n_doses * problem.contagion.pressure(states)[0]
            given.append(_rows(acting > 0, step, acting))
            states = problem.transition(states, actions, rng.random((1, problem.n_noise)))
    nothing = np.empty((0, 3), dtype=np.int64)
    return Log(
        groups_of(problem),
        steps,
        np.concatenate(sighted),
        np.concatenate([nothing, *given]),
    )


def groups_of(problem: Problem) -> IntArray:
    """Return the group of each arm, ``(J,)``: its model or, with contagion, all it may have."""
    if problem.contagion is None:
        return problem.arms.model
    group: IntArray = np.unique(problem.contagion.models, axis=0, return_inverse=True)[1]
    return group


def _shown(levels: IntArray, seen: Seen, rng: np.random.Generator) -> BoolArray:
    luck = rng.random((2, len(levels)))
    shown: BoolArray = (luck[0] < seen.before) | ((levels > 0) & (luck[1] < seen.at_visit))
    return shown


def _rows(which: BoolArray, step: int, values: IntArray) -> IntArray:
    arm = np.flatnonzero(which)
    return np.column_stack([arm, np.full_like(arm, step), values[arm]])


def read_log(sightings: Path, visits: Path | None, problem: Problem) -> Log:
    """Read a log of the arms of ``problem``.

    Parameters
    ----------
    sightings
        A table with the columns ``arm``, ``step`` and ``state``, by name or number.
    visits
        A table with the columns ``arm``, ``step`` and, unless every visit gives the same, ``dose``.
        ``None`` for no visits.

    Raises
    ------
    FileError
        One line for each row that is wrong.
    """
    arms, found = problem.arms, list[str]()
    if problem.contagion is not None:
        raise FileError(f"{sightings} cannot be fitted: the arms of {problem.name} interact.")
    sighted = read_csv(sightings, found)
    _require(sighted, "arm", "step", "state")
    states = sighted.numbers("state", "state", [composed(name) for name in arms.state_names])
    seen_rows = _checked_rows(sighted, problem, states)
    given_rows = np.empty((0, 3), dtype=np.int64)
    if visits is not None:
        given = read_csv(visits, found)
        _require(given, "arm", "step")
        given_rows = _checked_rows(given, problem, np.zeros(len(given), dtype=np.int64))
        if not found:
            given_rows[:, 2] = _levels(given, problem, given_rows[:, 0])
    if found:
        raise FileError(*found)
    given_rows = given_rows[given_rows[:, 2] > 0]
    steps = max(seen_rows[:, 1].max(initial=0), given_rows[:, 1].max(initial=-1) + 1)
    return Log(groups_of(problem), int(steps), seen_rows, given_rows)


def _require(table: Table, *columns: str) -> None:
    for column in columns:
        if column not in table.columns:
            there = ", ".join(table.columns) or "none"
            raise FileError(
                f"{table.where} has the columns {there}; {' and '.join(columns)} are wanted."
            )


def _checked_rows(table: Table, problem: Problem, values: IntArray) -> IntArray:
    """Return arm, step and value of each row; each arm once in a step."""
    arm = table.places("arm", [composed(name) for name in problem.arms.names])
    step = table.integers("step", 0)
    met: dict[tuple[int, int], int] = {}
    for row, pair in enumerate(zip(arm.tolist(), step.tolist(), strict=True)):
        if not table.found and met.setdefault(pair, row) != row:
            name = problem.arms.names[pair[0]]
            table.found.append(
                f"{table.place(row)} names {name!r} at step {pair[1]} again; once is wanted."
            )
    return np.column_stack([arm, step, values])


def _levels(table: Table, problem: Problem, arm: IntArray) -> IntArray:
    """Return the level of each dose; the only one there is, if none is given."""
    doses = problem.arms.doses[problem.arms.model[arm]]
    if "dose" not in table.columns:
        if doses.shape[1] != 2:
            raise FileError(f"{table.where} has no column dose; arms have more than one.")
        return np.ones(len(arm), dtype=np.int64)
    given = table.floats("dose")
    distance = np.abs(doses - given[:, None])
    table.require("dose", given, distance.min(axis=1) <= 1e-9, "a dose of the arm is wanted")
    level: IntArray = distance.argmin(axis=1)
    return level
