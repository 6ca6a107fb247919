"""The London Underground as a graph, and the nested subsets around its source."""

import itertools
import tomllib
from importlib import resources
from typing import Any

import networkx as nx

from sequoia.errors import ProblemError


def underground() -> nx.Graph:
    """Return the whole network: stations with ``pos``, edges with the ``lines`` that use them.

    The graph attributes ``source`` and ``subsets`` name where walks begin and which stations make
    up the nested subsets of 20, 40, 60, 80 and 100.
    """
    data = _read()
    graph = nx.Graph(source=data["source"], subsets=data["subsets"])
    for line in data["lines"]:
        for branch in line["branches"]:
            for a, b in itertools.pairwise(branch):
                lines = graph.edges[a, b]["lines"] if graph.has_edge(a, b) else []
                graph.add_edge(a, b, lines=[*lines, line["name"]])
    for station, place in data["coordinates"].items():
        graph.nodes[station]["pos"] = tuple(place)
    return graph


def stations_around_source(size: int) -> nx.Graph:
    """Return the connected graph of the ``size`` stations nearest in the order of the subsets."""
    whole = underground()
    ordered = [station for ring in whole.graph["subsets"] for station in ring]
    if not 1 <= size <= len(ordered):
        raise ProblemError(
            f"routing on the Underground has 1 to {len(ordered)} stations; {size} is asked for."
        )
    chosen = _connected_prefix(whole, ordered, size)
    part = nx.Graph(source=whole.graph["source"])
    part.add_nodes_from((station, whole.nodes[station]) for station in chosen)
    part.add_edges_from(edge for edge in whole.edges if edge[0] in part and edge[1] in part)
    return part


def _connected_prefix(graph: nx.Graph, ordered: list[str], size: int) -> list[str]:
    """Take stations in order, each as soon as it touches the ones before it."""
    chosen, waiting = [ordered[0]], ordered[1:]
    while len(chosen) < size:
        touching = next(s for s in waiting if any(n in chosen for n in graph.neighbors(s)))
        chosen.append(touching)
        waiting.remove(touching)
    return chosen


def _read() -> dict[str, Any]:
    file = resources.files("sequoia.problem") / "data" / "underground.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))
