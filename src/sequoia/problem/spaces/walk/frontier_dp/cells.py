"""Cells, which are frontier states with the steps taken so far, and the best value of each.

Values are found by dynamic programming along the moves between cells, layer by layer. A table has
a row per cell. With one column, every visited node of positive weight is acted on; with more,
column ``b`` holds the best value when at most ``b`` nodes are acted on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sequoia.problem.spaces.walk.frontier_dp.states import Moves
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

# Each move between cells takes 17 bytes.
MOST_MOVES = 20_000_000


@dataclass(frozen=True, eq=False)
class Layer:
    """The moves at one edge, laid out for tables with a row per cell.

    Cells with more ways in come first, so that the k-th ways into all that have one are a prefix.

    Attributes
    ----------
    edge
        The edge that is decided.
    before
        The cell that each move leaves, ``(M,)``.
    times
        How often each move uses the edge, ``(M,)``.
    leaving
        Nodes that leave the frontier, each with the moves that end with it visited.
    ways
        For each k, the k-th move into each cell that has one.
    n_before
        Number of cells before.
    """

    edge: int
    before: IntArray
    times: ActionArray
    leaving: tuple[tuple[int, slice], ...]
    ways: tuple[IntArray, ...]
    n_before: int

    @property
    def n_after(self) -> int:
        """Number of cells after; each has a way in."""
        return len(self.ways[0])

    def into(self, cell: int) -> list[int]:
        """Return the moves into ``cell``."""
        return [int(moves[cell]) for moves in self.ways if cell < len(moves)]

    def after(self) -> IntArray:
        """Return the cell that each move enters, ``(M,)``."""
        cells = np.empty(len(self.before), dtype=np.int64)
        for moves in self.ways:
            cells[moves] = np.arange(len(moves))
        return cells

    def only(self, keep: BoolArray) -> Moves:
        """Return the moves for which ``keep``, ``(M,)``, is true."""
        visited = np.zeros((len(keep), len(self.leaving)), dtype=np.bool_)
        for column, (_, part) in enumerate(self.leaving):
            visited[part, column] = True
        return Moves(
            self.edge,
            self.before[keep],
            self.after()[keep],
            self.times[keep].astype(np.int64),
            tuple(node for node, _ in self.leaving),
            visited[keep],
            self.n_before,
            self.n_after,
        )


def layered(steps: Iterable[Moves]) -> list[Layer]:
    """Lay out the moves of all edges; what cannot be reached from the beginning is dropped."""
    layers = []
    number: IntArray | None = None
    for moves in steps:
        if number is None:
            number = np.arange(moves.n_before)
        layer, number = _layer(moves, number)
        layers.append(layer)
    return layers


def _layer(moves: Moves, number: IntArray) -> tuple[Layer, IntArray]:
    """Return the layer of ``moves``, given new numbers of the cells before, and those after."""
    visited = moves.is_visited
    # In this order, the moves that visit either of two nodes are neighbours: -, a, ab, b.
    pattern = np.zeros(len(visited), dtype=np.int64)
    if visited.shape[1]:
        last = visited[:, -1] & (visited.shape[1] == 2)
        pattern = np.where(last, 3 - visited[:, 0], visited[:, 0])
    order = np.argsort(pattern, kind="stable")
    order = order[number[moves.before[order]] >= 0]
    after = moves.after[order]
    ways_in = np.bincount(after, minlength=moves.n_after)
    by_ways = np.argsort(-ways_in, kind="stable")[: np.count_nonzero(ways_in)]
    renumbered = np.full(moves.n_after, -1)
    renumbered[by_ways] = np.arange(len(by_ways))
    leaving = []
    for column, node in enumerate(moves.leaving):
        rows = np.flatnonzero(visited[order, column])
        leaving.append((node, slice(rows[0], rows[-1] + 1) if len(rows) else slice(0, 0)))
    layer = Layer(
        moves.edge,
        number[moves.before[order]],
        moves.times[order].astype(np.int8),
        tuple(leaving),
        _ways(renumbered[after], ways_in[by_ways]),
        int(number.max(initial=-1)) + 1,
    )
    return layer, renumbered


def _ways(after: IntArray, ways_in: IntArray) -> tuple[IntArray, ...]:
    """Return, for each k, the k-th move into each cell that has one."""
    moves = np.argsort(after, kind="stable")
    first = np.cumsum(ways_in) - ways_in
    most = int(ways_in.max(initial=1))
    # Numbers of ways fall along the cells.
    lengths = np.searchsorted(-ways_in, -np.arange(most), side="left")
    return tuple(moves[first[:n] + k] for k, n in enumerate(lengths))


def expand(
    steps: Sequence[Moves], fewest: Sequence[IntArray], lengths: IntArray, length: int
) -> list[Layer] | None:
    """Lay out the moves between cells from which the walk can still be closed in time.

    The cells of a state are its numbers of steps, from the fewest that lead to it up to the most
    that leave enough to close the walk. ``None`` when there are too many moves.

    Parameters
    ----------
    steps
        Moves between states.
    fewest
        Fewest steps to each state, before each move and at the end.
    lengths
        Steps of each edge.
    """
    rest = [np.zeros(1, dtype=np.int64)]
    for moves, least in zip(reversed(steps), reversed(fewest[:-1]), strict=True):
        still = rest[-1][moves.after] + lengths[moves.edge] * moves.times
        # Larger than any length marks what cannot be closed in time.
        needed = np.full(len(least), length + 1)
        np.minimum.at(needed, moves.before, still)
        rest.append(np.where(least + needed <= length, needed, length + 1))
    rest.reverse()
    spans = [
        length
        + 1
        - fewest[i][moves.before]
        - lengths[moves.edge] * moves.times
        - rest[i + 1][moves.after]
        for i, moves in enumerate(steps)
    ]
    if sum(int(span.clip(0).sum()) for span in spans) > MOST_MOVES:
        return None
    sizes = [(length + 1 - least - need).clip(0) for least, need in zip(fewest, rest, strict=True)]
    return layered(
        _between_cells(moves, span, fewest[i : i + 2], sizes[i : i + 2], int(lengths[moves.edge]))
        for i, (moves, span) in enumerate(zip(steps, spans, strict=True))
    )


def _between_cells(
    moves: Moves, span: IntArray, fewest: Sequence[IntArray], sizes: Sequence[IntArray], step: int
) -> Moves:
    """Return the moves between cells that ``moves`` between states stand for.

    A move stands for ``span`` of them, one for each number of steps taken before.
    """
    kept = np.flatnonzero(span > 0)
    span = span[kept]
    before, after, times = moves.before[kept], moves.after[kept], moves.times[kept]
    first_before, first_after = (np.cumsum(size) - size for size in sizes)
    shift = fewest[0][before] + step * times - fewest[1][after]
    ramp = np.arange(span.sum()) - np.repeat(np.cumsum(span) - span, span)
    return Moves(
        moves.edge,
        np.repeat(first_before[before], span) + ramp,
        np.repeat(first_after[after] + shift, span) + ramp,
        np.repeat(times, span),
        moves.leaving,
        np.repeat(moves.is_visited[kept], span, axis=0),
        int(sizes[0].sum()),
        int(sizes[1].sum()),
    )


def tables(layers: Sequence[Layer], weights: FloatArray, columns: int) -> list[FloatArray]:
    """Return the best value on the way to each cell, before each layer and at the end.

    Parameters
    ----------
    weights
        Not negative, ``(N,)``.
    columns
        One, or one more than the number of nodes that may be acted on.
    """
    tables_so_far = [np.zeros((layers[0].n_before if layers else 1, columns))]
    for layer in layers:
        rows = tables_so_far[-1].take(layer.before, axis=0)
        for node, part in layer.leaving:
            _act(rows[part], float(weights[node]))
        table = rows.take(layer.ways[0], axis=0)
        for moves in layer.ways[1:]:
            better = table[: len(moves)]
            np.maximum(better, rows.take(moves, axis=0), out=better)
        tables_so_far.append(table)
    return tables_so_far


def _act(rows: FloatArray, weight: float) -> None:
    """Act on a node in all ``rows``, in place, where that is better."""
    if weight <= 0.0:
        return
    if rows.shape[1] == 1:
        rows += weight
    else:
        np.maximum(rows[:, 1:], rows[:, :-1] + weight, out=rows[:, 1:])


def completions(layers: Sequence[Layer], weights: FloatArray) -> list[FloatArray]:
    """Return the best value from each cell to the end with no limit, one vector per layer."""
    rest = [np.zeros(layers[-1].n_after)]
    for layer in reversed(layers):
        values = through(layer, rest[-1], weights)
        best = np.full(layer.n_before, -np.inf)
        np.maximum.at(best, layer.before, values)
        rest.append(best)
    return rest[::-1]


def through(layer: Layer, after: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the value of each move, ``(M,)``, and of what comes ``after`` it."""
    values = after[layer.after()]
    for node, part in layer.leaving:
        values[part] += weights[node]
    return values


