"""Uniform random closed walks, by counting them."""

import numpy as np

from sequoia.arrays import IntArray


class WalkSampler:
    """Draws uniformly among the closed walks from ``source`` of at most ``horizon`` steps.

    The number of walks from a node back to the source in exactly ``t`` steps follows from that
    with fewer steps; a walk is then drawn edge by edge with the right odds. Waiting is not a step
    here, so no walk counts twice. Counts are kept relative to one another, as they grow like
    the degree to the power ``t``.
    """

    def __init__(
        self, n_nodes: int, edges: IntArray, lengths: IntArray, source: int, horizon: int
    ) -> None:
        self._source = source
        self._neighbours: list[list[tuple[int, int]]] = [[] for _ in range(n_nodes)]
        for (a, b), length in zip(edges.tolist(), lengths.tolist(), strict=True):
            self._neighbours[a].append((b, length))
            self._neighbours[b].append((a, length))
        counts = np.zeros((horizon + 1, n_nodes))
        counts[0, source] = 1.0
        for steps in range(1, horizon + 1):
            for (a, b), length in zip(edges.tolist(), lengths.tolist(), strict=True):
                if length <= steps:
                    counts[steps, a] += counts[steps - length, b]
                    counts[steps, b] += counts[steps - length, a]
            if counts.max() > 1e200:
                counts *= 1e-200
        self._counts = counts

    def draw(self, rng: np.random.Generator) -> list[int]:
        """Return the nodes of a walk, the source first and last."""
        closed = self._counts[:, self._source].cumsum()
        left = int(np.searchsorted(closed, rng.random() * closed[-1], side="right"))
        route = [self._source]
        while left > 0:
            ways = [(b, n) for b, n in self._neighbours[route[-1]] if n <= left]
            odds = np.array([self._counts[left - n, b] for b, n in ways]).cumsum()
            pick = int(np.searchsorted(odds, rng.random() * odds[-1], side="right"))
            node, taken = ways[pick]
            route.append(node)
            left -= taken
        return route
