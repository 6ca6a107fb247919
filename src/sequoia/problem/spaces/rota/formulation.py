"""A rota as rows: visit by visit, and by patterns of visits."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.problem.names import count
from sequoia.problem.spaces.assignment.bin_packing import Pattern, maximal_patterns
from sequoia.problem.spaces.rota.packing import Openings
from sequoia.problem.system import LinearSystem, Rows
from sequoia.validation import FloatArray, IntArray

# As many as there are of all workers and slots; beyond, a solver is better off with minutes.
_MOST_PATTERNS = 20_000


@dataclass(frozen=True, eq=False)
class Formulation:
    """Rows over arms, visits and openings.

    Attributes
    ----------
    names, worker_names, visit_names, opening_names
        Of arms ``(J,)``, workers ``(W,)``, possible visits ``(P,)`` and openings ``(B,)``.
    limit
        At most so many arms are acted on.
    """

    openings: Openings
    names: Sequence[str]
    worker_names: Sequence[str]
    visit_names: Sequence[str]
    opening_names: Sequence[str]
    limit: int

    @property
    def n_visits(self) -> int:
        """``P``, the number of possible visits."""
        return len(self.openings.pairs)

    @property
    def n_works(self) -> int:
        """The number of columns of `plain` that say that an opening is used: all, or none."""
        return int(self._rests.shape[1])

    def plain(self) -> LinearSystem:
        """Plan columns: every possible visit and, where workers rest, every opening."""
        rests = self._rests
        whole = rests.shape[1]
        openings = self.openings
        minutes = _incidence(
            openings.pairs[:, 1], openings.n_openings, openings.lengths[openings.pairs[:, 0]]
        )
        works = -csr_array(sparse.diags_array(openings.minutes))[:, :whole]
        blocks = [
            *self._arm_rows(0, whole),
            Rows.at_most(
                sparse.hstack([self._none(openings.n_openings), minutes, works]),
                0.0 if whole else openings.minutes,
                [f"minutes of {name}" for name in self.opening_names],
            ),
            self._rest_rows(rests, before=self.n_visits),
        ]
        names = [
            *self.names,
            *self.visit_names,
            *(f"{n} works" for n in self.opening_names[:whole]),
        ]
        return LinearSystem.from_rows(blocks, len(self.names), names)

    def by_patterns(self) -> LinearSystem | None:
        """Counts of visits of each length in an opening, then their arms, as a flow.

        Plan columns: a maximal pattern of each opening, binary; every possible visit, in fractions.
        Given arms and patterns that are whole, visits are a flow from arms to the places that
        patterns offer, so that a whole one exists wherever one in fractions does. ``None`` where
        there are too many patterns.
        """
        patterns = self._patterns()
        if patterns is None:
            return None
        openings, size = self.openings, len(patterns)
        opening = np.array([which for which, _ in patterns], dtype=np.int64)
        offers = csr_array(np.array([row for _, row in patterns]).reshape(size, len(self._sizes)))
        # A row for each opening and length that is asked for there.
        length = np.searchsorted(self._sizes, openings.lengths)[openings.pairs[:, 0]]
        kind, place = np.unique(
            openings.pairs[:, 1] * len(self._sizes) + length, return_inverse=True
        )
        places = offers.tocoo()
        key = opening[places.row] * len(self._sizes) + places.col
        row = np.searchsorted(kind, key)
        offered = csr_array((places.data, (row, places.row)), shape=(len(kind), size))
        rests = self._rests
        first = self._none(openings.n_openings)
        blocks = [
            *self._arm_rows(size, 0),
            Rows.at_most(
                sparse.hstack([self._none(len(kind)), -offered, _incidence(place, len(kind))]),
                0.0,
                [
                    f"places for {self._sizes[k % len(self._sizes)]:g} minutes in "
                    f"{self.opening_names[k // len(self._sizes)]}"
                    for k in kind.tolist()
                ],
            ),
            Rows.at_most(
                sparse.hstack(
                    [
                        first,
                        _incidence(opening, openings.n_openings),
                        csr_array((openings.n_openings, self.n_visits)),
                    ]
                ),
                1.0,
                [f"one pattern for {name}" for name in self.opening_names],
            ),
        ]
        used = (
            rests @ _incidence(opening, openings.n_openings)
            if rests.shape[1]
            else csr_array((0, size))
        )
        blocks.append(self._rest_rows(used, before=0, after=self.n_visits))
        names = [f"{self.opening_names[which]}: {self._say(row)}" for which, row in patterns]
        n_whole = len(self.names) + size
        return LinearSystem.from_rows(
            blocks,
            len(self.names),
            [*self.names, *names, *self.visit_names],
            is_integer=np.arange(n_whole + self.n_visits) < n_whole,
        )

    @cached_property
    def _sizes(self) -> FloatArray:
        """The different lengths of visits, ascending."""
        return np.unique(self.openings.lengths)

    def _say(self, row: FloatArray) -> str:
        parts = [
            f"{number:g} of {size:g} minutes"
            for number, size in zip(row, self._sizes, strict=True)
            if number
        ]
        return " and ".join(parts) or "nothing"

    def _patterns(self) -> list[tuple[int, FloatArray]] | None:
        """Return opening and number of visits of each length, for every maximal pattern."""
        openings, sizes = self.openings, self._sizes
        arms: list[list[int]] = [[] for _ in range(openings.n_openings)]
        for arm, opening in openings.pairs.tolist():
            arms[opening].append(arm)
        known: dict[tuple[float, ...], list[Pattern] | None] = {}
        listed: list[tuple[int, FloatArray]] = []
        for opening, candidates in enumerate(arms):
            if not candidates:
                continue
            which, counts = np.unique(
                np.searchsorted(sizes, openings.lengths[candidates]), return_counts=True
            )
            minutes = float(openings.minutes[opening])
            key = (minutes, *which.tolist(), *counts.tolist())
            if key not in known:
                known[key] = maximal_patterns(
                    sizes[which].tolist(), counts.tolist(), minutes, _MOST_PATTERNS
                )
            patterns = known[key]
            if patterns is None or len(listed) + len(patterns) > _MOST_PATTERNS:
                return None
            for pattern in patterns:
                row = np.zeros(len(sizes))
                row[which] = pattern
                listed.append((opening, row))
        return listed

    def _none(self, rows: int) -> csr_array:
        """Return rows without arms."""
        return csr_array((rows, len(self.names)))

    def _arm_rows(self, before: int, after: int) -> list[Rows]:
        """Rows of arms and visits; so many other plan columns come before and after visits."""
        openings, n_arms = self.openings, len(self.names)
        arm, opening = openings.pairs.T

        def visits(matrix: csr_array) -> list[csr_array]:
            size = matrix.shape[0]
            return [csr_array((size, before)), matrix, csr_array((size, after))]

        blocks = []
        if self.limit < n_arms:
            blocks.append(
                Rows.at_most(
                    sparse.hstack([np.ones((1, n_arms)), *visits(csr_array((1, self.n_visits)))]),
                    self.limit,
                    ["number of arms"],
                )
            )
        blocks.append(
            Rows.equal(
                sparse.hstack(
                    [
                        sparse.diags_array(openings.visits.astype(np.float64)),
                        *visits(-_incidence(arm, n_arms)),
                    ]
                ),
                0.0,
                [
                    f"{name} needs {count(visits_, 'visit')}"
                    for name, visits_ in zip(self.names, openings.visits.tolist(), strict=True)
                ],
            )
        )
        # With one visit to an arm, its own row says the same.
        several = np.flatnonzero(openings.visits[arm] > 1)
        size = len(several)
        one_visit = csr_array((np.ones(size), (np.arange(size), several)), (size, self.n_visits))
        blocks.append(
            Rows.at_most(
                sparse.hstack([-_incidence(arm[several], n_arms).T, *visits(one_visit)]),
                0.0,
                [f"{self.visit_names[visit]} only if acted on" for visit in several.tolist()],
            )
        )
        if openings.is_distinct:
            pair = openings.worker[opening[several]] * n_arms + arm[several]
            pairs, row = np.unique(pair, return_inverse=True)
            by_pair = csr_array((np.ones(size), (row, several)), (len(pairs), self.n_visits))
            blocks.append(
                Rows.at_most(
                    sparse.hstack([self._none(len(pairs)), *visits(by_pair)]),
                    1.0,
                    [
                        f"{self.worker_names[p // n_arms]} visits {self.names[p % n_arms]} once"
                        for p in pairs
                    ],
                )
            )
        return blocks

    @cached_property
    def _rests(self) -> csr_array:
        """Return which openings are in each window of which one is left out, ``(R, B)``.

        Without columns where no worker has to rest.
        """
        windows = self.openings.windows()
        if not windows:
            return csr_array((0, 0))
        row = np.repeat(np.arange(len(windows)), [len(window) for window in windows])
        column = np.concatenate(windows)
        return csr_array(
            (np.ones(len(row)), (row, column)), (len(windows), self.openings.n_openings)
        )

    def _rest_rows(self, used: csr_array, before: int, after: int = 0) -> Rows:
        size = used.shape[0]
        most = self.openings.most_in_a_row or 0
        return Rows.at_most(
            sparse.hstack(
                [self._none(size), csr_array((size, before)), used, csr_array((size, after))]
            ),
            float(most),
            [
                f"rest after {count(most, 'slot')} from {self.opening_names[window[0]]}"
                for window in self.openings.windows()
            ],
        )


def _incidence(group: IntArray, n_groups: int, values: FloatArray | None = None) -> csr_array:
    """Return the ``(n_groups, len(group))`` matrix with an entry where a column is in a group."""
    columns = np.arange(len(group))
    data = np.ones(len(group)) if values is None else values
    return csr_array((data, (group, columns)), shape=(n_groups, len(group)))
