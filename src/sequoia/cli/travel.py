"""``sequoia travel``: minutes from place to place, as a team's table of ways."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from sequoia.cli.common import Force
from sequoia.errors import FileError, ProblemError
from sequoia.io import refuse_to_replace, write_text
from sequoia.problem.geography import ROAD_FACTOR, SPEEDS, odd_coordinates, travel_minutes
from sequoia.problem.names import closest, count
from sequoia.problem.spreadsheet import csv_text, read_spreadsheet
from sequoia.validation import FloatArray

_HEADS = ("name", "lat", "lon")


def travel(
    sheets: Annotated[
        list[Path],
        typer.Argument(metavar="SHEET…", help="Places: the columns name, lat and lon, in degrees."),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Where to write from, to and minutes: travel.csv."),
    ],
    mode: Annotated[str, typer.Option(help=f"How people travel: {', '.join(SPEEDS)}.")] = "car",
    road_factor: Annotated[
        float,
        typer.Option(help="How much longer ways are than as the crow flies.", min=1, max=10),
    ] = ROAD_FACTOR,
    server: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="A routing server of your own, such as http://127.0.0.1:5000; else ways are as "
            "the crow flies, times the road factor.",
        ),
    ] = "",
    kind: Annotated[str, typer.Option(help="What the server is: osrm or valhalla.")] = "osrm",
    public_server: Annotated[
        bool,
        typer.Option("--public-server", help="It may be public, and learn where people live."),
    ] = False,
    force: Force = False,
) -> None:
    """Write minutes from place to place, by coordinates or by a routing server."""
    refuse_to_replace([output], force)
    if mode not in SPEEDS:
        near = closest(mode, list(SPEEDS))
        raise ProblemError(f"--mode is {mode!r}; one of {', '.join(SPEEDS)} is wanted{near}.")
    names, lat, lon, where = _places(sheets)
    if server:
        from sequoia.interop.road_servers import server_minutes

        minutes = server_minutes(server, lat, lon, mode, kind, public_server)
        _require_ways(minutes, where)
    else:
        minutes = travel_minutes(lat, lon, SPEEDS[mode], road_factor).astype(np.float64)
    start, stop = np.nonzero(~np.eye(len(names), dtype=np.bool_))
    rows = [
        (names[a], names[b], int(minutes[a, b]))
        for a, b in zip(start.tolist(), stop.tolist(), strict=True)
    ]
    write_text(output, csv_text([("from", "to", "minutes"), *rows]))
    typer.echo(f"Wrote {output}: {count(len(names), 'place')}, {count(len(rows), 'way')}.")


def _places(sheets: list[Path]) -> tuple[list[str], FloatArray, FloatArray, list[str]]:
    """Return names and coordinates of all places, and where each of them is written."""
    found: list[str] = []
    names: list[str] = []
    where: list[str] = []
    parts = []
    for path in sheets:
        sheet = read_spreadsheet(path, heads=_HEADS).noting_in(found)
        own = sheet.names("name")
        where += [f"{sheet.place(row)}: {name}" for row, name in enumerate(own)]
        names += own
        parts.append(sheet.matrix(["lat", "lon"]))
    twice = sorted({name for name in names if names.count(name) > 1})
    found += [
        f"{name!r} is in more than one sheet; one place for each name is wanted." for name in twice
    ]
    if not found:
        lat, lon = np.concatenate(parts).T
        found += odd_coordinates(where, lat, lon)
    if found:
        raise FileError(*found)
    return names, lat, lon, where


def _require_ways(minutes: FloatArray, where: list[str]) -> None:
    """Name the places that no way leads to, or from."""
    alone = (np.isinf(minutes).sum(axis=1) > len(where) / 2) | (
        np.isinf(minutes).sum(axis=0) > len(where) / 2
    )
    if alone.any():
        raise FileError(
            *(f"{where[place]} cannot be reached by road." for place in np.flatnonzero(alone))
        )
    if np.isinf(minutes).any():
        first, last = np.argwhere(np.isinf(minutes))[0].tolist()
        raise FileError(f"{where[first]} has no way to {where[last]}.")
