"""The best value of every cell: dynamic programming along the layers.

A table has a row per cell. With one column, every visited node of positive weight is acted on;
with more, column ``b`` holds the best value when at most ``b`` nodes are acted on.
"""

from collections.abc import Sequence

import numpy as np

from sequoia.problem.spaces.walk.frontier_dp.cells import Layer
from sequoia.validation import FloatArray, IntArray


def tables(layers: Sequence[Layer], weights: FloatArray, columns: int) -> list[FloatArray]:
    """Return the best value on the way to each cell, before each layer and at the end.

    Parameters
    ----------
    weights
        Not negative, ``(N,)``.
    columns
        One, or one more than the number of nodes that may be acted on.
    """
    found = [np.zeros((layers[0].n_before if layers else 1, columns))]
    for layer in layers:
        rows = found[-1].take(layer.before, axis=0)
        for node, part in layer.leaving:
            _act(rows[part], float(weights[node]))
        table = rows.take(layer.ways[0], axis=0)
        for moves in layer.ways[1:]:
            better = table[: len(moves)]
            np.maximum(better, rows.take(moves, axis=0), out=better)
        found.append(table)
    return found


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
    found = [np.zeros(layers[-1].n_after)]
    for layer in reversed(layers):
        values = through(layer, found[-1], weights)
        best = np.full(layer.n_before, -np.inf)
        np.maximum.at(best, layer.before, values)
        found.append(best)
    return found[::-1]


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
