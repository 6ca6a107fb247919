"""A team as options and tables; ways may be given by coordinates."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sequoia.problem.clock import DAY, minute_of, written_time
from sequoia.problem.geography import ROAD_FACTOR, SPEEDS, odd_coordinates, travel_minutes
from sequoia.problem.names import closest
from sequoia.problem.spaces.visitors import read_visitors, visitors_table
from sequoia.problem.tables import Column, Table, TableSet, table
from sequoia.sizes import MOST_STEPS
from sequoia.validation import FloatArray, IntArray

if TYPE_CHECKING:
    from sequoia.problem.spaces.team.space import Team

# When walkers set out, and visits may begin, unless they say.
MORNING = 8 * 60
ANY_TIME = (0, MOST_STEPS + DAY)
_PLACE = ("lat", "lon")
_BEGINS, _WINDOW = "begins", dict(zip(("earliest", "latest"), ANY_TIME, strict=True))


def to_tables(space: "Team") -> TableSet:
    """Return options and tables."""
    names = space.place_names
    arms: dict[str, Column] = {"name": space.names, "minutes": space.service}
    places: dict[str, Column] = {"name": space.places}
    if space.positions is not None:
        n_arms = space.n_actions
        arms |= {"x": space.positions[:n_arms, 0], "y": space.positions[:n_arms, 1]}
        places |= {"x": space.positions[n_arms:, 0], "y": space.positions[n_arms:, 1]}
    if space.has_windows:
        arms |= {
            head: ["" if at == any_ else written_time(at) for at in space.windows[:, side].tolist()]
            for side, (head, any_) in enumerate(_WINDOW.items())
        }
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
    if space.has_begins:
        workers[_BEGINS] = [written_time(minute) for minute in space.begins.tolist()]
    tables = table("actions", **arms) | table("workers", **workers) | table("travel", **ways)
    tables |= visitors_table(space.may_serve, space.names, space.worker_names)
    return TableSet({}, tables | (table("places", **places) if len(space.places) else {}))


def from_tables(content: TableSet) -> dict[str, Any]:
    """Return what a `Team` is made of.

    ``travel`` holds all ways, or those of a graph. Without it, places have coordinates, and ways
    are as long as ``mode`` and ``road_factor`` make them; a walker without a depot has its own.
    """
    arms, workers = content.table("actions"), content.table("workers")
    has_ways = "travel" in content.tables or "lat" not in arms.columns
    content.known({"kind"} if has_ways else {"kind", "mode", "road_factor"})
    if has_ways:
        content.table("travel")
    names, worker_names = arms.names("name"), workers.names("name")
    sheets = [arms]
    if "places" in content.tables:
        sheets.append(content.table("places"))
    elif not has_ways and "depot" not in workers.columns:
        starts: dict[str, Column] = dict(workers.columns.items())
        starts["name"] = [f"start of {name}" for name in worker_names]
        sheets.append(replace(workers, columns=starts))
    places = [name for sheet in sheets[1:] for name in sheet.names("name")]
    every = [*names, *places]
    service = arms.integers("minutes", least=1)
    limits = workers.integers("minutes", least=0)
    if "depot" in workers.columns or has_ways:
        depots = workers.places("depot", every)
    else:
        depots = len(names) + np.arange(len(worker_names))
    travel = _ways(content, every) if has_ways else _by_coordinates(content, sheets)
    positions = None
    heads = ["x", "y"] if has_ways else ["lon", "lat"]
    if all(head in sheet.columns for head in heads for sheet in sheets):
        positions = np.concatenate([sheet.matrix(heads) for sheet in sheets])
    given = {
        "begins": _times(workers, _BEGINS, MORNING),
        "windows": np.stack([_times(arms, *window) for window in _WINDOW.items()], axis=1),
        "may_serve": read_visitors(content, names, worker_names),
    }
    content.settle()
    return {
        "travel": travel,
        "service": service,
        "depots": depots,
        "limits": limits,
        "names": names,
        "worker_names": worker_names,
        "places": places,
        "positions": positions,
    } | given


def _ways(content: TableSet, places: list[str]) -> FloatArray:
    """Return the minutes of ``travel``, ``(P, P)``; infinite where no way is given."""
    ways = content.table("travel")
    start, stop = ways.places("from", places), ways.places("to", places)
    minutes = ways.integers("minutes", least=0)
    travel = np.full((len(places), len(places)), np.inf)
    np.fill_diagonal(travel, 0.0)
    if not content.found:
        travel[start, stop] = minutes
    return travel


def _by_coordinates(content: TableSet, sheets: list[Table]) -> IntArray:
    """Return minutes between places at the speed of ``mode``, ``(P, P)``."""
    mode = content.option("mode", str, "car")
    factor = content.option("road_factor", float, ROAD_FACTOR, least=1.0, most=10.0)
    if mode not in SPEEDS:
        near = closest(mode, list(SPEEDS))
        content.found.append(
            f"{content.where}, option 'mode' is {mode!r}; one of {', '.join(SPEEDS)} is wanted"
            f"{near}."
        )
    lat, lon = (np.concatenate([sheet.matrix([head])[:, 0] for sheet in sheets]) for head in _PLACE)
    if content.found:
        return np.zeros((len(lat), len(lat)), dtype=np.int64)
    where = [
        f"{sheet.place(row)}: {name}"
        for sheet in sheets
        for row, name in enumerate(sheet.strings("name"))
    ]
    content.found.extend(odd_coordinates(where, lat, lon))
    return travel_minutes(lat, lon, SPEEDS.get(mode, 1.0), factor)


def _times(sheet: Table, head: str, otherwise: int) -> IntArray:
    """Return times of day as minutes since midnight; ``otherwise`` where none is said."""
    if head not in sheet.columns:
        return np.full(len(sheet), otherwise)
    minutes = []
    for row, text in enumerate(sheet.strings(head)):
        minute = minute_of(text) if text.strip() else otherwise
        if minute is None:
            sheet.found.append(
                f"{sheet.place(row)}, column {head!r} is {text!r}; a time such as 09:30 is wanted."
            )
        minutes.append(minute or 0)
    return np.array(minutes, dtype=np.int64)
