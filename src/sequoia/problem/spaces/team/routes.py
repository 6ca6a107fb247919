"""Round trips by hand: insertion, and exact shortest ones for few stops."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

# A table of 16,384 sets and 14 last stops; beyond it, a program decides.
MOST_STOPS_BY_SETS = 14
# Minutes that nobody has.
_NEVER = 2**40


@dataclass(frozen=True, eq=False)
class Map:
    """What round trips take.

    Attributes
    ----------
    between
        Minutes from arm to arm, the service at the second included, ``(J, J)``.
    out
        Minutes from the depot of each walker to each arm, its service included, ``(W, J)``.
    home
        Minutes from each arm back to the depot of each walker, ``(W, J)``.
    limits
        Minutes of each walker, ``(W,)``.
    may_serve
        Which walkers may serve which arms, ``(W, J)``.
    """

    between: IntArray
    out: IntArray
    home: IntArray
    limits: IntArray
    may_serve: BoolArray

    @classmethod
    def of(
        cls,
        travel: IntArray,
        service: IntArray,
        depots: IntArray,
        limits: IntArray,
        may_serve: BoolArray,
    ) -> "Map":
        """Return the map of places, ``(P, P)``, of which the first are arms."""
        n_arms = len(service)
        return cls(
            travel[:n_arms, :n_arms] + service,
            travel[depots, :n_arms] + service,
            travel[:n_arms, depots].T,
            limits,
            may_serve,
        )

    @property
    def n_arms(self) -> int:
        """``J``."""
        return len(self.between)

    @cached_property
    def is_in_reach(self) -> BoolArray:
        """Which arms each walker may and can serve alone, ``(W, J)``."""
        near: BoolArray = self.may_serve & (self.out + self.home <= self.limits[:, None])
        return near

    def action(self, routes: Iterable[Iterable[int]]) -> ActionArray:
        """Return which arms routes serve, ``(J,)``."""
        action = np.zeros(self.n_arms, dtype=np.int8)
        action[[arm for route in routes for arm in route]] = 1
        return action

    def minutes(self, walker: int, route: Sequence[int]) -> int:
        """Return what a route takes."""
        if not len(route):
            return 0
        stops = list(route)
        legs = self.between[stops[:-1], stops[1:]].sum()
        return int(self.out[walker, stops[0]] + legs + self.home[walker, stops[-1]])

    def insertion(self, walker: int, route: Sequence[int], used: int) -> tuple[IntArray, IntArray]:
        """Return the minutes of ``route`` with each arm at its best place, and that, ``(J,)``."""
        stops = np.array(route, dtype=np.int64)
        before = np.vstack([self.out[walker], self.between[stops]])
        after = np.vstack([self.between[:, stops].T, self.home[walker]])
        own = np.append(self.out[walker, stops[:1]], self.between[stops[:-1], stops[1:]])
        own = np.append(own, self.home[walker, stops[-1:]]) if len(stops) else np.zeros(1, int)
        more = before + after - own[:, None]
        total = np.where(self.may_serve[walker], used + more.min(axis=0), _NEVER)
        return total, more.argmin(axis=0)

    def fill(
        self, routes: list[list[int]], weights: FloatArray, ease: float = 0.0
    ) -> list[list[int]]:
        """Insert arms of positive weight while they fit, by weight for each minute of detour.

        ``ease`` is added to each detour: the more, the less detours count.
        """
        routes = [list(route) for route in routes]
        used = [self.minutes(walker, route) for walker, route in enumerate(routes)]
        is_open = weights > 0
        is_open[[arm for route in routes for arm in route]] = False
        found = [self.insertion(w, route, used[w]) for w, route in enumerate(routes)]
        while routes and is_open.any():
            total = np.array([minutes for minutes, _ in found])
            detour = total - np.array(used)[:, None] + ease + 1e-9
            fits = is_open & (total <= self.limits[:, None])
            if not fits.any():
                break
            score = np.where(fits, weights / np.maximum(detour, 1e-9), -np.inf)
            walker, arm = divmod(int(score.argmax()), self.n_arms)
            routes[walker].insert(int(found[walker][1][arm]), arm)
            used[walker] = int(found[walker][0][arm])
            is_open[arm] = False
            found[walker] = self.insertion(walker, routes[walker], used[walker])
        return routes

    def split(self, arms: Sequence[int]) -> list[list[int]] | None:
        """Return routes that serve all ``arms``, at most 14; ``None`` if there are none: exact.

        Shortest paths over sets (Bellman 1962; Held and Karp 1962), once for each walker, then sets
        are handed to walkers one after the other.
        """
        size = len(arms)
        full = (1 << size) - 1
        tables = [self._by_sets(walker, arms) for walker in range(len(self.limits))]
        served: dict[int, tuple[int, ...]] = {0: ()}
        for fits, _, _ in tables:
            following: dict[int, tuple[int, ...]] = {}
            own = np.flatnonzero(fits)
            for before, parts in served.items():
                for part in own[(own & before) == 0].tolist():
                    following.setdefault(before | part, (*parts, part))
            served = following
        if full not in served:
            return None
        return [
            self._unroll(walker, arms, part, *tables[walker][1:])
            for walker, part in enumerate(served[full])
        ]

    def _by_sets(self, walker: int, arms: Sequence[int]) -> tuple[BoolArray, IntArray, IntArray]:
        """Return which sets fit, and minutes and last but one stop by set and last stop."""
        size, stops = len(arms), np.array(arms, dtype=np.int64)
        far = _NEVER
        minutes = np.full((1 << size, size), far, dtype=np.int64)
        before = np.full((1 << size, size), -1, dtype=np.int64)
        barred = np.where(self.may_serve[walker, stops], 0, far)
        minutes[1 << np.arange(size), np.arange(size)] = self.out[walker, stops] + barred
        legs = self.between[np.ix_(stops, stops)] + barred
        for chosen in range(1, 1 << size):
            row = minutes[chosen]
            if row.min(initial=far) > self.limits[walker]:
                continue
            reached = (row[:, None] + legs).min(axis=0)
            origin = (row[:, None] + legs).argmin(axis=0)
            for last in range(size):
                then = chosen | (1 << last)
                if then != chosen and reached[last] < minutes[then, last]:
                    minutes[then, last], before[then, last] = reached[last], origin[last]
        fits: BoolArray = (minutes + self.home[walker, stops]).min(axis=1, initial=far) <= (
            self.limits[walker]
        )
        fits[0] = True
        return fits, minutes, before

    def _unroll(
        self, walker: int, arms: Sequence[int], part: int, minutes: IntArray, before: IntArray
    ) -> list[int]:
        route: list[int] = []
        if not part:
            return route
        last = int((minutes[part] + self.home[walker, list(arms)]).argmin())
        while last >= 0:
            route.append(arms[last])
            part, last = part & ~(1 << last), int(before[part, last])
        return route[::-1]
