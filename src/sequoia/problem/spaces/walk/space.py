"""A closed walk on a graph: act on nodes that the walk visits."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from sequoia.errors import InfeasibleDecision, ProblemError
from sequoia.problem.names import between, checked_names, count, index_of, say, unknown
from sequoia.problem.spaces.base import ActionSpace, Extensions, Task
from sequoia.problem.spaces.budget import Budget
from sequoia.problem.spaces.walk import tours
from sequoia.problem.spaces.walk.euler import EulerForm
from sequoia.problem.spaces.walk.frontier_dp import Frontier
from sequoia.problem.spaces.walk.time_expanded import TimeExpandedGraph
from sequoia.problem.spaces.walk.tours import WalkSampler
from sequoia.problem.system import Decision, LinearSystem
from sequoia.problem.tables import Column, Table, TableSet, table
from sequoia.sizes import MOST_COLUMNS, MOST_STEPS, require_at_most
from sequoia.validation import (
    ActionArray,
    BoolArray,
    FloatArray,
    IntArray,
    frozen,
    require,
    set_fields,
    whole,
)

if TYPE_CHECKING:
    import networkx as nx

# Steps that a stop is taken to cost besides its detour.
_EASES = (1.5, 3.0, 6.0, 12.0)
_MOST_NODES = 10**9


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Walk(ActionSpace):
    """Act on at most ``limit`` nodes along a closed walk of ``length`` steps.

    The walk begins and ends at ``source``; waiting is allowed, so shorter walks count too.

    Attributes
    ----------
    edges
        Pairs of neighbouring nodes, ``(E, 2)``, each pair once, in either order.
    source
        The node where the walk begins and ends.
    length
        Steps that the walk may take.
    limit
        At most so many nodes are acted on.
    lengths
        Steps that each edge takes, ``(E,)``, whole numbers; 1 unless given.
    positions
        Where the nodes are drawn, ``(N, 2)``; only pictures use it.

    Examples
    --------
    >>> from sequoia import Walk
    >>> walk = Walk([(0, 1), (1, 2)], source=0, length=4, limit=1, names=['a', 'b', 'c'])
    >>> walk.describe(walk.certify([0, 0, 1]))
    ['Walk a → b → c → b → a (4 of 4 steps)', 'Act on c']
    """

    kind = "walk"
    has_quick_program = False
    why_not_iterative = (
        "there is no simple way to build a closed walk one stop at a time (paper, appendix D)"
    )
    edges: IntArray
    source: int
    length: int
    limit: int
    lengths: IntArray
    names: Sequence[str]
    positions: FloatArray | None

    @property
    def argmax_microseconds(self) -> float:
        """A walk is found by a dynamic program over nodes and steps."""
        return 1.5 * self.n_actions**2

    def __init__(
        self,
        edges: ArrayLike,
        source: int,
        length: int,
        limit: int,
        lengths: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        positions: ArrayLike | None = None,
    ) -> None:
        edges = _checked_edges(edges, None if names is None else len(names))
        size = len(names) if names is not None else int(edges.max(initial=0)) + 1
        lengths = np.ones(len(edges)) if lengths is None else lengths
        lengths = frozen("walk.lengths", lengths, np.int64, (len(edges),))
        require("walk.lengths", lengths, lengths >= 1, "a length is a whole number of at least 1")
        source = whole("walk.source", source, 0, size - 1)
        length = whole("walk.length", length, 1, MOST_STEPS)
        arcs = (2 * len(edges) + size) * length
        require_at_most("walk", arcs, "arcs and steps at which they are entered", MOST_COLUMNS)
        if positions is not None:
            positions = frozen("walk.positions", positions, np.float64, (size, 2))
            require("walk.positions", positions, np.isfinite(positions), "a number is wanted")
        set_fields(
            self,
            edges=edges,
            source=source,
            length=length,
            limit=whole("walk.limit", limit, 0, _MOST_NODES),
            lengths=lengths,
            names=checked_names("walk.names", names, "node", size),
            positions=positions,
        )

    @classmethod
    def from_graph(cls, graph: "nx.Graph", source: str, length: int, limit: int) -> "Walk":
        """Take the nodes (with ``pos``, if known) and edges (with ``length``, else 1)."""
        nodes = list(graph.nodes)
        index = {node: i for i, node in enumerate(nodes)}
        edges = [(index[a], index[b]) for a, b in graph.edges]
        lengths = [data.get("length", 1) for _, _, data in graph.edges(data=True)]
        positions = [graph.nodes[node].get("pos") for node in nodes]
        names = [str(node) for node in nodes]
        return cls(
            edges=np.array(edges, dtype=np.int64).reshape(len(edges), 2),
            source=index_of("source", names, str(source)),
            length=length,
            limit=limit,
            lengths=np.array(lengths),
            names=names,
            positions=None if any(p is None for p in positions) else np.array(positions),
        )

    @property
    def loose(self) -> Budget:
        """The limit on the nodes alone, without the walk."""
        return Budget(np.ones(self.n_actions), self.limit, self.names)

    @cached_property
    def _time_expanded(self) -> TimeExpandedGraph:
        return TimeExpandedGraph.over(self.n_actions, self.edges, self.lengths, self.length)

    @cached_property
    def system(self) -> LinearSystem:
        """Flow on the time-unrolled graph (appendix C): one plan column per arc and step.

        An edge that takes several steps keeps the walker busy for all of them.
        """
        return self._time_expanded.system(self.source, self.limit, self.names)

    @cached_property
    def _euler(self) -> EulerForm:
        reach = self.distance[self.source]
        return EulerForm.over(self.edges, self.lengths, reach, self.source, self.length, self.limit)

    @cached_property
    def compact(self) -> LinearSystem:
        """The same set without time, with rings: see `EulerForm`."""
        return self.slim.with_rows(self._euler.ring_rows(self.names))

    @cached_property
    def slim(self) -> LinearSystem:
        """The same without rings: as exact for whole actions, and much smaller."""
        return self._euler.system(self.names)

    @cached_property
    def _frontier(self) -> Frontier | None:
        form = self._euler
        return Frontier.over(form.edges, form.lengths, self.source, self.length)

    def argmax_linear(self, weights: FloatArray) -> ActionArray | None:
        """Sweep over the graph: see `Frontier`; ``None`` where that is too much work."""
        return None if self._frontier is None else self._frontier.argmax_linear(weights, self.limit)

    def construct_linear(self, weights: FloatArray) -> ActionArray:
        """Grow a tour by what weighs most for its detour, with more and less regard to that."""
        best = np.zeros(weights.shape, dtype=np.int8)
        for ease in _EASES:
            actions = tours.grown(
                self.distance, self.source, self.length, self.limit, weights, ease
            )
            is_better = ((actions - best) * weights).sum(axis=1) > 0
            best[is_better] = actions[is_better]
        return best

    @cached_property
    def _shortest(self) -> tuple[FloatArray, IntArray]:
        from scipy.sparse.csgraph import shortest_path

        a, b = self.edges.T
        size = self.n_actions
        graph = csr_array((self.lengths.astype(np.float64), (a, b)), shape=(size, size))
        distance, before = shortest_path(graph, directed=False, return_predecessors=True)
        return distance, before.astype(np.int64)

    @property
    def distance(self) -> FloatArray:
        """Steps between any two nodes, ``(N, N)``."""
        return self._shortest[0]

    @cached_property
    def _is_far(self) -> BoolArray:
        """The nodes that no walk can reach and come back from, ``(N,)``."""
        far: BoolArray = 2 * self.distance[self.source] > self.length
        return far

    def contains(self, actions: ArrayLike) -> BoolArray:
        """Compare the shortest tour through the chosen nodes with the length of the walk."""
        actions = np.asarray(actions, dtype=np.int8)
        sizes = actions.sum(axis=1)
        result: BoolArray = (sizes <= self.limit) & ~(actions[:, self._is_far] == 1).any(axis=1)
        for size in np.unique(sizes[result]):
            rows = np.flatnonzero(result & (sizes == size))
            if size <= tours.MAX_STOPS_BY_ORDER:
                stops = np.nonzero(actions[rows])[1].reshape(len(rows), size)
                lengths = tours.tour_lengths(self.distance, self.source, stops)
                result[rows] = lengths <= self.length
            else:
                result[rows] = [self._route(actions[row]) is not None for row in rows]
        return result

    def contains_quick(self, actions: ArrayLike) -> BoolArray:
        """Compare a tour built by insertion with the length of the walk."""
        actions = np.asarray(actions, dtype=np.int8)
        sizes = actions.sum(axis=1)
        result: BoolArray = (sizes <= self.limit) & ~(actions[:, self._is_far] == 1).any(axis=1)
        kept = actions[result]
        stops = np.full((len(kept), int(sizes[result].max(initial=0))), self.source)
        row, node = np.nonzero(kept)
        first = np.searchsorted(row, np.arange(len(kept)))
        stops[row, np.arange(len(row)) - first[row]] = node
        result[result] = tours.quick_lengths(self.distance, self.source, stops) <= self.length
        return result

    def _route(self, action: ActionArray) -> list[int] | None:
        """Return a closed walk, as nodes, through all of ``action``; ``None`` if there is none."""
        stops = np.flatnonzero((action == 1) & (np.arange(self.n_actions) != self.source)).tolist()
        if 2 * self.distance[self.source, stops].max(initial=0.0) > self.length:
            return None
        order = [self.source, *tours.best_order(self.distance, self.source, stops), self.source]
        if self.distance[order[:-1], order[1:]].sum() <= self.length:
            return self._expand(order)
        if len(stops) <= tours.MAX_STOPS_BY_ORDER:
            return None
        if self._frontier is not None:
            times = self._frontier.times(action.astype(np.float64))
            visited = self._frontier.visits(times, self.n_actions)
            values = np.concatenate([action, times >= 1, times >= 2]).astype(np.float64)
            return self._euler.walk(values) if visited[stops].all() else None
        program = self.compact.program(np.zeros(self.n_actions), fixed=action)
        settled = self._settle(program)
        return None if settled is None else self._euler.walk(settled)

    def _expand(self, order: Sequence[int]) -> list[int]:
        """Return the nodes along the shortest way through ``order``."""
        before = self._shortest[1]
        route = [order[0]]
        for start, stop in itertools.pairwise(order):
            leg = [stop]
            while leg[-1] != start:
                leg.append(int(before[start, leg[-1]]))
            route += leg[-2::-1]
        return route

    def compact_plan(self, action: ActionArray) -> FloatArray:
        """Return the Euler columns of a walk that visits what ``action`` acts on."""
        route = self._route(action)
        if route is None:
            raise InfeasibleDecision(self._why_not(action))
        return self._euler.plan(route, np.flatnonzero(action))

    def _plan(self, action: ActionArray) -> ActionArray | None:
        if action.sum() > self.limit:
            return None
        route = self._route(action)
        return None if route is None else self._time_expanded.plan(route)

    def _why_not(self, action: ActionArray) -> str:
        chosen = say(self.chosen(action))
        if action.sum() > self.limit:
            return (
                f"{chosen}: {count(int(action.sum()), 'node')} chosen; at most {self.limit} may be."
            )
        return (
            f"no closed walk of at most {count(self.length, 'step')} from "
            f"{self.names[self.source]} visits {chosen}."
        )

    def walk(self, decision: Decision) -> list[int]:
        """Return the nodes of the walk in order, waiting left out."""
        return self._time_expanded.route(decision.plan)

    @cached_property
    def _sampler(self) -> WalkSampler:
        return WalkSampler(self.n_actions, self.edges, self.lengths, self.source, self.length)

    def sample(self, rng: np.random.Generator) -> Decision:
        """Draw uniformly among closed walks of at most ``length`` steps, then nodes along it."""
        route = self._sampler.sample(rng)
        visited = np.unique(route)
        chosen = visited
        if len(visited) > self.limit:
            chosen = rng.choice(visited, self.limit, replace=False)
        action = np.zeros(self.n_actions, dtype=np.int8)
        action[chosen] = 1
        return Decision(action, self._time_expanded.plan(route))

    def extensions(self, decision: Decision) -> Extensions:
        """Act on one more node along the walk, or on one that a detour still reaches."""
        route = np.array(self.walk(decision))
        legs = self._time_expanded.legs(decision.plan)
        slack = self.length - legs.sum()
        detour = np.concatenate(
            [
                2 * self.distance[route],
                self.distance[route[:-1]] + self.distance[route[1:]] - legs[:, None],
            ]
        )
        place = detour.argmin(axis=0)
        extra = detour.min(axis=0)
        open_ = (decision.action == 0) & (extra <= slack) & (decision.action.sum() < self.limit)
        columns = np.flatnonzero(open_)

        def extend(index: int) -> Decision:
            node = int(columns[index])
            action = decision.action.copy()
            action[node] = 1
            if node in route:
                return Decision(action, decision.plan)
            at = int(place[node])
            before = route[: at % len(route) + 1].tolist()
            after = route[at:] if at < len(route) else route[at - len(route) + 1 :]
            there = self._expand([before[-1], node, int(after[0])])
            grown = [*before[:-1], *there, *after[1:].tolist()]
            return Decision(action, self._time_expanded.plan(grown))

        return Extensions(columns, np.zeros_like(columns), np.ones(len(columns)), extend)

    def describe(self, decision: Decision) -> list[str]:
        """Say the walk by the names of its nodes, and where to act."""
        route = self.walk(decision)
        steps = self._time_expanded.legs(decision.plan).sum()
        stops = say(self.chosen(decision.action))
        where = " → ".join(self.names[node] for node in route)
        if len(route) == 1:
            return [f"Stay at {where}", f"Act on {stops}"]
        return [f"Walk {where} ({steps} of {count(self.length, 'step')})", f"Act on {stops}"]

    def tasks(self, decision: Decision) -> list[Task]:
        """Follow the walk; where a node is acted on, that happens when it is first reached."""
        route = self.walk(decision)
        arrival = np.concatenate([[0], self._time_expanded.legs(decision.plan).cumsum()])
        still_open = set(np.flatnonzero(decision.action).tolist())
        tasks = []
        for index, node in enumerate(route):
            does = "return" if index == len(route) - 1 else "pass"
            does = "act" if node in still_open else does if index else "begin"
            still_open.discard(node)
            tasks.append(Task("", f"step {arrival[index]}", self.names[node], does))
        return tasks

    def summary(self) -> str:
        """Say where walks begin, how long they may be, and on how many nodes they may act."""
        return (
            f"walk: closed, of at most {count(self.length, 'step')} from "
            f"{self.names[self.source]} over {count(len(self.edges), 'edge')} of length "
            f"{between(self.lengths)}; act on at most {count(self.limit, 'visited node')}"
        )

    def to_tables(self) -> TableSet:
        """Options and tables of this space."""
        places: dict[str, Column] = (
            {} if self.positions is None else {"x": self.positions[:, 0], "y": self.positions[:, 1]}
        )
        ends: dict[str, Column] = {
            "from": [self.names[a] for a in self.edges[:, 0]],
            "to": [self.names[b] for b in self.edges[:, 1]],
            "length": self.lengths,
        }
        return TableSet(
            {"source": self.names[self.source], "length": self.length, "limit": self.limit},
            table("actions", name=self.names, **places) | table("edges", **ends),
        )

    @classmethod
    def from_tables(cls, content: TableSet) -> "Walk":
        """Build from options and tables."""
        content.known({"kind", "source", "length", "limit"})
        actions, edges = content.table("actions"), content.table("edges")
        names = actions.names("name")
        source = content.option("source", str)
        if source not in names:
            content.found.append(unknown(f"{content.where}, option 'source'", names, source))
        length = content.option("length", int, least=1, most=MOST_STEPS)
        limit = content.option("limit", int, least=0, most=_MOST_NODES)
        pairs = np.stack([edges.places(end, names) for end in ("from", "to")], axis=1)
        lengths = edges.integers("length")
        edges.require("length", lengths, lengths >= 1, "a whole number of at least 1 is wanted")
        positions = actions.matrix(["x", "y"]) if "x" in actions.columns else None
        content.settle()
        _note_loops_and_repeats(edges, pairs)
        content.settle()
        return cls(pairs, names.index(source), length, limit, lengths, names, positions)


def _checked_edges(given: ArrayLike, size: int | None) -> IntArray:
    """Return pairs of different nodes, each pair once."""
    edges = frozen("walk.edges", given, np.int64, (None, 2))
    require("walk.edges", edges, edges >= 0, "nodes are numbered from 0")
    if size is not None:
        require("walk.edges", edges, edges < size, f"there are only {size} nodes")
    loops = edges[:, 0] != edges[:, 1]
    require("walk.edges", edges[:, 0], loops, "an edge joins two different nodes")
    places: dict[tuple[int, int], int] = {}
    for index, (a, b) in enumerate(np.sort(edges, axis=1).tolist()):
        if places.setdefault((a, b), index) != index:
            raise ProblemError(f"walk.edges[{index}] repeats the edge {a}–{b}.")
    return edges


def _note_loops_and_repeats(edges: Table, pairs: IntArray) -> None:
    places: dict[tuple[int, int], int] = {}
    for row, (a, b) in enumerate(np.sort(pairs, axis=1).tolist()):
        if a == b:
            edges.found.append(f"{edges.place(row)}: an edge joins two different nodes.")
        elif places.setdefault((a, b), row) != row:
            before = edges.place(places[a, b]).rpartition(" ")[2]
            edges.found.append(f"{edges.place(row)} repeats the edge of row {before}.")
