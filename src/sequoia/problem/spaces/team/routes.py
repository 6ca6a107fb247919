"""Round trips by hand: insertion, and exact earliest ones for few stops."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

# A table of 16,384 sets and 14 last stops; beyond it, a program decides.
MOST_STOPS_BY_SETS = 14
# Minutes that nobody has.
NEVER = 2**40


@dataclass(frozen=True, eq=False)
class Map:
    """What round trips take, by a clock that stands at 0 when the first walker may set out.

    Whoever comes too early waits. So ends of services are what is reckoned with.

    Attributes
    ----------
    between
        Minutes from arm to arm, the service at the second included, ``(J, J)``.
    out
        When each walker can have served each arm first, ``(W, J)``.
    home
        Minutes from each arm back to the depot of each walker, ``(W, J)``.
    begins, limits
        When each walker may set out, and has to be back, ``(W,)``.
    may_serve
        Which walkers may serve which arms, ``(W, J)``.
    early, late
        When the service at each arm may end, ``(J,)``.
    service
        Minutes that it takes, ``(J,)``.
    """

    between: IntArray
    out: IntArray
    home: IntArray
    begins: IntArray
    limits: IntArray
    may_serve: BoolArray
    early: IntArray
    late: IntArray
    service: IntArray

    @classmethod
    def of(
        cls,
        travel: IntArray,
        service: IntArray,
        depots: IntArray,
        begins: IntArray,
        limits: IntArray,
        may_serve: BoolArray,
        windows: IntArray,
    ) -> "Map":
        """Return the map of places, ``(P, P)``, of which the first are arms; see `Team`."""
        n_arms, zero = len(service), int(begins.min(initial=NEVER))
        begins, windows = begins - zero, windows - zero
        ends = begins + limits
        return cls(
            travel[:n_arms, :n_arms] + service,
            begins[:, None] + travel[depots, :n_arms] + service,
            travel[:n_arms, depots].T,
            begins,
            ends,
            may_serve,
            np.maximum(windows[:, 0], 0) + service,
            np.minimum(windows[:, 1] + service, int(ends.max(initial=0))),
            service,
        )

    @property
    def n_arms(self) -> int:
        """``J``."""
        return len(self.between)

    @cached_property
    def first(self) -> IntArray:
        """When each walker has served each arm, if first of all, ``(W, J)``."""
        first: IntArray = np.maximum(self.out, self.early)
        return first

    @cached_property
    def latest(self) -> IntArray:
        """Until when each walker has to have served each arm, to be home in time, ``(W, J)``."""
        latest: IntArray = np.minimum(self.late, self.limits[:, None] - self.home)
        return latest

    @cached_property
    def is_in_reach(self) -> BoolArray:
        """Which arms each walker may and can serve alone, ``(W, J)``."""
        near: BoolArray = self.may_serve & (self.first <= self.latest)
        return near

    def action(self, routes: Iterable[Iterable[int]]) -> ActionArray:
        """Return which arms routes serve, ``(J,)``."""
        action = np.zeros(self.n_arms, dtype=np.int8)
        action[[arm for route in routes for arm in route]] = 1
        return action

    def ends(self, walker: int, route: Sequence[int]) -> list[int]:
        """Return when the service at each stop of a route ends, at the earliest."""
        ends, now, before = [], 0, -1
        for stop in route:
            reached = self.out[walker, stop] if before < 0 else now + self.between[before, stop]
            now = max(int(reached), int(self.early[stop]))
            ends.append(now)
            before = stop
        return ends

    def back(self, walker: int, route: Sequence[int]) -> int:
        """Return when a walker is back from a route; when setting out, if it has no stops."""
        if not len(route):
            return int(self.begins[walker])
        return self.ends(walker, route)[-1] + int(self.home[walker, route[-1]])

    def is_kept(self, walker: int, route: Sequence[int]) -> bool:
        """Say whether a walker may and can take a route, within all times."""
        stops = list(route)
        in_time = all(self.ends(walker, stops) <= self.late[stops])
        may = bool(self.may_serve[walker, stops].all())
        return in_time and may and self.back(walker, stops) <= self.limits[walker]

    def insertion(self, walker: int, route: Sequence[int]) -> tuple[IntArray, IntArray]:
        """Return the detour to each arm at its best place in a route, and that place, ``(J,)``.

        Where an arm fits nowhere, its detour takes longer than anybody has.
        """
        stops = np.array(route, dtype=np.int64)
        before = np.vstack([self.out[walker], self.between[stops]])
        after = np.vstack([self.between[:, stops].T, self.home[walker]])
        own = np.append(self.out[walker, stops[:1]], self.between[stops[:-1], stops[1:]])
        if len(stops):
            own = np.append(own, self.home[walker, stops[-1:]])
        else:
            own = self.begins[walker : walker + 1]
        ends = np.maximum(before + np.array([0, *self.ends(walker, route)])[:, None], self.early)
        room = [int(self.limits[walker])]
        for place in range(len(stops) - 1, -1, -1):
            then = room[0] - int(after[place + 1, stops[place]])
            room.insert(0, min(then, int(self.late[stops[place]])))
        fits = (ends <= self.late) & (ends + after <= np.array(room)[:, None])
        more = np.where(fits & self.may_serve[walker], before + after - own[:, None], NEVER)
        return more.min(axis=0), more.argmin(axis=0)

    def fill(
        self, routes: list[list[int]], weights: FloatArray, ease: float = 0.0
    ) -> list[list[int]]:
        """Insert arms of positive weight while they fit, by weight for each minute of detour.

        ``ease`` is added to each detour: the more, the less detours count.
        """
        routes = [list(route) for route in routes]
        is_open = weights > 0
        is_open[[arm for route in routes for arm in route]] = False
        best = [self.insertion(walker, route) for walker, route in enumerate(routes)]
        detours = np.array([detour for detour, _ in best]).reshape(len(routes), self.n_arms)
        while is_open.any():
            fits = is_open & (detours < NEVER)
            if not fits.any():
                break
            score = np.where(fits, weights / np.maximum(detours + ease, 1e-9), -np.inf)
            walker, arm = divmod(int(score.argmax()), self.n_arms)
            routes[walker].insert(int(best[walker][1][arm]), arm)
            is_open[arm] = False
            best[walker] = self.insertion(walker, routes[walker])
            detours[walker] = best[walker][0]
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
        """Return which sets fit, and end and last but one stop by set and last stop."""
        size, stops = len(arms), np.array(arms, dtype=np.int64)
        far = NEVER
        minutes = np.full((1 << size, size), far, dtype=np.int64)
        before = np.full((1 << size, size), -1, dtype=np.int64)
        early = self.early[stops]
        late = np.where(self.may_serve[walker, stops], self.late[stops], -1)
        alone = self.first[walker, stops]
        minutes[1 << np.arange(size), np.arange(size)] = np.where(alone <= late, alone, far)
        legs = self.between[np.ix_(stops, stops)]
        for chosen in range(1, 1 << size):
            row = minutes[chosen]
            if row.min(initial=far) > self.limits[walker]:
                continue
            reached = np.maximum((row[:, None] + legs).min(axis=0), early)
            reached = np.where(reached <= late, reached, far)
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
