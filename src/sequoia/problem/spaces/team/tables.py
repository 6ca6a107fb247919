"""A team as options and tables."""

from typing import TYPE_CHECKING, Any

import numpy as np

from sequoia.problem.spaces.visitors import read_visitors, visitors_table
from sequoia.problem.tables import Column, TableSet, table

if TYPE_CHECKING:
    from sequoia.problem.spaces.team.space import Team


def to_tables(space: "Team") -> TableSet:
    """Return options and tables."""
    names = space.place_names
    arms: dict[str, Column] = {"name": space.names, "minutes": space.service}
    places: dict[str, Column] = {"name": space.places}
    if space.positions is not None:
        n_arms = space.n_actions
        arms |= {"x": space.positions[:n_arms, 0], "y": space.positions[:n_arms, 1]}
        places |= {"x": space.positions[n_arms:, 0], "y": space.positions[n_arms:, 1]}
    start, stop = np.nonzero(~np.eye(len(names), dtype=np.bool_))
    ways: dict[str, Column] = {
        "from": [names[place] for place in start.tolist()],
        "to": [names[place] for place in stop.tolist()],
        "minutes": space.travel[start, stop],
    }
    workers: dict[str, Column] = {
        "name": space.worker_names,
        "depot": [names[depot] for depot in space.depots.tolist()],
        "minutes": space.limits,
    }
    tables = table("actions", **arms) | table("workers", **workers) | table("travel", **ways)
    tables |= visitors_table(space.may_serve, space.names, space.worker_names)
    return TableSet({}, tables | (table("places", **places) if len(space.places) else {}))


def from_tables(content: TableSet) -> dict[str, Any]:
    """Return what a `Team` is made of; ``travel`` holds all ways, or those of a graph."""
    content.known({"kind"})
    arms, workers = content.table("actions"), content.table("workers")
    ways = content.table("travel")
    names, worker_names = arms.names("name"), workers.names("name")
    more = content.table("places") if "places" in content.tables else None
    places = [] if more is None else more.names("name")
    every = [*names, *places]
    service = arms.integers("minutes", least=1)
    limits = workers.integers("minutes", least=0)
    depots = workers.places("depot", every)
    start, stop = ways.places("from", every), ways.places("to", every)
    minutes = ways.integers("minutes", least=0)
    positions = None
    if "x" in arms.columns and (more is None or "x" in more.columns):
        parts = [arms.matrix(["x", "y"])] + ([] if more is None else [more.matrix(["x", "y"])])
        positions = np.concatenate(parts)
    may_serve = read_visitors(content, names, worker_names)
    content.settle()
    travel = np.full((len(every), len(every)), np.inf)
    np.fill_diagonal(travel, 0.0)
    travel[start, stop] = minutes
    return {
        "travel": travel,
        "service": service,
        "depots": depots,
        "limits": limits,
        "names": names,
        "worker_names": worker_names,
        "places": places,
        "positions": positions,
        "may_serve": may_serve,
    }
