"""A user's graph from an edge list."""

from pathlib import Path

import networkx as nx

from sequoia.errors import FileError
from sequoia.problem.csv_file import read_csv


def read_graph(path: Path, number: str) -> nx.Graph:
    """Read a CSV with the columns ``from``, ``to`` and, if edges differ, ``number``.

    Nodes are in the order in which the file names them.

    Parameters
    ----------
    number
        What an edge may carry: ``length`` for walks, ``weight`` for contagion. A whole number of
        at least 1, and 1 where the file does not say.
    """
    table = read_csv(path)
    columns = list(table.columns)
    if not {"from", "to"} <= set(columns) <= {"from", "to", number}:
        found = ", ".join(columns) or "none"
        raise FileError(f"{path} has the columns {found}; from, to and maybe {number} are wanted.")
    if not len(table):
        raise FileError(f"{path} has no edges.")
    values = table.integers(number, 1).tolist() if number in columns else [1] * len(table)
    graph = nx.Graph()
    ends = zip(table.strings("from"), table.strings("to"), values, strict=True)
    for row, (here, there, value) in enumerate(ends):
        one, other = here.strip(), there.strip()
        flaw = _flaw(graph, one, other)
        if flaw:
            table.found.append(f"{table.place(row)}{flaw}.")
        graph.add_edge(one, other, **{number: value})
    if table.found:
        raise FileError(*table.found)
    return graph


def _flaw(graph: nx.Graph, one: str, other: str) -> str:
    """Say why an edge cannot join a graph; nothing if it can."""
    if not one or not other:
        return f", column {'to' if one else 'from'!r} is empty; a name is wanted"
    if one == other:
        return f" joins {one} to itself; an edge joins two different nodes"
    if graph.has_edge(one, other):
        return f" repeats {one}–{other}; an edge goes both ways"
    return ""
