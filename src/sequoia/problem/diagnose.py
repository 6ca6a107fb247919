"""Findings of ``sequoia check`` about a problem."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np

from sequoia.errors import InfeasibleDecision, InfeasibleSpace, ProblemError
from sequoia.problem.capabilities import capabilities_of, space_at
from sequoia.problem.environment import Environment
from sequoia.problem.environment_checks import check_environment
from sequoia.problem.files import edited_since_written
from sequoia.problem.iis import irreducible_infeasible_subset
from sequoia.problem.names import between, count, say
from sequoia.problem.problem import Problem
from sequoia.problem.reading import OPTIONAL_TABLES
from sequoia.problem.spaces import ActionSpace
from sequoia.problem.spreadsheet import read_csv
from sequoia.solvers import Highs, Limits, Status
from sequoia.validation import BoolArray, FloatArray

_SECONDS = 10.0
_MOST_NAMED = 8


class Mark(Enum):
    """The weight of a finding; a problem with a `PROBLEM` cannot be planned."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Finding:
    """One line of ``sequoia check``."""

    mark: Mark
    text: str


def diagnose(environment: Environment, path: Path) -> Iterator[Finding]:
    """Yield what there is to say about an environment, read from ``path``."""
    problem = capabilities_of(environment).problem
    if problem is None:
        yield from _about_any(environment)
        return
    yield Finding(
        Mark.OK,
        f"well-formed: {count(problem.arms.n_arms, 'arm')} with "
        f"{count(problem.arms.n_states, 'state')}, "
        f"{count(problem.space.n_actions, 'action column')}, fingerprint {problem.fingerprint}",
    )
    if path.is_dir():
        yield from _about_folder(problem, path)
    status = _solve(problem.space, np.zeros(problem.space.n_actions))[0]
    if status is Status.INFEASIBLE:
        rows = " | ".join(irreducible_infeasible_subset(problem.space.compact))
        yield Finding(Mark.PROBLEM, f"no decision exists; these rules contradict: {rows}")
        return
    if status is not Status.OPTIMAL:
        yield Finding(Mark.NOTE, f"whether a decision exists is open after {_SECONDS:g} seconds")
        return
    yield Finding(Mark.OK, "a decision exists")
    yield _about_idling(problem.space)
    if problem.keeper is not None:
        turns = problem.keeper.timetable.period
        in_turn = f"; turns come every {between(turns[turns > 0])} steps" if turns.any() else ""
        yield Finding(Mark.OK, f"all promises can be kept with the usual staff{in_turn}")
    yield from _about_columns(problem)


def _about_any(environment: Environment) -> Iterator[Finding]:
    """Yield what there is to say about an environment that is no problem of arms."""
    start = environment.draw_start(np.random.default_rng(0), 1)
    yield Finding(
        Mark.OK,
        f"well-formed: states of {count(start.shape[1], 'number')}, "
        f"{count(environment.space.n_actions, 'action column')}, "
        f"fingerprint {environment.fingerprint}",
    )
    try:
        check_environment(environment)
    except (InfeasibleSpace, ProblemError) as error:
        yield Finding(Mark.PROBLEM, str(error))
        return
    yield Finding(Mark.OK, "its promises hold in random play, and a decision exists in each state")
    first = space_at(environment, start[0], 0)
    yield _about_idling(first)


def _about_folder(problem: Problem, path: Path) -> Iterator[Finding]:
    if edited_since_written(path):
        yield Finding(Mark.NOTE, "edited since it was written, or written by hand")
    else:
        yield Finding(Mark.OK, "not edited since it was written")
    read = problem.to_tables().tables
    for file in sorted(path.glob("*.csv")):
        if file.stem not in {*read, *OPTIONAL_TABLES}:
            yield Finding(
                Mark.NOTE,
                f"{file.name} is not used; a {problem.space.base.kind} "
                f"problem reads {say(f'{name}.csv' for name in read)}",
            )
        elif file.stem in read:
            known = read[file.stem].columns
            unread = [name for name in read_csv(file).columns if name not in known]
            if unread:
                yield Finding(Mark.NOTE, f"{file.name}: nobody reads the column {say(unread)}")


def _about_idling(space: ActionSpace) -> Finding:
    try:
        space.certify(np.zeros(space.n_actions, dtype=np.int8))
    except InfeasibleDecision as error:
        why = str(error).removeprefix("nothing: ").rstrip(".")
        return Finding(Mark.NOTE, f"doing nothing is not allowed: {why}")
    return Finding(Mark.OK, "doing nothing is allowed")


def _about_columns(problem: Problem) -> Iterator[Finding]:
    space, arms = problem.space, problem.arms
    possible, is_proven = reachable_columns(space)
    if not is_proven:
        yield Finding(Mark.NOTE, "whether every action can be chosen is open: it takes too long")
    elif possible.all():
        yield Finding(Mark.OK, "every action column can be chosen")
    else:
        yield Finding(Mark.NOTE, f"never chosen: {_some(space.names, ~possible)}")
    reached = abs(problem.influence) @ possible.astype(np.float64) > 0
    if is_proven and not reached.all() and not problem.is_identity:
        yield Finding(Mark.NOTE, f"no action reaches {_some(arms.names, ~reached)}")


def reachable_columns(space: ActionSpace) -> tuple[BoolArray, bool]:
    """Return which action columns some decision chooses, ``(N,)``, and whether that is proven.

    Single columns are tried first. What rules forbid alone may be allowed in company, so the rest
    is asked of the solver: choose as many new columns as possible, until none is left to choose.
    """
    possible = space.contains(np.eye(space.n_actions, dtype=np.int8))
    while not possible.all():
        status, chosen = _solve(space, (~possible).astype(np.float64))
        fresh = chosen & ~possible
        if status is not Status.OPTIMAL:
            return possible | fresh, False
        if not fresh.any():
            break
        possible |= fresh
    return possible, True


def _solve(space: ActionSpace, weights: FloatArray) -> tuple[Status, BoolArray]:
    solution = Highs().solve(space.compact.program(weights), Limits(seconds=_SECONDS))
    if solution.values is None:
        return solution.status, np.zeros(space.n_actions, dtype=np.bool_)
    chosen: BoolArray = solution.values[: space.n_actions] > 0.5
    return solution.status, chosen


def _some(names: Sequence[str], which: BoolArray) -> str:
    return _few([names[i] for i in np.flatnonzero(which).tolist()])


def _few(texts: list[str]) -> str:
    if len(texts) > _MOST_NAMED:
        texts = [*texts[: _MOST_NAMED - 1], f"{len(texts) - _MOST_NAMED + 1} more"]
    return say(texts)
