"""Uniform random closed walks, by counting them."""

import numpy as np

from sequoia.validation import FloatArray, IntArray


class WalkSampler:
    """Draws uniformly among the closed walks from ``source`` of at most ``horizon`` steps.

    The number of walks from a node back to the source in exactly ``t`` steps follows from that
    with fewer steps; a walk is then drawn edge by edge with the right odds. Waiting is not a step
    here, so no walk counts twice. Counts are kept as logarithms, as they grow like the degree to
    the power ``t``.
    """

    def __init__(
        self, n_nodes: int, edges: IntArray, lengths: IntArray, source: int, horizon: int
    ) -> None:
        self._source = source
        self._neighbours: list[list[tuple[int, int]]] = [[] for _ in range(n_nodes)]
        for (a, b), length in zip(edges.tolist(), lengths.tolist(), strict=True):
            self._neighbours[a].append((b, length))
            self._neighbours[b].append((a, length))
        tail = np.concatenate([edges[:, 0], edges[:, 1]])
        head = np.concatenate([edges[:, 1], edges[:, 0]])
        takes = np.concatenate([lengths, lengths])
        self._logs = np.full((horizon + 1, n_nodes), -np.inf)
        self._logs[0, source] = 0.0
        for steps in range(1, horizon + 1):
            arc = np.flatnonzero(takes <= steps)
            further = self._logs[steps - takes[arc], head[arc]]
            np.logaddexp.at(self._logs[steps], tail[arc], further)

    def sample(self, rng: np.random.Generator) -> list[int]:
        """Return the nodes of a walk, the source first and last."""
        left = _pick(self._logs[:, self._source], rng)
        route = [self._source]
        while left > 0:
            ways = [(b, n) for b, n in self._neighbours[route[-1]] if n <= left]
            logs = np.array([self._logs[left - n, b] for b, n in ways])
            node, taken = ways[_pick(logs, rng)]
            route.append(node)
            left -= taken
        return route


def _pick(logs: FloatArray, rng: np.random.Generator) -> int:
    """Return a random index, with odds given as logarithms."""
    odds = np.exp(logs - logs.max()).cumsum()
    return int(np.searchsorted(odds, rng.random() * odds[-1], side="right"))
