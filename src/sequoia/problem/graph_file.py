"""A user's graph from an edge list."""

import csv
from pathlib import Path

import networkx as nx

from sequoia.errors import FileError


def read_graph(path: Path) -> nx.Graph:
    """Read a CSV with the columns ``from``, ``to`` and, if edges differ, ``length``."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            columns = list(reader.fieldnames or ())
            rows = list(reader)
    except (OSError, ValueError, csv.Error) as error:
        raise FileError(f"{path} cannot be read: {error}.") from None
    if not {"from", "to"} <= set(columns) <= {"from", "to", "length"}:
        found = ", ".join(columns) or "none"
        raise FileError(f"{path} has the columns {found}; from, to and maybe length are wanted.")
    if not rows:
        raise FileError(f"{path} has no edges.")
    graph = nx.Graph()
    for number, row in enumerate(rows, start=1):
        if None in row or None in row.values():
            raise FileError(f"{path} row {number} does not have one cell per column.")
        if graph.has_edge(row["from"], row["to"]):
            raise FileError(f"{path} row {number} repeats {row['from']}–{row['to']}.")
        graph.add_edge(row["from"], row["to"], length=_length(path, number, row))
    return graph


def _length(path: Path, number: int, row: dict[str, str]) -> int:
    try:
        return int(row.get("length", "1"))
    except ValueError:
        raise FileError(
            f"{path} row {number}, column 'length': {row['length']!r} is not a whole number."
        ) from None
