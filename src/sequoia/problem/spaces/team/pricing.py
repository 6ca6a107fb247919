"""The best route at given prices of arms, or somewhat better than any: paths that forget."""

from heapq import heapify, heappop, heappush

import numpy as np

from sequoia.problem.spaces.team.routes import Map
from sequoia.validation import FloatArray, IntArray

_NEVER = -1e18


class NgPaths:
    """Best paths from a depot by the minutes they take, over arms and what is remembered there.

    A path remembers a stop for as long as all stops since are near it, and goes to no stop that it
    remembers (ng-routes, Baldacci, Mingozzi and Roberti 2011). So it may come back to an arm only
    after a long way round; every real route is among them, and the best of them is a bound.

    Parameters
    ----------
    walker
        Whose depot and limit.
    memory
        How many arms, itself included, each arm is near to.
    """

    def __init__(self, own: Map, walker: int, memory: int) -> None:
        self._map, self._walker = own, walker
        self._limit = int(own.limits[walker])
        arms = np.flatnonzero(own.is_in_reach[walker])
        self._arms = arms
        between = own.between + own.between.T
        near = [arms[np.argsort(between[arm, arms], kind="stable")][:memory] for arm in arms]
        near = [
            np.unique(np.append(own_near, arm)) for own_near, arm in zip(near, arms, strict=True)
        ]
        self._build(near)

    def _build(self, near: list[IntArray]) -> None:
        """List the states, an arm and what is remembered, and the moves between them."""
        index: dict[tuple[int, int], int] = {}
        masks = {
            int(arm): sum(1 << int(n) for n in own)
            for arm, own in zip(self._arms, near, strict=True)
        }
        between = self._map.between.tolist()
        first = self._map.first[self._walker].tolist()
        latest, early = self._map.latest[self._walker].tolist(), self._map.early.tolist()
        earliest: list[int] = []
        states: list[tuple[int, int]] = []
        for arm in self._arms.tolist():
            index[arm, 1 << arm] = len(states)
            states.append((arm, 1 << arm))
            earliest.append(first[arm])
        moves: list[tuple[int, int, int]] = []
        # Earliest first (Dijkstra 1959), so that a state is left when its earliest minute is known.
        waiting = [(minutes, place) for place, minutes in enumerate(earliest)]
        heapify(waiting)
        while waiting:
            minutes, place = heappop(waiting)
            if minutes > earliest[place]:
                continue
            arm, seen = states[place]
            for other in self._arms.tolist():
                takes = between[arm][other]
                ends = max(minutes + takes, early[other])
                if seen >> other & 1 or ends > latest[other]:
                    continue
                key = (other, (seen & masks[other]) | 1 << other)
                then = index.setdefault(key, len(states))
                if then == len(states):
                    states.append(key)
                    earliest.append(ends)
                    heappush(waiting, (ends, then))
                elif ends < earliest[then]:
                    earliest[then] = ends
                    heappush(waiting, (ends, then))
                moves.append((then, place, takes))
        self.arm = np.array([arm for arm, _ in states], dtype=np.int64)
        listed = np.array(sorted(moves), dtype=np.int64).reshape(-1, 3)
        self._stop, self._start, self._takes = listed.T.copy()
        self._targets, self._first = np.unique(self._stop, return_index=True)
        self._first_end = self._map.first[self._walker, self._arms]
        self._early, self._late = self._map.early[self.arm], self._map.late[self.arm]
        self._home = self._map.home[self._walker, self.arm]

    def solve(self, worth: FloatArray) -> None:
        """Find the best paths where arms are worth ``worth``, ``(J,)``, by dynamic programming.

        ``best[t, s]``: the most that a path to state ``s`` in at most ``t`` minutes is worth.
        """
        size = len(self.arm)
        best = np.full((self._limit + 1, size), _NEVER)
        gain = worth[self.arm[self._stop]]
        begins = worth[self._arms]
        flat = best.reshape(-1)
        offset = self._start - self._takes * size
        clock = np.arange(self._limit + 1)[:, None]
        early, late = self._early[self._targets], self._late[self._targets]
        is_open = (early <= clock) & (clock <= late)
        for now in range(self._limit + 1):
            if now:
                best[now] = best[now - 1]
            ready = (self._first_end <= now) & (now <= self._late[: len(begins)])
            own = best[now, : len(ready)]
            own[ready] = np.maximum(own[ready], begins[ready])
            if len(gain):
                which = offset + now * size
                found = np.where(which >= 0, flat[which], _NEVER) + gain
                reached = np.maximum.reduceat(found, self._first)
                reached = np.where(is_open[now], reached, _NEVER)
                best[now, self._targets] = np.maximum(best[now, self._targets], reached)
        self._best, self._worth = best, worth
        # A path of a state that is remembered more is one of the arm alone, too.
        self.by_arm = np.full((self._limit + 1, len(worth)), _NEVER)
        order = np.argsort(self.arm, kind="stable")
        arms, first = np.unique(self.arm[order], return_index=True)
        if len(arms):
            self.by_arm[:, arms] = np.maximum.reduceat(best[:, order], first, axis=1)

    def value(self) -> float:
        """Return the most that a closed path is worth; nothing is always possible."""
        if not len(self.arm):
            return 0.0
        ends = self._best[self._limit - self._home, np.arange(len(self.arm))]
        return max(0.0, float(ends.max()))

    def routes(self, most: int) -> list[list[int]]:
        """Return good closed paths, at most one for each last stop, the best first."""
        if not len(self.arm):
            return []
        ends = self._best[self._limit - self._home, np.arange(len(self.arm))]
        routes: list[list[int]] = []
        seen: set[int] = set()
        for state in np.argsort(-ends, kind="stable").tolist():
            if ends[state] <= 0 or len(routes) == most:
                break
            if self.arm[state] not in seen:
                seen.add(self.arm[state])
                routes.append(self._back(state, int(self._limit - self._home[state])))
        return routes

    def _back(self, state: int, now: int) -> list[int]:
        """Follow a best path back to the depot."""
        route = []
        while True:
            value = self._best[now, state]
            while now and self._best[now - 1, state] == value:
                now -= 1
            route.append(int(self.arm[state]))
            low, high = np.searchsorted(self._stop, [state, state + 1])
            then = now - self._takes[low:high]
            found = np.where(
                then >= 0, self._best[np.maximum(then, 0), self._start[low:high]], _NEVER
            )
            good = np.flatnonzero(found + self._worth[self.arm[state]] == value)
            if not len(good):
                return route[::-1]
            move = low + int(good[0])
            state, now = int(self._start[move]), now - int(self._takes[move])