def trace(
    layers: Sequence[Layer], found: Sequence[FloatArray], weights: FloatArray, n_edges: int
) -> IntArray:
    """Return how often a best walk uses each edge, ``(E,)``, given the tables."""
    times = np.zeros(n_edges, dtype=np.int64)
    left = found[-1].shape[1] - 1
    cost = min(left, 1)
    cell = int(found[-1][:, -1].argmax())
    for layer, table in zip(reversed(layers), reversed(found[:-1]), strict=True):
        options = [
            (table[layer.before[move], left - cost * count] + gain, move, count)
            for move in layer.into(cell)
            for count, gain in _gains(layer, move, weights)
            if cost * count <= left
        ]
        _, move, count = max(options)
        times[layer.edge] = layer.times[move]
        cell = int(layer.before[move])
        left -= cost * count
    return times


def _gains(layer: Layer, move: int, weights: FloatArray) -> list[tuple[int, float]]:
    """Return the best gain of acting on none, one, ... of the nodes that leave, visited."""
    heaviest_first = sorted(
        (
            float(weights[node])
            for node, part in layer.leaving
            if part.start <= move < part.stop and weights[node] > 0.0
        ),
        reverse=True,
    )
    return [(count, sum(heaviest_first[:count])) for count in range(len(heaviest_first) + 1)]
