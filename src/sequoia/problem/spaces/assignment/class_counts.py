"""The best assignment under extra rows, exactly, by how many arms of each class are visited.

Arms of one cost that all rows treat alike are a class. Whether an action is allowed depends on the
counts of its classes alone, and of each class the heaviest are best. So it is enough to list the
counts that fit into the workers' hours and keep the rows, once, and to look up the best of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sequoia.problem.spaces.assignment.bin_packing import PackingTable
from sequoia.problem.system import TOLERANCE, Rows
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

# Looking through so many takes some milliseconds; a program takes a hundred.
_MOST_COUNTS = 300_000
_NOTHING = np.zeros(1)


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """All counts that are allowed.

    Attributes
    ----------
    members
        The arms of each class.
    counts
        How many of each class, ``(classes, A)``.
    """

    members: Sequence[IntArray]
    counts: IntArray

    @classmethod
    def of(cls, rows: Rows, size_of: IntArray, table: PackingTable) -> "ClassCounts | None":
        """Return the counts under ``rows``; ``None`` where there are very many.

        Parameters
        ----------
        size_of
            Which cost each arm has, ``(J,)``.
        table
            How many arms of each cost the workers can visit.
        """
        dense: FloatArray = rows.matrix.toarray()
        kinds, class_of = np.unique(np.vstack([size_of, dense]), axis=1, return_inverse=True)
        class_of = class_of.reshape(-1)
        members = [np.flatnonzero(class_of == index) for index in range(kinds.shape[1])]
        sizes, each = kinds[0].astype(np.int64), kinds[1:]
        n_members = np.array([len(n_of_class) for n_of_class in members])
        counts = np.zeros((len(members), 1), dtype=np.int64)
        for index, n_of_class in enumerate(n_members.tolist()):
            if counts.shape[1] * (n_of_class + 1) > 4 * _MOST_COUNTS:
                return None
            counts = np.repeat(counts, n_of_class + 1, axis=1)
            counts[index] = np.tile(np.arange(n_of_class + 1), counts.shape[1] // (n_of_class + 1))
            later = np.where(np.arange(len(members)) > index, n_members, 0)
            of_size = np.stack([counts[sizes == size].sum(axis=0) for size in np.unique(sizes)])
            counts = counts[:, table.contain(of_size.T) & _can_hold(rows, each, counts, later)]
            if counts.shape[1] > _MOST_COUNTS:
                return None
        return cls(members, counts)

    def best(self, weights: FloatArray, settled: ActionArray) -> ActionArray | None:
        """Return the best action by ``weights``, ``(J,)``; ``None`` where there is none.

        What is settled, 0 or 1 instead of -1, ``(J,)``, weighs more than all else together: an
        exact penalty.
        """
        if not self.counts.size:
            return None
        heavy = 1 + 2 * float(np.abs(weights).sum())
        weights = weights + heavy * np.array([-1.0, 1.0, 0.0])[settled]
        ranked = [columns[np.argsort(-weights[columns], kind="stable")] for columns in self.members]
        total = np.zeros(self.counts.shape[1])
        for columns, taken in zip(ranked, self.counts, strict=True):
            total += np.concatenate([_NOTHING, weights[columns].cumsum()])[taken]
        best = self.counts[:, int(total.argmax())]
        action = np.zeros(len(weights), dtype=np.int8)
        for columns, taken in zip(ranked, best.tolist(), strict=True):
            action[columns[:taken]] = 1
        return action if ((settled < 0) | (action == settled)).all() else None


def _can_hold(rows: Rows, each: FloatArray, counts: IntArray, later: IntArray) -> BoolArray:
    """Say which counts may still keep all rows, judged as `LinearSystem.broken` does.

    Parameters
    ----------
    each
        What one arm of each class adds to each row, ``(R, classes)``.
    later
        How many of each class may be added, ``(classes,)``.
    """
    sums, sizes = each @ counts, np.abs(each) @ (counts + later[:, None])
    least = sums + (np.minimum(each, 0.0) @ later)[:, None]
    most = sums + (np.maximum(each, 0.0) @ later)[:, None]
    lower, upper = rows.lower[:, None], rows.upper[:, None]
    with np.errstate(invalid="ignore"):
        low = lower - most > TOLERANCE * (sizes + np.abs(lower))
        high = least - upper > TOLERANCE * (sizes + np.abs(upper))
    result: BoolArray = ~(low | high).any(axis=0)
    return result
