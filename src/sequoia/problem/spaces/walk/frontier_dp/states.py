"""The states of a frontier that is swept over a graph, edge by edge, in a good order.

A closed walk is a connected multigraph with even degrees that uses each edge at most twice. When
the edges are decided one after the other, what matters of the past is little: for each node with
edges on both sides, the frontier, whether it was visited, whether its degree is odd so far, and
which other frontier nodes hang together with it. A good order leaves few nodes open at any time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sequoia.validation import BoolArray, IntArray

_BEAM = 100
# A frontier of 13 nodes is the largest whose states fit into the 63 bits of a key.
MOST_OPEN = 13
# In all; more take seconds to list.
_MOST_STATES = 500_000


def edge_order(edges: IntArray) -> list[int] | None:
    """Return the edges in the order in which a sweep over the nodes completes them.

    ``None`` when some node order with few open nodes was not found. Edges that complete with the
    same node come in the order in which this closes their other ends.
    """
    pairs = [(int(a), int(b)) for a, b in edges]
    nodes = _node_order(pairs)
    if nodes is None:
        return None
    place = {node: index for index, node in enumerate(nodes)}
    closes = dict.fromkeys(nodes, 0)
    for pair in pairs:
        complete = max(place[node] for node in pair)
        for node in pair:
            closes[node] = max(closes[node], complete)

    def moment(edge: int) -> tuple[int, int, int]:
        first, last = sorted(pairs[edge], key=place.__getitem__)
        return place[last], closes[first], place[first]

    return sorted(range(len(pairs)), key=moment)


def _node_order(pairs: Sequence[tuple[int, int]]) -> list[int] | None:
    """Search for an order of the nodes with few open ones: placed, but with neighbours to come.

    A beam search over sets of placed nodes. The cost of a set is the sum of four to the number of
    open nodes along the way, as states grow by about so much with each of them.
    """
    near: dict[int, int] = {}
    for a, b in pairs:
        near[a] = near.get(a, 0) | 1 << b
        near[b] = near.get(b, 0) | 1 << a
    everything = sum(1 << node for node in near)
    # Sets are bits of a number; an order is a linked list, last node first.
    beam: dict[int, tuple[float, tuple[int, ...], object]] = {0: (0.0, (), None)}
    for _ in near:
        found: dict[int, tuple[float, tuple[int, ...], object]] = {}
        for placed, (cost, still_open, order) in beam.items():
            for node in _next_nodes(placed, still_open, near, everything):
                after = placed | 1 << node
                left = tuple(other for other in (*still_open, node) if near[other] & ~after)
                price = cost + 4.0 ** len(left)
                if len(left) < MOST_OPEN and (after not in found or price < found[after][0]):
                    found[after] = (price, left, (node, order))
        best = sorted(found.items(), key=lambda item: item[1][0])[:_BEAM]
        beam = dict(best)
    return _unlinked(beam[everything][2]) if everything in beam else None


def _next_nodes(
    placed: int, still_open: tuple[int, ...], near: dict[int, int], everything: int
) -> list[int]:
    """Return the nodes next to an open one; all that are left where none is open.

    A node without neighbours to come costs nothing, so it is placed at once.
    """
    reached = 0
    for node in still_open:
        reached |= near[node]
    reached = reached & ~placed or everything & ~placed
    nodes = []
    while reached:
        lowest = reached & -reached
        nodes.append(lowest.bit_length() - 1)
        if not near[nodes[-1]] & ~placed:
            return nodes[-1:]
        reached ^= lowest
    return nodes


def _unlinked(order: object) -> list[int]:
    nodes = []
    while isinstance(order, tuple):
        node, order = order
        nodes.append(node)
    return nodes[::-1]


@dataclass(frozen=True, eq=False)
class Moves:
    """What may be decided about one edge, and where that leads.

    Attributes
    ----------
    edge
        The edge that is decided.
    before, after
        State that each move leaves and enters, ``(M,)``.
    times
        How often it uses the edge, ``(M,)``.
    leaving
        The nodes whose last edge this is, at most two.
    is_visited
        Which of them have been visited then, ``(M, leaving)``.
    n_before, n_after
        Number of states on either side.
    """

    edge: int
    before: IntArray
    after: IntArray
    times: IntArray
    leaving: tuple[int, ...]
    is_visited: BoolArray
    n_before: int
    n_after: int


@dataclass(frozen=True, eq=False)
class States:
    """States of the frontier, one slot for each node in it.

    Attributes
    ----------
    part
        The connected part that each node is in, named by its lowest slot, ``(S, W)``; -1 for a
        node that is not visited and for a slot without a node.
    is_odd
        Whether the degree of the node is odd so far, ``(S, W)``.
    """

    part: NDArray[np.int8]
    is_odd: BoolArray

    def __len__(self) -> int:
        return len(self.part)

    def __getitem__(self, rows: NDArray[Any]) -> "States":
        return States(self.part[rows], self.is_odd[rows])

    def and_also(self, *others: "States") -> "States":
        """Return these states followed by ``others``."""
        several = (self, *others)
        return States(
            np.concatenate([states.part for states in several]),
            np.concatenate([states.is_odd for states in several]),
        )

    def visiting(self, slot: int) -> "States":
        """Return the states with the node in ``slot`` visited."""
        part = self.part.copy()
        part[part[:, slot] < 0, slot] = slot
        return States(part, self.is_odd)

    def using(self, slots: tuple[int, int], times: int) -> "States":
        """Return the states after the edge between two slots is used."""
        visited = self.visiting(slots[0]).visiting(slots[1]).part
        low, high = np.sort(visited[:, slots], axis=1).T
        part = np.where(visited == high[:, None], low[:, None], visited)
        is_odd = self.is_odd.copy()
        is_odd[:, slots] ^= times % 2 == 1
        return States(part, is_odd)

    def without(self, slot: int, may_end: bool) -> tuple["States", BoolArray]:
        """Return the states when the node in ``slot`` leaves, and which of them are allowed.

        The degree must be even. A part that no longer reaches the frontier is never connected to
        another, so it must be all there is, source included.
        """
        name, part, is_odd = self.part[:, slot], self.part.copy(), self.is_odd.copy()
        part[:, slot], is_odd[:, slot] = -1, False
        fellows = (name >= 0)[:, None] & (part == name[:, None])
        is_last = (name >= 0) & ~fellows.any(axis=1)
        is_allowed = ~self.is_odd[:, slot] & (~is_last | (may_end & (part < 0).all(axis=1)))
        renamed = fellows & (name == slot)[:, None]
        lowest = fellows.argmax(axis=1).astype(np.int8)
        return States(np.where(renamed, lowest[:, None], part), is_odd), is_allowed

    def keys(self) -> IntArray:
        """Return a number for each state, equal only for equal states, ``(S,)``."""
        width = self.part.shape[1]
        digits = 2 * (self.part.astype(np.int64) + 1) + self.is_odd
        place: IntArray = (2 * (width + 1)) ** np.arange(width, dtype=np.int64)
        result: IntArray = digits @ place
        return result


@dataclass(frozen=True)
class _Stage:
    """One edge of the sweep: the slots of its ends, who enters, and who leaves from which slot."""

    edge: int
    slots: tuple[int, int]
    entering: tuple[int, ...]
    leaving: dict[int, int]


def _stages(edges: IntArray, order: Sequence[int]) -> Iterator[_Stage]:
    """Give each node a slot from its first edge to its last."""
    left = np.bincount(edges.reshape(-1))
    slot_of: dict[int, int] = {}
    free = list(range(MOST_OPEN - 1, -1, -1))
    for edge in order:
        a, b = (int(node) for node in edges[edge])
        entering = tuple(node for node in (a, b) if node not in slot_of)
        for node in entering:
            slot_of[node] = free.pop()
        slots = (slot_of[a], slot_of[b])
        left[[a, b]] -= 1
        leaving = {node: slot_of.pop(node) for node in (a, b) if not left[node]}
        free = sorted([*free, *leaving.values()], reverse=True)
        yield _Stage(edge, slots, entering, leaving)


def explore(
    edges: IntArray, lengths: IntArray, order: Sequence[int], source: int, length: int
) -> tuple[list[Moves], list[IntArray]] | None:
    """Return the moves at each edge, and the fewest steps to each state on the way.

    ``None`` when there are too many states.
    """
    stages = list(_stages(edges, order))
    width = 1 + max((max(stage.slots) for stage in stages), default=0)
    states = States(np.full((1, width), -1, dtype=np.int8), np.zeros((1, width), dtype=np.bool_))
    fewest = [np.zeros(1, dtype=np.int64)]
    moves = []
    is_begun = False
    for stage in stages:
        if source in stage.entering:
            is_begun = True
            states = states.visiting(stage.slots[int(edges[stage.edge, 1] == source)])
        step = int(lengths[stage.edge])
        made, states = _decide(stage, states, is_begun, (length - fewest[-1]) // step)
        least = np.full(len(states), length, dtype=np.int64)
        np.minimum.at(least, made.after, fewest[-1][made.before] + step * made.times)
        moves.append(made)
        fewest.append(least)
        if sum(map(len, fewest)) > _MOST_STATES:
            return None
    return moves, fewest


def _decide(stage: _Stage, states: States, is_begun: bool, most: IntArray) -> tuple[Moves, States]:
    """Use the edge of ``stage`` zero, one or two times, at most ``most`` times, ``(S,)``.

    Twice only connects, so it is of no use within a part. After the walk is closed, when the
    source has been there and no part is left, nothing more is used.
    """
    is_open = (states.part >= 0).any(axis=1) | (not is_begun)
    first, second = (states.part[:, slot] for slot in stage.slots)
    is_apart = (first < 0) | (first != second)
    sources = [
        np.arange(len(states)),
        np.flatnonzero(is_open & (most >= 1)),
        np.flatnonzero(is_open & (most >= 2) & is_apart),
    ]
    reached = states.and_also(*(states[sources[n]].using(stage.slots, n) for n in (1, 2)))
    before = np.concatenate(sources)
    times = np.repeat(np.arange(3), [len(rows) for rows in sources])
    visited = reached.part[:, list(stage.leaving.values())] >= 0
    is_allowed = np.ones(len(before), dtype=np.bool_)
    for slot in stage.leaving.values():
        reached, is_fine = reached.without(slot, is_begun)
        is_allowed &= is_fine
    reached = reached[is_allowed]
    _, first_of, after = np.unique(reached.keys(), return_index=True, return_inverse=True)
    moves = Moves(
        stage.edge,
        before[is_allowed],
        after.reshape(-1),
        times[is_allowed],
        tuple(stage.leaving),
        visited[is_allowed],
        len(states),
        len(first_of),
    )
    return moves, reached[first_of]
