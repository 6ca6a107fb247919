"""A user's graph from an edge list."""

from itertools import combinations
from pathlib import Path
from typing import Annotated

import networkx as nx
import numpy as np

from sequoia.errors import FileError, ProblemError
from sequoia.problem.families import base
from sequoia.problem.spreadsheet import read_csv
from sequoia.sizes import MOST_COLUMNS, require_at_most

_KNOBS = {"villages": ("village",), "lattice": ("columns",), "small-world": ("degree", "rewire")}


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


# The knobs of networks, each with the words the command shows for it.
Graph = Annotated[str, "villages, lattice, small-world, or FILE.csv with columns from, to, weight"]
Village = Annotated[int | None, "villages: nodes of each, all neighbours of each other; 4"]
Columns = Annotated[int | None, "lattice: nodes in a row; as square as can be"]
Degree = Annotated[int | None, "small-world: neighbours on the ring, half on each side; 4"]
Rewire = Annotated[float | None, "small-world: probability that an edge is a shortcut; 0.1"]


def network(
    graph: str,
    nodes: int | None,
    usual: int,
    rng: np.random.Generator,
    village: int | None = None,
    columns: int | None = None,
    degree: int | None = None,
    rewire: float | None = None,
) -> nx.Graph:
    """Return a network by its name, or from a file; edges may have a ``weight``.

    Parameters
    ----------
    nodes
        How many; ``usual`` unless given, and what the file says for one.
    """
    given = {"village": village, "columns": columns, "degree": degree, "rewire": rewire}
    if graph not in _KNOBS and not graph.endswith(".csv"):
        raise ProblemError(
            f"graph is {graph!r}; {', '.join(_KNOBS)} or the name of a .csv file is wanted."
        )
    for kind, names in _KNOBS.items():
        for name in names:
            if given[name] is not None and graph != kind:
                raise ProblemError(f"{name} is {given[name]}; it goes with graph {kind} only.")
    if graph.endswith(".csv"):
        return _from_file(Path(graph), nodes)
    size = usual if nodes is None else nodes
    base.at_least("arms", size, 1)
    if graph == "villages":
        return ring_of_villages(size, 4 if village is None else village, rng)
    if graph == "lattice":
        return lattice(size, columns)
    # Watts and Strogatz's small worlds lie between rewire 0.01 and 0.1 (their figure 2).
    return small_world(
        size,
        min(4, (size - 1) // 2 * 2) if degree is None else degree,
        0.1 if rewire is None else rewire,
        rng,
    )


def place(graph: str) -> str:
    """Return where a problem plays, for its name; villages go without saying."""
    words = {"villages": "", "lattice": " on a lattice", "small-world": " in a small world"}
    return words[graph] if graph in words else f" on {Path(graph).stem}"


def ring_of_villages(nodes: int, village: int, rng: np.random.Generator) -> nx.Graph:
    """Return villages in which all are neighbours, each joined to the next by one bridge."""
    base.at_least("village", village, 1)
    pairs = 0.5 * nodes * min(village, nodes)
    what = f"{nodes} nodes in villages of {village}"
    require_at_most(what, pairs, "pairs of neighbours", MOST_COLUMNS)
    graph = nx.Graph()
    everyone = _names(nodes)
    firsts = range(0, nodes, village)
    angle = 2 * np.pi / max(len(firsts), 1)
    members = []
    for number, first in enumerate(firsts):
        names = everyone[first : first + village]
        for place, name in enumerate(names):
            turn = number * angle + 2 * np.pi * place / len(names)
            centre = len(firsts) * np.exp(1j * number * angle)
            where = centre + 0.8 * np.exp(1j * turn)
            graph.add_node(name, pos=(float(where.real), float(where.imag)))
        graph.add_edges_from(combinations(names, 2))
        members.append(names)
    bridges = len(members) if len(members) > 2 else len(members) - 1
    for number in range(bridges):
        here, there = members[number], members[(number + 1) % len(members)]
        graph.add_edge(str(rng.choice(here)), str(rng.choice(there)))
    return graph


def lattice(nodes: int, columns: int | None = None) -> nx.Graph:
    """Return rows of nodes, each joined to those beside, above and below; the last may be short.

    A node is named by its row and its column, both from 0.
    """
    width = int(np.ceil(np.sqrt(nodes))) if columns is None else columns
    base.at_least("columns", width, 1)
    graph = nx.Graph()
    names = {
        divmod(node, width): "node {}-{}".format(*divmod(node, width)) for node in range(nodes)
    }
    for (row, column), name in names.items():
        graph.add_node(name, pos=(float(column), float(-row)))
    for (row, column), name in names.items():
        for beside in ((row, column + 1), (row + 1, column)):
            if beside in names:
                graph.add_edge(name, names[beside])
    return graph


def small_world(nodes: int, degree: int, rewire: float, rng: np.random.Generator) -> nx.Graph:
    """Return a ring in which some edges are shortcuts (Watts & Strogatz, Nature 1998).

    Each node begins with ``degree / 2`` neighbours on either side. Then the far end of each edge
    moves, with probability ``rewire``, to a random node that is no neighbour yet.
    """
    base.chances(rewire=rewire)
    if degree < 0 or degree % 2 or degree >= max(nodes, 1):
        raise ProblemError(f"degree is {degree}; an even number below {nodes} is wanted.")
    graph = nx.Graph()
    names = _names(nodes)
    for place, name in enumerate(names):
        turn = np.exp(2j * np.pi * place / nodes)
        graph.add_node(name, pos=(float(turn.real), float(turn.imag)))
    ring = [(a, (a + far) % nodes) for far in range(1, degree // 2 + 1) for a in range(nodes)]
    graph.add_edges_from((names[a], names[b]) for a, b in ring)
    for a, b in ring:
        if rng.random() < rewire and graph.degree[names[a]] < nodes - 1:
            graph.remove_edge(names[a], names[b])
            graph.add_edge(names[a], names[_stranger(graph, names, a, b, rng)])
    return graph


def _stranger(
    graph: nx.Graph, names: list[str], node: int, left: int, rng: np.random.Generator
) -> int:
    """Return a random node that is neither ``node``, nor its neighbour, nor the one just left."""
    while True:
        other = int(rng.integers(len(names)))
        if other not in (node, left) and not graph.has_edge(names[node], names[other]):
            return other


def _from_file(path: Path, nodes: int | None) -> nx.Graph:
    graph = read_graph(path, "weight")
    if nodes is not None and nodes != len(graph):
        raise ProblemError(f"arms is {nodes}, but {path} names {len(graph)} nodes; leave arms out.")
    return graph


def _names(nodes: int) -> list[str]:
    return [f"node {node}" for node in range(nodes)]
