"""Sheets of the space that are neither roster nor staff: ways between places, who may visit whom.

They stand beside the settings, as ``edges``, ``travel``, ``places`` or ``visitors``, CSV or XLSX,
and name people of all times; of a day, only those who are there are kept.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from sequoia.errors import FileError
from sequoia.problem.spreadsheet import CSV, XLSX, read_spreadsheet
from sequoia.problem.tables import Table
from sequoia.programme.columns import Columns
from sequoia.programme.settings import Programme

# The columns of each sheet that hold names.
_NAMES = {
    "edges": ("from", "to"),
    "travel": ("from", "to"),
    "places": ("name",),
    "visitors": ("name",),
}
_HEADS = ("length", "minutes", "x", "y")
# The sheets that each kind of space reads; ways lead to arms, so that an action has to be an arm.
_OF_KIND = {"walk": ("edges",), "team": ("travel", "places"), "rota": ("visitors",)}
_BY_ARM = ("walk", "team")


def read_own_sheets(
    programme: Programme, columns: Columns, gone: Iterable[str], workers: Sequence[str] = ()
) -> dict[str, Table]:
    """Return the sheets that the space of a day reads, by the names it has for them.

    Parameters
    ----------
    gone
        Who was or will be on the roster, but is not there on the day.
    workers
        Who visits, for names of columns.
    """
    kind = str(programme.space.get("kind"))
    if kind in _BY_ARM and len(columns.doses) > 1:
        raise FileError(
            f"{programme.where} [doses] names {len(columns.doses)}; a {kind} has one: whoever is "
            "reached is visited."
        )
    away = set(gone)
    tables: dict[str, Table] = {}
    for name in _OF_KIND.get(kind, ()):
        path = _find(programme.folder, name)
        if path is not None:
            heads = (*_NAMES[name], *_HEADS, *workers)
            tables[name] = read_spreadsheet(path, name, heads)
    if "travel" in tables:
        # A way past somebody who is not there is still a way.
        tables |= _with_places(tables, away)
    return {
        name: _by_action(_without(table, _NAMES[name], away), columns)
        if name == "visitors"
        else _without(table, _NAMES[name], away if name == "edges" else set())
        for name, table in tables.items()
    }


def _find(folder: Path, name: str) -> Path | None:
    found = [folder / f"{name}{end}" for end in (CSV, XLSX) if (folder / f"{name}{end}").exists()]
    if len(found) > 1:
        raise FileError(f"{folder} has both {found[0].name} and {found[1].name}; one is wanted.")
    return found[0] if found else None


def _with_places(tables: dict[str, Table], away: set[str]) -> dict[str, Table]:
    """Return the places, among them those who are away and have ways."""
    ways = tables["travel"]
    named = {name for end in _NAMES["travel"] if end in ways.columns for name in ways.strings(end)}
    more = sorted(named & away)
    if not more:
        return {}
    there = tables.get("places")
    names = [] if there is None else there.strings("name")
    where = "places" if there is None else there.where
    return {"places": Table(where, {"name": [*names, *(one for one in more if one not in names)]})}


def _without(table: Table, ends: Sequence[str], away: set[str]) -> Table:
    """Return the rows that name nobody who is away."""
    kept = [
        row
        for row in range(len(table))
        if not any(table.columns[end][row] in away for end in ends if end in table.columns)
    ]
    return _rows(table, kept)


def _by_action(table: Table, columns: Columns) -> Table:
    """Return a row for each action that reaches an arm."""
    names = table.strings("name")
    several = [columns.of(name) if name in columns.arms else [name] for name in names]
    wide = _rows(table, [row for row, own in enumerate(several) for _ in own])
    return replace(wide, columns={**wide.columns, "name": [one for own in several for one in own]})


def _rows(table: Table, kept: Sequence[int]) -> Table:
    numbers = table.rows or range(2, len(table) + 2)
    return replace(
        table,
        columns={name: [column[row] for row in kept] for name, column in table.columns.items()},
        rows=[numbers[row] for row in kept],
    )
