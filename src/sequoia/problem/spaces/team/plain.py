"""The plain form: which ways are gone, by whom, and one clock that counts all of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
from scipy.sparse import csr_array

from sequoia.problem.spaces.team.routes import Map
from sequoia.problem.system import LinearSystem, Rows
from sequoia.sizes import MOST_COLUMNS, require_at_most
from sequoia.validation import ActionArray, IntArray


@dataclass(frozen=True, eq=False)
class PlainForm:
    """Binary columns: who serves an arm, first and last; ways between arms; the clock in bits.

    The days of walkers follow each other on one clock: walker ``w`` serves at ``w D + t``, where
    ``D`` is longer than a day. A way from i to j sets ``clock_j >= clock_i + minutes``, which
    forbids round trips without a depot (Miller, Tucker and Zemlin 1960), and never leads to an
    earlier walker. As many routes of each walker begin as end, none leads to a later one, either.

    Attributes
    ----------
    walker, arm
        Who may serve whom, ``(V,)``: visits.
    start, stop
        Of each way, ``(X,)``.
    """

    map: Map
    walker: IntArray
    arm: IntArray
    start: IntArray
    stop: IntArray

    @classmethod
    def over(cls, own: Map) -> "PlainForm":
        """Return the visits and ways that can be part of a route."""
        walker, arm = np.nonzero(own.is_in_reach)
        is_way = np.zeros_like(own.between, dtype=np.bool_)
        for first, latest, reach in zip(own.first, own.latest, own.is_in_reach, strict=True):
            then = np.maximum(first[:, None] + own.between, own.early)
            is_way |= (then <= latest) & reach[:, None] & reach
        np.fill_diagonal(is_way, False)
        start, stop = np.nonzero(is_way)
        require_at_most("team", 3 * len(arm) + len(start), "visits and ways", MOST_COLUMNS)
        return cls(own, walker, arm, start, stop)

    @property
    def _day(self) -> int:
        """``D``."""
        return int(self.map.limits.max(initial=0)) + 1

    @property
    def _bits(self) -> int:
        return (self._day * max(1, len(self.map.limits))).bit_length()

    @cached_property
    def _parts(self) -> list[int]:
        """Where visits, first ones, last ones, ways and bits begin among plan columns."""
        visits, ways = len(self.arm), len(self.start)
        return list(accumulate([0, visits, visits, visits, ways]))

    @property
    def _n_columns(self) -> int:
        return int(self._parts[-1] + self._bits * self.map.n_arms)

    def system(self, names: Sequence[str], worker_names: Sequence[str]) -> LinearSystem:
        """Return the rows over arms and plan columns."""
        own, n_arms = self.map, len(names)
        walkers, visits = len(worker_names), np.arange(len(self.arm))
        visit, first, last, ways, clock = (n_arms + part for part in self._parts)
        arms, way = np.arange(n_arms), np.arange(len(self.start))
        begin = self._day * self.walker
        early, late = own.early[self.arm], own.latest[self.walker, self.arm]
        bits = (np.arange(n_arms)[:, None] * self._bits + np.arange(self._bits)).reshape(-1) + clock
        bit_arm = np.repeat(arms, self._bits)
        power = np.tile(2.0 ** np.arange(self._bits), n_arms)
        # No clock stands later; where a way is not gone, its row says nothing.
        latest = np.zeros(n_arms)
        np.maximum.at(latest, self.arm, begin + late)
        of_way = np.repeat(way, self._bits)
        way_bits = np.tile(np.arange(self._bits), len(way)) + clock
        way_power = np.tile(2.0 ** np.arange(self._bits), len(way))
        begin_bits = np.repeat(self.start * self._bits, self._bits) + way_bits
        end_bits = np.repeat(self.stop * self._bits, self._bits) + way_bits

        def rows(count: int, *parts: tuple[IntArray, IntArray, object]) -> csr_array:
            data = [np.broadcast_to(np.asarray(v, float), row.shape) for row, _, v in parts]
            places = [np.concatenate([part[axis] for part in parts]) for axis in (0, 1)]
            shape = (count, n_arms + self._n_columns)
            return csr_array((np.concatenate(data), tuple(places)), shape=shape)

        served = (arms, arms, -1.0)
        reading = (bit_arm, bits, power)
        takes = own.between[self.start, self.stop]
        blocks = [
            Rows.equal(
                rows(n_arms, served, (self.arm, visit + visits, 1.0)),
                0.0,
                [f"{name} is served once, if acted on" for name in names],
            ),
            Rows.equal(
                rows(n_arms, served, (self.arm, first + visits, 1.0), (self.stop, ways + way, 1.0)),
                0.0,
                [f"somebody comes to {name}, if acted on" for name in names],
            ),
            Rows.equal(
                rows(n_arms, served, (self.arm, last + visits, 1.0), (self.start, ways + way, 1.0)),
                0.0,
                [f"somebody leaves {name}, if acted on" for name in names],
            ),
            Rows.at_most(
                rows(walkers, (self.walker, first + visits, 1.0)),
                1.0,
                [f"{name} sets out once" for name in worker_names],
            ),
            Rows.equal(
                rows(
                    walkers, (self.walker, first + visits, 1.0), (self.walker, last + visits, -1.0)
                ),
                0.0,
                [f"{name} comes back" for name in worker_names],
            ),
            *(
                Rows.at_most(
                    rows(
                        len(visits), (visits, place + visits, 1.0), (visits, visit + visits, -1.0)
                    ),
                    0.0,
                    [f"{text} who serves" for text in self._say(names, worker_names, what)],
                )
                for place, what in ((first, "first"), (last, "last"))
            ),
            Rows.at_least(
                rows(n_arms, reading, (self.arm, visit + visits, -(begin + early))),
                0.0,
                [f"earliest end of serving {name}" for name in names],
            ),
            Rows.at_least(
                rows(
                    n_arms,
                    reading,
                    (self.arm, first + visits, -(begin + own.out[self.walker, self.arm])),
                ),
                0.0,
                [f"minutes to {name}, if first" for name in names],
            ),
            Rows.at_most(
                rows(n_arms, reading, (self.arm, visit + visits, -(begin + late))),
                0.0,
                [f"latest end of serving {name}, to be home in time" for name in names],
            ),
            Rows.at_least(
                rows(
                    len(way),
                    (of_way, end_bits, way_power),
                    (of_way, begin_bits, -way_power),
                    (way, ways + way, -(takes + latest[self.start])),
                ),
                -latest[self.start],
                [
                    f"minutes from {names[a]} to {names[b]}"
                    for a, b in zip(self.start.tolist(), self.stop.tolist(), strict=True)
                ],
            ),
        ]
        columns = [
            *names,
            *self._say(names, worker_names, ""),
            *self._say(names, worker_names, "first"),
            *self._say(names, worker_names, "last"),
            *(
                f"way from {names[a]} to {names[b]}"
                for a, b in zip(self.start.tolist(), self.stop.tolist(), strict=True)
            ),
            *(f"clock at {name}, {2**bit}" for name in names for bit in range(self._bits)),
        ]
        return LinearSystem.from_rows(blocks, n_arms, columns)

    def _say(self, names: Sequence[str], worker_names: Sequence[str], when: str) -> list[str]:
        end = f" {when}" if when else ""
        return [
            f"{worker_names[walker]} serves {names[arm]}{end}"
            for walker, arm in zip(self.walker.tolist(), self.arm.tolist(), strict=True)
        ]

    def straight_rows(self, pairs: Sequence[tuple[int, int]], names: Sequence[str]) -> Rows:
        """Return rows over arms and plan columns: somebody goes straight from arm to arm."""
        n_arms = len(names)
        matrix = np.zeros((len(pairs), n_arms + self._n_columns))
        for row, (first, then) in enumerate(pairs):
            way = np.flatnonzero((self.start == first) & (self.stop == then))
            matrix[row, n_arms + self._parts[3] + way] = 1.0
        said = [f"locked: {names[first]} straight before {names[then]}" for first, then in pairs]
        return Rows.at_least(matrix, 1.0, said)

    @cached_property
    def _visit_at(self) -> dict[tuple[int, int], int]:
        keys = zip(self.walker.tolist(), self.arm.tolist(), strict=True)
        return {key: visit for visit, key in enumerate(keys)}

    @cached_property
    def _way_at(self) -> dict[tuple[int, int], int]:
        keys = zip(self.start.tolist(), self.stop.tolist(), strict=True)
        return {key: way for way, key in enumerate(keys)}

    def plan(self, routes: Sequence[Sequence[int]]) -> ActionArray:
        """Return the plan columns of routes, one for each walker, ``(M,)``."""
        columns = np.zeros(self._n_columns, dtype=np.int8)
        visit, first, last, ways, clock = self._parts
        for walker, route in enumerate(routes):
            stops = list(route)
            if not stops:
                continue
            columns[[visit + self._visit_at[walker, arm] for arm in stops]] = 1
            columns[first + self._visit_at[walker, stops[0]]] = 1
            columns[last + self._visit_at[walker, stops[-1]]] = 1
            columns[[ways + self._way_at[pair] for pair in pairwise(stops)]] = 1
            for arm, end in zip(stops, self.map.ends(walker, stops), strict=True):
                now = self._day * walker + end
                at = clock + arm * self._bits
                columns[at : at + self._bits] = now >> np.arange(self._bits) & 1
        return columns

    def routes(self, plan: ActionArray) -> list[list[int]]:
        """Return the stops of each walker in order."""
        routes: list[list[int]] = [[] for _ in self.map.limits]
        _, first, last, ways, clock = self._parts
        taken = np.flatnonzero(plan[ways:clock])
        following = dict(zip(self.start[taken].tolist(), self.stop[taken].tolist(), strict=True))
        for visit in np.flatnonzero(plan[first:last]).tolist():
            stop: int | None = int(self.arm[visit])
            while stop is not None:
                routes[self.walker[visit]].append(stop)
                stop = following.get(stop)
        return routes
