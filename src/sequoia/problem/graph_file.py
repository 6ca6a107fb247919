"""A user's graph from an edge list."""

from pathlib import Path

import networkx as nx

from sequoia.errors import FileError
from sequoia.problem.csv_file import read_csv


def read_graph(path: Path) -> nx.Graph:
    """Read a CSV with the columns ``from``, ``to`` and, if edges differ, ``length``."""
    table = read_csv(path)
    columns = list(table.columns)
    if not {"from", "to"} <= set(columns) <= {"from", "to", "length"}:
        found = ", ".join(columns) or "none"
        raise FileError(f"{path} has the columns {found}; from, to and maybe length are wanted.")
    if not len(table):
        raise FileError(f"{path} has no edges.")
    lengths = table.integers("length").tolist() if "length" in columns else [1] * len(table)
    graph = nx.Graph()
    ends = zip(table.strings("from"), table.strings("to"), lengths, strict=True)
    for row, (here, there, length) in enumerate(ends):
        if graph.has_edge(here, there):
            table.found.append(f"{table.place(row)} repeats {here}–{there}.")
        graph.add_edge(here, there, length=length)
    if table.found:
        raise FileError(*table.found)
    return graph
