"""Closed walks without time: connected multigraphs with even degrees."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.problem.system import LinearSystem, Rows
from sequoia.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class EulerForm:
    """The compact form of a path space.

    A closed walk of at most T steps through the source and a set of nodes exists if and only if
    there is a connected multigraph through them that uses each edge at most twice, has even
    degrees and at most T steps in all. Connection is shown by a flow from the source to the
    acted-on nodes. Edges and nodes too far from the source are left out. Further rows follow from
    these and make the linear relaxation tighter: to act on a node, every ring of edges around the
    source that separates it is crossed twice.

    The columns are: act on node, edge used, edge used twice, half the degree of a node, flow
    there and flow back along an edge.

    Attributes
    ----------
    edges, lengths
        Those that a walk can use, ``(E, 2)`` and ``(E,)``.
    reach
        Steps from the source to each node, ``(N,)``.
    is_near
        Which nodes a walk can reach, ``(N,)``.
    """

    edges: IntArray
    lengths: IntArray
    reach: FloatArray
    is_near: np.ndarray[Any, np.dtype[np.bool_]]
    source: int
    length: int
    limit: int

    @classmethod
    def over(
        cls,
        edges: IntArray,
        lengths: IntArray,
        reach: FloatArray,
        source: int,
        length: int,
        limit: int,
    ) -> "EulerForm":
        """Keep what a walk of ``length`` steps can use; ``reach`` is the way from the source."""
        kept = reach[edges[:, 0]] + lengths + reach[edges[:, 1]] <= length
        near = 2 * reach <= length
        return cls(edges[kept], lengths[kept], reach, near, source, length, limit)

    def _row(self, **blocks: Any) -> csr_array:
        nodes, edges = len(self.is_near), len(self.edges)
        widths = {
            "act": nodes,
            "used": edges,
            "twice": edges,
            "half": nodes,
            "there": edges,
            "back": edges,
        }
        height = next(iter(blocks.values())).shape[0]
        return sparse.hstack(
            [csr_array(blocks.get(name, (height, width))) for name, width in widths.items()],
            format="csr",
        )

    def system(self, names: Sequence[str]) -> LinearSystem:
        """Return the rows over node columns and the columns of this form."""
        nodes, edges = len(self.is_near), len(self.edges)
        a, b = self.edges.T
        edge = np.arange(edges)
        tails = csr_array((np.ones(edges), (a, edge)), shape=(nodes, edges))
        heads = csr_array((np.ones(edges), (b, edge)), shape=(nodes, edges))
        one_edge, one_node = sparse.eye_array(edges), sparse.eye_array(nodes)
        others = np.arange(nodes) != self.source
        most = min(self.limit, int((self.is_near & others).sum()))
        each = csr_array(one_node)[others]
        into = (heads - tails)[others]
        steps = self.lengths[None, :].astype(np.float64)
        other_names = [names[node] for node in np.flatnonzero(others).tolist()]
        edge_names = [f"{names[i]}–{names[j]}" for i, j in self.edges]
        blocks = [
            Rows.at_most(self._row(act=np.ones((1, nodes))), self.limit, ["number of nodes"]),
            Rows.at_most(self._row(used=steps, twice=steps), self.length, ["length of the walk"]),
            Rows.at_most(
                self._row(used=-one_edge, twice=one_edge),
                0.0,
                [f"{name} twice only if used" for name in edge_names],
            ),
            Rows.equal(
                self._row(used=heads + tails, twice=heads + tails, half=-2 * one_node),
                0.0,
                [f"as often into as out of {name}" for name in names],
            ),
            Rows.at_most(
                self._row(act=each, half=-each), 0.0, [f"{name} is visited" for name in other_names]
            ),
            Rows.equal(
                self._row(act=-each, there=into, back=-into),
                0.0,
                [f"{name} is connected" for name in other_names],
            ),
        ]
        for way in ("there", "back"):
            blocks.append(
                Rows.at_most(
                    self._row(**{"used": -most * one_edge, way: one_edge}),
                    0.0,
                    [f"connection {way} along {name} only if used" for name in edge_names],
                )
            )
        upper = [
            self.is_near.astype(np.float64),
            np.ones(2 * edges),
            np.full(nodes, float(self.length)),
            np.full(2 * edges, float(most)),
        ]
        column_names = [*names]
        for what in ("{} used", "{} used twice"):
            column_names += [what.format(name) for name in edge_names]
        column_names += [f"visits to {name}" for name in names]
        for way in ("there", "back"):
            column_names += [f"connection {way} along {name}" for name in edge_names]
        is_integer = np.arange(len(column_names)) < 2 * nodes + 2 * edges
        return LinearSystem.from_rows(
            blocks, nodes, column_names, np.concatenate(upper), is_integer
        )

    def ring_rows(self, names: Sequence[str]) -> Rows:
        """Rows ``2 * act <= crossings`` for each node and each ring between it and the source."""
        import networkx as nx

        graph = nx.Graph(self.edges[:, :].tolist())
        acts, crossings, texts = [], [], []
        for radius in np.unique(self.reach[self.is_near & (self.reach > 0)]).tolist():
            beyond = graph.subgraph(np.flatnonzero(self.reach >= radius).tolist())
            for part in nx.connected_components(beyond):
                inside = np.isin(self.edges, list(part))
                crossed = inside[:, 0] != inside[:, 1]
                for node in sorted(part):
                    acts.append(node)
                    crossings.append(crossed)
                    texts.append(f"{names[node]} lies beyond {radius:g} steps")
        size = len(acts)
        act = csr_array(
            (np.full(size, 2.0), (np.arange(size), np.array(acts, dtype=np.int64))),
            shape=(size, len(self.is_near)),
        )
        crossed = csr_array(np.array(crossings, dtype=np.float64).reshape(size, len(self.edges)))
        return Rows.at_most(self._row(act=act, used=-crossed, twice=-crossed), 0.0, texts)

    def plan(self, route: Sequence[int], acted: IntArray) -> FloatArray:
        """Return the columns of a closed walk, given by its nodes, that acts on ``acted``."""
        import networkx as nx

        index = {frozenset(pair): e for e, pair in enumerate(self.edges.tolist())}
        steps = [index[frozenset(pair)] for pair in pairwise(route)]
        times = np.bincount(np.array(steps, dtype=np.int64), minlength=len(self.edges))
        times = np.where(times > 2, 2 - times % 2, times)  # two more passes change nothing
        half = np.zeros(len(self.is_near))
        np.add.at(half, self.edges, 0.5 * times[:, None])
        way = np.zeros((2, len(self.edges)))
        came_from = dict(
            nx.bfs_predecessors(nx.Graph(self.edges[times > 0].tolist()), self.source)
            if len(steps)
            else []
        )
        for node in acted.tolist():
            while node != self.source:
                before = came_from[node]
                edge = index[frozenset((before, node))]
                way[int(self.edges[edge, 0] != before), edge] += 1
                node = before
        return np.concatenate([times >= 1, times >= 2, half, *way]).astype(np.float64)

    def walk(self, values: FloatArray) -> list[int]:
        """Return the nodes of the closed walk that a point of this form stands for."""
        import networkx as nx

        nodes, edges = len(self.is_near), len(self.edges)
        times = values[nodes : nodes + 2 * edges].reshape(2, edges).sum(axis=0)
        graph = nx.MultiGraph()
        graph.add_node(self.source)
        graph.add_edges_from(np.repeat(self.edges, np.rint(times).astype(int), axis=0).tolist())
        tied = graph.subgraph(nx.node_connected_component(graph, self.source))
        return [self.source, *(head for _, head in nx.eulerian_circuit(tied, self.source))]
