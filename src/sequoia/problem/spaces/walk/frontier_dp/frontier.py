"""The heaviest nodes that a closed walk can visit."""

from dataclasses import dataclass

import numpy as np

from sequoia.problem.spaces.walk.frontier_dp.cells import (
    Layer,
    completions,
    expand,
    layered,
    tables,
    through,
    trace,
)
from sequoia.problem.spaces.walk.frontier_dp.states import edge_order, explore
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

_TOLERANCE = 1e-9
MOST_ENTRIES = 60_000_000


@dataclass(frozen=True, eq=False)
class Frontier:
    """Finds best closed walks by a sweep over the edges of a graph.

    What does not depend on the weights, the layers, is worked out once.

    Attributes
    ----------
    edges
        Pairs of nodes that a walk can use, ``(E, 2)``.
    source
        The node where the walk begins and ends.
    layers
        What may be decided about one edge after another.
    """

    edges: IntArray
    source: int
    layers: list[Layer]

    @classmethod
    def over(
        cls, edges: IntArray, lengths: IntArray, source: int, length: int
    ) -> "Frontier | None":
        """Sweep over ``edges``, all connected to ``source``; ``None`` when that is too much work.

        Parameters
        ----------
        lengths
            Steps of each edge, ``(E,)``.
        length
            Steps that a walk may take.
        """
        order = edge_order(edges)
        explored = None if order is None else explore(edges, lengths, order, source, length)
        layers = None if explored is None else expand(*explored, lengths, length)
        return None if layers is None else cls(edges, source, layers)

    def times(self, weights: FloatArray) -> IntArray:
        """Return how often a walk with the heaviest visited nodes uses each edge, ``(E,)``.

        Nodes of negative weight may be passed, and count as nothing.
        """
        gains = np.maximum(weights, 0.0)
        return trace(self.layers, tables(self.layers, gains, 1), gains, len(self.edges))

    def visits(self, times: IntArray, size: int) -> BoolArray:
        """Return which of ``size`` nodes a walk visits that uses the edges so often."""
        visited = np.zeros(size, dtype=np.bool_)
        visited[self.source] = True
        visited[self.edges[times > 0]] = True
        return visited

    def argmax_linear(self, weights: FloatArray, limit: int) -> ActionArray | None:
        """Return the heaviest action on at most ``limit`` nodes along a walk, ``(N,)``, proven.

        The limit is priced first: each action costs the price, and any number is allowed. This
        gives a bound and good actions. Where they do not meet, what the bound leaves open is
        searched with the number of actions counted. ``None`` when that is too much work.
        """
        return _Search(self, np.maximum(weights, 0.0), limit).best()


class _Search:
    """One search for a heaviest action."""

    def __init__(self, frontier: Frontier, gains: FloatArray, limit: int) -> None:
        self._frontier = frontier
        self._gains = gains
        self._limit = limit
        self._action = np.zeros(len(gains), dtype=np.int8)
        self._value = 0.0

    def best(self) -> ActionArray | None:
        """Return the heaviest action; ``None`` when there is too much to search."""
        if self._limit == 0 or not self._gains.any():
            return self._action
        many, most = self._try(0.0)
        if many <= self._limit:
            return self._action
        few, least = 0, 0.0
        # A guess, most often close: what the last node to act on along this walk is worth.
        price, is_guess = float(self._gains[self._action == 1].min()), True
        while True:
            count, total = self._try(price)
            bound = total + price * (self._limit - count)
            if bound <= self._value * (1 + _TOLERANCE):
                return self._action
            if not is_guess and not few < count < many:
                return self._search(price)
            if count > self._limit:
                many, most = count, total
            else:
                few, least = count, total
            # Where the two actions cost the same; the bound is lowest between them.
            price, is_guess = (most - least) / (many - few), False

    def _try(self, price: float) -> tuple[int, float]:
        """Price the limit; return how many nodes pay off along a best walk, and their weight."""
        times = self._frontier.times(self._gains - price)
        visited = self._take(times)
        paying = visited & (self._gains > price)
        return int(paying.sum()), float(self._gains[paying].sum())

    def _take(self, times: IntArray) -> BoolArray:
        """Keep the best action along a walk, if it is the best so far; return what is visited."""
        visited = self._frontier.visits(times, len(self._gains))
        order = np.argsort(-np.where(visited, self._gains, 0.0), kind="stable")[: self._limit]
        chosen = order[visited[order] & (self._gains[order] > 0.0)]
        value = float(self._gains[chosen].sum())
        if value > self._value:
            self._value = value
            self._action = np.zeros(len(self._gains), dtype=np.int8)
            self._action[chosen] = 1
        return visited

    def _search(self, price: float) -> ActionArray | None:
        """Count actions along what may still hold a better one at this price."""
        priced = np.maximum(self._gains - price, 0.0)
        layers = self._frontier.layers
        so_far = tables(layers, priced, 1)
        to_come = completions(layers, priced)
        least = self._value * (1 + _TOLERANCE) - price * self._limit
        left = layered(
            layer.only(before[layer.before, 0] + through(layer, after, priced) > least)
            for layer, before, after in zip(layers, so_far[:-1], to_come[1:], strict=True)
        )
        columns = self._limit + 1
        if columns * sum(layer.n_before for layer in left) > MOST_ENTRIES:
            return None
        counted = tables(left, self._gains, columns)
        if counted[-1].max(initial=-np.inf) > self._value:
            self._take(trace(left, counted, self._gains, len(self._frontier.edges)))
        return self._action
