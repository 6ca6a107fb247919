"""A problem in numbers and in words."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sequoia.problem import ActionSpace, Contagion, LinearSystem, Problem
from sequoia.problem.names import say


def between(values: ArrayLike) -> str:
    """Say a range: ``"2 to 6"``, or ``"3"`` when all values are equal."""
    values = np.asarray(values, dtype=np.float64)
    if not values.size:
        return "none"
    low, high = values.min(), values.max()
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def rules_in_words(space: ActionSpace) -> list[str]:
    """Say what is allowed: the rules of the space first, then the extra ones."""
    extra = space.rules.rows(space.names).names
    off = [f"{worker} is off" for worker in space.rules.absent]
    return [_WORDS.get(space.base.kind, _rows)(space.base), *extra, *off]


def summary(problem: Problem) -> dict[str, Any]:
    """Return the numbers that ``sequoia show`` prints, ready for JSON."""
    arms, space = problem.arms, problem.space
    return {
        "problem": problem.name,
        "fingerprint": problem.fingerprint,
        "arms": arms.n_arms,
        "models": arms.n_models,
        "states": arms.n_states,
        "doses": np.unique(arms.doses).tolist(),
        "rewards": {"least": float(arms.rewards.min()), "most": float(arms.rewards.max())},
        "infects": problem.contagion is not None,
        "horizon": problem.horizon,
        "discount": problem.discount,
        "actions": space.n_actions,
        "space": space.base.kind,
        "rules": rules_in_words(space),
        "paper_form": _sizes(space.system),
        "compact_form": _sizes(space.compact),
    }


def _sizes(system: LinearSystem) -> dict[str, int]:
    return {"columns": system.n_columns, "rows": system.n_rows, "entries": int(system.matrix.nnz)}


def lines(problem: Problem) -> Iterable[tuple[str, str]]:
    """Yield what ``sequoia show`` prints: a label and its text."""
    arms, space = problem.arms, problem.space
    doses = np.unique(arms.doses)
    listed = ", ".join(f"{dose:g}" for dose in doses[:8]) + (", …" if len(doses) > 8 else "")
    best = arms.rewards.max(axis=1)[arms.model]
    yield "fingerprint", problem.fingerprint
    yield "arms", f"{arms.n_arms}, each with {arms.n_states} states; doses {listed}"
    yield "rewards", f"{between(arms.rewards)}; the best state of an arm pays {between(best)}"
    yield "start", _start(problem)
    if problem.contagion is not None:
        yield "contagion", _contagion(problem.contagion)
    yield "horizon", f"{problem.horizon} steps, discount {problem.discount:g}"
    yield "actions", f"{_count(space.n_actions, 'column')}, {_influence(problem)}"
    for number, rule in enumerate(rules_in_words(space)):
        yield "rules" if number == 0 else "", rule
    for label, system in (("paper's form", space.system), ("compact form", space.compact)):
        yield label, f"{_count(system.n_columns, 'column')}, {_count(system.n_rows, 'row')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _start(problem: Problem) -> str:
    share = problem.start.mean(axis=0)
    parts = [f"{part:.0%} in state {s}" for s, part in enumerate(share) if part > 0]
    return ", ".join(parts)


def _contagion(contagion: Contagion) -> str:
    spreading = [f"state {state}" for state in np.flatnonzero(contagion.sources).tolist()]
    neighbours = np.diff(contagion.neighbours.indptr)
    return f"{say(spreading)} of an arm bears on its neighbours, {between(neighbours)} of them"


def _influence(problem: Problem) -> str:
    if problem.is_identity:
        return "one per arm"
    reach = np.bincount(problem.influence.indices, minlength=problem.space.n_actions)
    return f"each reaches {between(reach)} arms"


def _budget(space: Any) -> str:
    return f"budget: at most {space.limit:g} units in all; an action costs {between(space.costs)}"


def _assignment(space: Any) -> str:
    total = space.capacities.sum()
    return (
        f"assignment: {space.n_workers} workers with capacity {between(space.capacities)} "
        f"({total:g} in all); a visit takes {between(space.costs)}"
    )


def _schedule(space: Any) -> str:
    workers, slots = space.worker_slots.shape
    who = " by different workers" if space.distinct_workers else ""
    return (
        f"schedule: {workers} workers with {between(space.worker_slots.sum(axis=1))} of {slots} "
        f"slots open, arms with {between(space.arm_slots.sum(axis=1))}; "
        f"{_count(space.visits, 'visit')} to an arm{who}, at most {space.limit} arms"
    )


def _path(space: Any) -> str:
    return (
        f"path: a closed walk of at most {space.length} steps from {space.names[space.source]} "
        f"over {len(space.edges)} edges of length {between(space.lengths)}; act on at most "
        f"{space.limit} visited nodes"
    )


def _rows(space: ActionSpace) -> str:
    names = list(space.system.row_names)
    shown = say(names if len(names) <= 6 else [*names[:5], f"{len(names) - 5} more"])
    return f"{space.kind}: {_count(len(names), 'row')} ({shown})"


_WORDS: dict[str, Callable[[Any], str]] = {
    "assignment": _assignment,
    "budget": _budget,
    "path": _path,
    "schedule": _schedule,
}
