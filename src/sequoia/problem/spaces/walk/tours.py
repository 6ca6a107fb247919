"""Short closed tours through a few stops, in a table of distances; random walks drawn from them."""

from collections.abc import Sequence
from functools import cache
from itertools import permutations

import numpy as np

from sequoia.validation import ActionArray, FloatArray, IntArray

MAX_STOPS_BY_ORDER = 7


@cache
def _orders(size: int) -> IntArray:
    """Every visiting order of ``size`` stops, a tour and its reverse counted once."""
    kept = [order for order in permutations(range(size)) if size < 2 or order[0] < order[-1]]
    return np.array(kept, dtype=np.int64).reshape(len(kept), size)


def tour_lengths(distance: FloatArray, source: int, stops: IntArray) -> FloatArray:
    """Return the length of the shortest closed tour for each set of stops, ``(B, k)``, k ≤ 7."""
    orders = _orders(stops.shape[1])
    best = np.zeros(len(stops))
    chunk = max(1, 2_000_000 // max(1, orders.size))
    for first in range(0, len(stops), chunk):
        routes = stops[first : first + chunk][:, orders]  # (b, orders, k)
        ends = np.full((*routes.shape[:2], 1), source)
        routes = np.concatenate([ends, routes, ends], axis=2)
        lengths = distance[routes[..., :-1], routes[..., 1:]].sum(axis=2)
        best[first : first + chunk] = lengths.min(axis=1)
    return best


def quick_lengths(distance: FloatArray, source: int, stops: IntArray) -> FloatArray:
    """Return the length of a short closed tour for each set of stops, ``(B, k)``, any k.

    The stops are inserted, the farthest from the source first, each where it costs least.
    A set is filled up with the source, which costs nothing to insert.
    """
    batch, count = stops.shape
    farthest_first = np.argsort(-distance[source, stops], axis=1, kind="stable")
    stops = np.take_along_axis(stops, farthest_first, axis=1)
    route = np.full((batch, 2), source)
    total = np.zeros(batch)
    row = np.arange(batch)
    for stop in stops.T[:count]:
        before, after = route[:, :-1], route[:, 1:]
        extra = distance[before, stop[:, None]] + distance[stop[:, None], after]
        extra -= distance[before, after]
        place = extra.argmin(axis=1)
        total += extra[row, place]
        slot = np.arange(route.shape[1] + 1)
        source_of = slot - (slot > place[:, None] + 1)
        route = np.take_along_axis(route, np.minimum(source_of, route.shape[1] - 1), axis=1)
        route[row, place + 1] = stop
    return total


def grown(
    distance: FloatArray, source: int, length: int, limit: int, weights: FloatArray, ease: float
) -> ActionArray:
    """Return stops of large weight for closed tours within a length, ``(B, N)``.

    Again and again, the stop is added that weighs most for its detour and ``ease`` more steps.
    """
    batch = len(weights)
    row = np.arange(batch)
    gains = np.maximum(weights, 0.0)
    left = np.full((batch, 1), float(length))
    route = np.full((batch, 2), source)
    chosen = np.zeros(weights.shape, dtype=np.int8)
    for _ in range(limit):
        before, after = route[:, :-1], route[:, 1:]
        extra = distance[before] + distance[after] - distance[before, after][:, :, None]
        places = extra.argmin(axis=1)
        detours = np.take_along_axis(extra, places[:, None], axis=1)[:, 0]
        worth = np.where(detours <= left, gains / (detours + ease), 0.0)
        stop = worth.argmax(axis=1)
        is_added = worth[row, stop] > 0
        if not is_added.any():
            break
        gains[row, stop] = 0.0
        chosen[row[is_added], stop[is_added]] = 1
        left[:, 0] -= np.where(is_added, detours[row, stop], 0.0)
        place = places[row, stop]
        slot = np.arange(route.shape[1] + 1)
        # A tour that is full stays a moment longer where it is.
        stop = np.where(is_added, stop, route[row, place])
        route = np.take_along_axis(route, slot - (slot > place[:, None]), axis=1)
        route[row, place + 1] = stop
    return chosen


def best_order(distance: FloatArray, source: int, stops: Sequence[int]) -> list[int]:
    """Return the stops in an order that makes a short tour; the shortest for up to 7 stops."""
    if len(stops) <= MAX_STOPS_BY_ORDER:
        orders = np.array(stops, dtype=np.int64)[_orders(len(stops))]
        ends = np.full((len(orders), 1), source)
        routes = np.concatenate([ends, orders, ends], axis=1)
        shortest = distance[routes[:, :-1], routes[:, 1:]].sum(axis=1).argmin()
        return [int(stop) for stop in orders[shortest]]
    return _improve(distance, _insert_all(distance, source, stops))[1:-1]


def _insert_all(distance: FloatArray, source: int, stops: Sequence[int]) -> list[int]:
    """Insert the farthest stop first, each where it costs least."""
    route = [source, source]
    for stop in sorted(stops, key=lambda stop: -distance[source, stop]):
        legs = np.array(route)
        extra = distance[legs[:-1], stop] + distance[stop, legs[1:]] - distance[legs[:-1], legs[1:]]
        route.insert(int(extra.argmin()) + 1, stop)
    return route


def _improve(distance: FloatArray, route: list[int]) -> list[int]:
    """Reverse stretches of the route while that shortens it (2-opt)."""
    improved = True
    while improved:
        improved = False
        for i in range(len(route) - 3):
            for k in range(i + 2, len(route) - 1):
                a, b, c, d = route[i], route[i + 1], route[k], route[k + 1]
                gain = distance[a, b] + distance[c, d] - distance[a, c] - distance[b, d]
                if gain > 1e-9:
                    route[i + 1 : k + 1] = route[i + 1 : k + 1][::-1]
                    improved = True
    return route


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
