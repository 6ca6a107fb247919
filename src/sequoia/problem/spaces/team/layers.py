"""The plain form: each walker goes from stop to stop through layers, one stop in each."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from sequoia.problem.spaces.team.routes import Map
from sequoia.problem.system import LinearSystem, Rows
from sequoia.sizes import MOST_COLUMNS, require_at_most
from sequoia.validation import ActionArray, IntArray

HOME = -1


@dataclass(frozen=True, eq=False)
class Layers:
    """Moves of walkers: from stop number ``layer`` to the next; stop 0 and `HOME` are the depot.

    Attributes
    ----------
    walker, layer, start, stop
        Of each move, ``(M,)``; ``start`` and ``stop`` are arms or `HOME`.
    """

    map: Map
    walker: IntArray
    layer: IntArray
    start: IntArray
    stop: IntArray

    @classmethod
    def over(cls, own: Map) -> "Layers":
        """Return all moves that can be part of a route."""
        parts: list[IntArray] = []
        for walker in range(len(own.limits)):
            arms = np.flatnonzero(own.is_in_reach[walker])
            most = _most_stops(own, walker, arms)
            home = np.full(len(arms), HOME)
            start, stop = (part.reshape(-1) for part in np.meshgrid(arms, arms, indexing="ij"))
            keep = start != stop
            start, stop = start[keep], stop[keep]
            if most:
                parts.append(_moves(walker, 0, home, arms))
            for layer in range(1, most + 1):
                parts.append(_moves(walker, layer, arms, home))
                if layer < most:
                    parts.append(_moves(walker, layer, start, stop))
            size = sum(part.shape[1] for part in parts)
            require_at_most("team", size, "moves of walkers, stop by stop", MOST_COLUMNS)
        moves = np.concatenate([np.empty((4, 0), dtype=np.int64), *parts], axis=1)
        return cls(own, *moves)

    @cached_property
    def _minutes(self) -> IntArray:
        own = self.map
        first, last = self.start == HOME, self.stop == HOME
        minutes = own.between[self.start, self.stop]
        minutes = np.where(first, own.out[self.walker, self.stop], minutes)
        result: IntArray = np.where(last, own.home[self.walker, self.start], minutes)
        return result

    def system(self, names: Sequence[str], worker_names: Sequence[str]) -> LinearSystem:
        """Return the rows over arms and moves."""
        n_arms, size = len(names), len(self.walker)
        moves = np.arange(size)
        leaves, serves = moves[self.start == HOME], moves[self.stop != HOME]
        goes_on = moves[self.start != HOME]
        most = int(self.layer.max(initial=0)) + 1
        # A node is a walker at an arm as a stop of some number: who comes there leaves again.
        into = (self.walker[serves] * most + self.layer[serves] + 1) * n_arms + self.stop[serves]
        from_ = (self.walker[goes_on] * most + self.layer[goes_on]) * n_arms + self.start[goes_on]
        nodes, row = np.unique(np.concatenate([into, from_]), return_inverse=True)
        ones = np.concatenate([np.ones(len(into)), -np.ones(len(from_))])
        kept = csr_array(
            (ones, (row, n_arms + np.concatenate([serves, goes_on]))),
            shape=(len(nodes), n_arms + size),
        )
        arms = np.arange(n_arms)
        served = csr_array(
            (
                np.concatenate([np.ones(n_arms), -np.ones(len(serves))]),
                (
                    np.concatenate([arms, self.stop[serves]]),
                    np.concatenate([arms, n_arms + serves]),
                ),
            ),
            shape=(n_arms, n_arms + size),
        )
        shape = (len(worker_names), n_arms + size)
        begins = csr_array((np.ones(len(leaves)), (self.walker[leaves], n_arms + leaves)), shape)
        takes = csr_array((self._minutes.astype(np.float64), (self.walker, n_arms + moves)), shape)
        rows = [
            Rows.equal(served, 0.0, [f"{name} is served once, if acted on" for name in names]),
            Rows.at_most(begins, 1.0, [f"{name} sets out once" for name in worker_names]),
            Rows.equal(
                kept,
                0.0,
                [
                    f"{worker_names[node // n_arms // most]} leaves {names[node % n_arms]} as stop "
                    f"{node // n_arms % most}"
                    for node in nodes.tolist()
                ],
            ),
            Rows.at_most(takes, self.map.limits, [f"minutes of {name}" for name in worker_names]),
        ]
        return LinearSystem.from_rows(rows, n_arms, [*names, *self._say(names, worker_names)])

    def straight_rows(self, pairs: Sequence[tuple[int, int]], names: Sequence[str]) -> Rows:
        """Return rows over arms and moves: some walker goes straight from one arm to another."""
        n_arms = len(names)
        rows = [(self.start == first) & (self.stop == then) for first, then in pairs]
        moves = np.array(rows, dtype=np.float64).reshape(len(pairs), len(self.walker))
        matrix = np.concatenate([np.zeros((len(pairs), n_arms)), moves], axis=1)
        said = [f"locked: {names[first]} straight before {names[then]}" for first, then in pairs]
        return Rows.at_least(matrix, 1.0, said)

    def _say(self, names: Sequence[str], worker_names: Sequence[str]) -> list[str]:
        def place(arm: int) -> str:
            return "the depot" if arm == HOME else names[arm]

        return [
            f"{worker_names[walker]} goes from {place(start)} to {place(stop)} after stop {layer}"
            for walker, layer, start, stop in zip(
                self.walker.tolist(),
                self.layer.tolist(),
                self.start.tolist(),
                self.stop.tolist(),
                strict=True,
            )
        ]

    @cached_property
    def _place(self) -> dict[tuple[int, int, int, int], int]:
        keys = zip(
            self.walker.tolist(),
            self.layer.tolist(),
            self.start.tolist(),
            self.stop.tolist(),
            strict=True,
        )
        return {key: column for column, key in enumerate(keys)}

    def plan(self, routes: Sequence[Sequence[int]]) -> ActionArray:
        """Return the moves of routes, one for each walker, ``(M,)``."""
        columns = np.zeros(len(self.walker), dtype=np.int8)
        for walker, route in enumerate(routes):
            if len(route):
                stops = [HOME, *route, HOME]
                for layer, (start, stop) in enumerate(pairwise(stops)):
                    columns[self._place[walker, layer, start, stop]] = 1
        return columns

    def routes(self, plan: ActionArray) -> list[list[int]]:
        """Return the stops of each walker in order."""
        routes: list[list[int]] = [[] for _ in self.map.limits]
        moves = np.flatnonzero(plan)
        for move in moves[np.argsort(self.layer[moves], kind="stable")].tolist():
            if self.stop[move] != HOME:
                routes[self.walker[move]].append(int(self.stop[move]))
        return routes


def _moves(walker: int, layer: int, start: IntArray, stop: IntArray) -> IntArray:
    who, when = np.full(len(start), walker), np.full(len(start), layer)
    return np.stack([who, when, start, stop])


def _most_stops(own: Map, walker: int, arms: IntArray) -> int:
    """Return how many stops fit at most, if each is reached from the nearest place."""
    if not len(arms):
        return 0
    between = own.between[np.ix_(arms, arms)].astype(np.float64)
    np.fill_diagonal(between, np.inf)
    least = np.minimum(between.min(axis=0), own.out[walker, arms])
    room = own.limits[walker] - own.home[walker, arms].min()
    return int((np.sort(least).cumsum() <= room).sum())
