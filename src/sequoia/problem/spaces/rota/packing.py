"""Visits packed into openings, a worker in a slot each: quick, and not always complete."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sequoia.problem.system import room
from sequoia.validation import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Openings:
    """Places for visits: an opening is one worker in one slot.

    Attributes
    ----------
    worker, slot, minutes
        Of each opening, ``(B,)``, ordered by worker, then slot.
    lengths, visits
        Minutes of one visit to each arm, and how many it needs, ``(J,)``.
    pairs
        Arm and opening of every visit that is possible, ``(P, 2)``, ordered by opening, then arm.
    is_distinct
        Whether the visits to an arm are by different workers.
    most_in_a_row
        How many slots in a row a worker may work; ``None`` for any number.
    """

    worker: IntArray
    slot: IntArray
    minutes: FloatArray
    lengths: FloatArray
    visits: IntArray
    pairs: IntArray
    is_distinct: bool
    most_in_a_row: int | None

    @classmethod
    def of(
        cls,
        minutes: FloatArray,
        open_slots: BoolArray,
        may_visit: BoolArray,
        lengths: FloatArray,
        visits: IntArray,
        is_distinct: bool,
        most_in_a_row: int | None,
    ) -> "Openings":
        """Return the openings of workers with ``minutes``, ``(W, K)``; see `Rota`."""
        worker, slot = np.nonzero(minutes > 0)
        minutes_each = minutes[worker, slot]
        suits = open_slots[:, slot].T & may_visit[worker] & (lengths <= room(minutes_each)[:, None])
        opening, arm = np.nonzero(suits)
        pairs = np.stack([arm, opening], axis=1)
        return cls(worker, slot, minutes_each, lengths, visits, pairs, is_distinct, most_in_a_row)

    @property
    def room(self) -> FloatArray:
        """The minutes that visits may add up to in each opening, ``(B,)``."""
        limit: FloatArray = room(self.minutes)
        return limit

    @property
    def n_openings(self) -> int:
        """``B``."""
        return len(self.worker)

    def of_arms(self) -> list[list[int]]:
        """Return the openings that suit each arm, the shortest first: they suit few others."""
        order = np.argsort(self.minutes[self.pairs[:, 1]], kind="stable")
        result: list[list[int]] = [[] for _ in self.lengths]
        for arm, opening in self.pairs[order].tolist():
            result[arm].append(opening)
        return result

    def windows(self) -> list[list[int]]:
        """Return the openings in each run of slots of which a worker has to leave one out."""
        if self.most_in_a_row is None:
            return []
        size = self.most_in_a_row + 1
        place = {
            (worker, slot): opening
            for opening, (worker, slot) in enumerate(
                zip(self.worker.tolist(), self.slot.tolist(), strict=True)
            )
        }
        runs = [
            [place.get((worker, slot + step), -1) for step in range(size)] for worker, slot in place
        ]
        return [run for run in runs if min(run) >= 0]


class Packing:
    """The visits in each opening; arms are added, and others make room for them.

    A visit that finds no room takes the place of another, which moves on in turn, as along an
    augmenting path of a matching (Berge 1957). Each opening is tried once on such a path, so that
    it is short work. Lengths differ, so a path may be missed: that an arm finds no room proves
    nothing.
    """

    def __init__(self, openings: Openings) -> None:
        self._openings = openings
        self._lengths = openings.lengths.tolist()
        self._visits = openings.visits.tolist()
        self._of_arm = openings.of_arms()
        self._worker = openings.worker.tolist()
        self._windows: list[list[list[int]]] = [[] for _ in range(openings.n_openings)]
        for window in openings.windows():
            for opening in window:
                self._windows[opening].append(window)
        self._room: list[float] = openings.room.tolist()
        self.clear()

    def clear(self) -> None:
        """Begin with nobody visited."""
        self.left = list(self._room)
        self.inside: list[list[int]] = [[] for _ in self._room]
        self.places: dict[int, list[int]] = {}

    def fill(self, visits: IntArray) -> None:
        """Begin with given visits, arm and opening each, ``(V, 2)``."""
        self.clear()
        for arm, opening in visits.tolist():
            self.put(arm, opening)

    def pack(self, arms: list[int]) -> IntArray | None:
        """Return visits to all ``arms``, if they are found; those with few choices go first."""
        self.clear()
        arms = sorted(arms, key=lambda arm: (len(self._of_arm[arm]), -self._lengths[arm]))
        return self.visits() if all(self.add(arm) for arm in arms) else None

    def visits(self) -> IntArray:
        """Return arm and opening of each visit, ``(V, 2)``."""
        visits = [(arm, opening) for arm, openings in self.places.items() for opening in openings]
        return np.array(visits, dtype=np.int64).reshape(-1, 2)

    def free(self, arm: int) -> list[int]:
        """Return the openings that have room for a visit to ``arm`` as things are."""
        return [opening for opening in self._of_arm[arm] if self._fits(arm, opening)]

    def choose(self, arm: int, order: Iterable[int] | None = None) -> list[int] | None:
        """Return openings for all visits to ``arm`` while all others stay; ``None`` if none do.

        The first of ``order`` that go together, or else the fullest ones.
        """
        free = self.free(arm)
        free = sorted(free, key=self.left.__getitem__) if order is None else list(order)
        needed = self._visits[arm]

        def complete(start: int) -> bool:
            if len(self.places.get(arm, ())) == needed:
                return True
            for position in range(start, len(free)):
                if self._fits(arm, free[position]):
                    self.put(arm, free[position])
                    if complete(position + 1):
                        return True
                    self.take(arm, free[position])
            return False

        if not complete(0):
            return None
        chosen = list(self.places[arm])
        for opening in chosen:
            self.take(arm, opening)
        return chosen

    def put(self, arm: int, opening: int) -> None:
        """Book a visit."""
        self.left[opening] -= self._lengths[arm]
        self.inside[opening].append(arm)
        self.places.setdefault(arm, []).append(opening)

    def take(self, arm: int, opening: int) -> None:
        """Take a visit back."""
        self.left[opening] += self._lengths[arm]
        self.inside[opening].remove(arm)
        self.places[arm].remove(opening)
        if not self.places[arm]:
            del self.places[arm]

    def add(self, arm: int) -> bool:
        """Book all visits to ``arm``; others move if they must.

        Nothing changes where that is not enough.
        """
        before = list(self.places.get(arm, ()))
        while len(self.places.get(arm, ())) < self._visits[arm]:
            if not self._place(arm, set()):
                for opening in list(self.places.get(arm, ())):
                    if opening not in before:
                        self.take(arm, opening)
                return False
        return True

    def _place(self, arm: int, tried: set[int]) -> bool:
        """Book one visit, along a path over openings that are not yet ``tried``."""
        candidates = self._of_arm[arm]
        for opening in candidates:
            if self.left[opening] >= self._lengths[arm] and self._fits(arm, opening):
                self.put(arm, opening)
                return True
        for opening in candidates:
            if opening in tried:
                continue
            tried.add(opening)
            wanted = self._lengths[arm] - self.left[opening]
            for other in sorted(self.inside[opening], key=self._lengths.__getitem__):
                if self._lengths[other] < wanted or other == arm:
                    continue
                self.take(other, opening)
                if self._fits(arm, opening):
                    self.put(arm, opening)
                    if self._place(other, tried):
                        return True
                    self.take(arm, opening)
                self.put(other, opening)
        return False

    def _fits(self, arm: int, opening: int) -> bool:
        if self.left[opening] < self._lengths[arm]:
            return False
        if opening in self.places.get(arm, ()) or self._is_taken(arm, opening):
            return False
        if self.inside[opening]:
            return True
        return not any(
            all(self.inside[other] for other in window if other != opening)
            for window in self._windows[opening]
        )

    def _is_taken(self, arm: int, opening: int) -> bool:
        """Say whether the worker visits ``arm`` already, where workers have to differ."""
        worker = self._worker
        return self._openings.is_distinct and any(
            worker[other] == worker[opening] for other in self.places.get(arm, ())
        )
