"""The states of a frontier that is swept over a graph, edge by edge.

A closed walk is a connected multigraph with even degrees that uses each edge at most twice. When
the edges are decided one after the other, what matters of the past is little: for each node with
edges on both sides, the frontier, whether it was visited, whether its degree is odd so far, and
which other frontier nodes hang together with it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sequoia.problem.spaces.walk.frontier_dp.order import MOST_OPEN
from sequoia.validation import BoolArray, IntArray

# In all; more take seconds to list.
_MOST_STATES = 500_000


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
