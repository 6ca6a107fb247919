"""A decision as errands: who goes where, when, to do what."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sequoia.problem import ActionSpace, Decision


class Task(NamedTuple):
    """One line of a plan that a person carries out; what does not apply is empty."""

    who: str
    when: str
    where: str
    do: str


def tasks(space: ActionSpace, decision: Decision) -> list[Task]:
    """Return the errands of ``decision`` in the order in which they are done."""
    today = space.base.absent(space.rules.absent)
    return _ERRANDS.get(today.kind, _chosen)(today, decision)


def _visits(space: Any, decision: Decision) -> list[Task]:
    return [
        Task(space.worker_names[worker], "", space.names[arm], "visit")
        for worker, arm in np.argwhere(space.visits(decision)).tolist()
    ]


def _bookings(space: Any, decision: Decision) -> list[Task]:
    booked = space.booked(decision).transpose(2, 0, 1)
    return [
        Task(space.worker_names[worker], space.slot_names[slot], space.names[arm], "visit")
        for slot, worker, arm in np.argwhere(booked).tolist()
    ]


def _walk(space: Any, decision: Decision) -> list[Task]:
    """Follow the walk; where a node is acted on, that happens when it is first reached."""
    route = space.walk(decision)
    distance = space.distance
    step, open_ = 0, {int(node) for node in np.flatnonzero(decision.action)}
    found = []
    for index, node in enumerate(route):
        if index:
            step += int(_leg(space, route[index - 1], node, distance))
        does = "act" if node in open_ else "begin" if not index else "pass"
        does = "return" if index and index == len(route) - 1 and does == "pass" else does
        open_.discard(node)
        found.append(Task("", f"step {step}", space.names[node], does))
    return found


def _leg(space: Any, a: int, b: int, distance: Any) -> float:
    """Return the length of the edge between two nodes."""
    pairs = np.sort(space.edges, axis=1)
    match = np.flatnonzero((pairs == sorted((a, b))).all(axis=1))
    return float(space.lengths[match[0]] if len(match) else distance[a, b])


def _chosen(space: ActionSpace, decision: Decision) -> list[Task]:
    tasks = [Task("", "", name, "act") for name in space.chosen(decision.action)]
    plan = space.system.column_names[space.n_actions :]
    also = [plan[column] for column in np.flatnonzero(decision.plan).tolist()]
    return tasks + [Task("", "", name, "plan") for name in also]


_ERRANDS: dict[str, Callable[[Any, Decision], list[Task]]] = {
    "assignment": _visits,
    "path": _walk,
    "schedule": _bookings,
}
