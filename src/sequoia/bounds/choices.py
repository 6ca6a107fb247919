"""What one step can do to the arms: their dose levels as linear columns."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.arrays import BoolArray, FloatArray, IntArray
from sequoia.problem import LinearSystem, Problem
from sequoia.problem.system import Rows

_MAX_REACHING_FOR_PATTERNS = 6


@dataclass(frozen=True, eq=False)
class Choices:
    """The joint dose levels that one action can bring about.

    Arms that the same action columns reach in the same way get the same dose. A *channel* is one
    level above 0 of such a group of arms; it is 1 when the group gets that level, else 0.

    Attributes
    ----------
    channel
        The channel of each arm's level, ``(J, L)``; -1 for level 0 and for levels that no action
        brings about.
    allowed
        Which levels some action, feasible or not, brings about, ``(J, L)``.
    system
        The compact rules of the space with, where several columns reach a group, columns for
        which of them do.
    reads
        ``channels = reads @ columns``, ``(K, columns of system)``.
    """

    channel: IntArray
    allowed: BoolArray
    system: LinearSystem
    reads: csr_array

    @classmethod
    def of(cls, problem: Problem) -> "Choices":
        """Return the choices of a problem."""
        if problem.is_identity:
            return cls._identity(problem)
        return _Lift(problem).choices()

    @classmethod
    def _identity(cls, problem: Problem) -> "Choices":
        arms, levels = problem.arms.n_arms, problem.arms.n_doses
        system = problem.space.compact
        acted = problem.arms.levels(np.ones(arms))
        channel = np.full((arms, levels), -1)
        channel[np.arange(arms), acted] = np.arange(arms)
        allowed = channel >= 0
        allowed[:, 0] = True
        reads = sparse.eye_array(arms, system.n_columns, format="csr")
        return cls(channel, allowed, system, reads)

    @property
    def n_channels(self) -> int:
        """``K``."""
        return int(self.reads.shape[0])

    def channels(self, levels: IntArray) -> FloatArray:
        """Return the channels, ``(B, K)``, of joint levels, ``(B, J)``."""
        result = np.zeros((len(levels), self.n_channels + 1))
        used = self.channel[np.arange(levels.shape[1]), levels]
        result[np.arange(len(levels))[:, None], used] = 1.0
        return result[:, :-1]

    def spread(self, weights: FloatArray) -> FloatArray:
        """Add up per-arm weights of levels, ``(..., J, L)``, to weights of channels, ``(..., K)``.

        The weight of an arm's level counts relative to that of its level 0.
        """
        arm, level = np.nonzero(self.channel >= 0)
        extra = weights[..., arm, level] - weights[..., arm, 0]
        where = self.channel[arm, level]
        if len(where) == self.n_channels and (where == np.arange(len(where))).all():
            return extra
        total = csr_array(
            (np.ones(len(where)), (np.arange(len(where)), where)),
            shape=(len(where), self.n_channels),
        )
        result: FloatArray = extra @ total
        return result


class _Lift:
    """Builds the choices of a problem in which columns and arms differ."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._base = problem.space.compact
        self._n_columns = self._base.n_columns
        self._blocks: list[tuple[IntArray, IntArray, FloatArray]] = []
        self._lower: list[float] = []
        self._upper: list[float] = []
        self._integer: list[bool] = []
        self._reads: list[IntArray] = []

    def choices(self) -> Choices:
        arms = self._problem.arms
        channel = np.full((arms.n_arms, arms.n_doses), -1)
        for members in self._groups():
            first = len(self._reads)
            for rank, level in enumerate(self._add(members[0])):
                channel[members, level] = first + rank
        allowed = channel >= 0
        allowed[:, 0] = True
        sizes = [len(columns) for columns in self._reads]
        columns = np.concatenate([np.empty(0, dtype=np.int64), *self._reads])
        rows = np.repeat(np.arange(len(sizes)), sizes)
        reads = csr_array(
            (np.ones(len(rows)), (rows, columns)), shape=(len(sizes), self._n_columns)
        )
        return Choices(channel, allowed, self._system(), reads)

    def _groups(self) -> list[list[int]]:
        """Return the arms that the same columns reach, with the same weights and dose table."""
        matrix, arms = self._problem.influence, self._problem.arms
        groups: dict[tuple[bytes, bytes, bytes], list[int]] = {}
        for arm in range(arms.n_arms):
            part = slice(matrix.indptr[arm], matrix.indptr[arm + 1])
            if part.stop > part.start:
                doses = arms.doses[arms.model[arm]]
                key = matrix.indices[part].tobytes(), matrix.data[part].tobytes(), doses.tobytes()
                groups.setdefault(key, []).append(arm)
        return list(groups.values())

    def _add(self, arm: int) -> list[int]:
        """Add the columns of the group of ``arm`` and return the level of each channel."""
        matrix, arms = self._problem.influence, self._problem.arms
        part = slice(matrix.indptr[arm], matrix.indptr[arm + 1])
        reaching, weights = matrix.indices[part].astype(np.int64), matrix.data[part]
        size = len(reaching)
        doses = arms.doses[arms.model[arm]]
        if size == 1:
            self._reads.append(reaching)
            return [_level(doses, weights[0])]
        if size <= _MAX_REACHING_FOR_PATTERNS:
            # Bit i of a pattern says whether the i-th reaching column is chosen.
            bits = (np.arange(1, 2**size)[:, None] >> np.arange(size)) & 1
            level = np.array([_level(doses, pattern @ weights) for pattern in bits])
            own = self._new_columns(len(bits), is_integer=False)
            for i in range(size):
                chosen = own[bits[:, i] == 1]
                self._row([*chosen, reaching[i]], [*np.ones(len(chosen)), -1.0], 0.0, 0.0)
        else:
            level = np.flatnonzero(_attainable(doses, weights))
            level = level[level > 0]
            own = self._new_columns(len(level), is_integer=True)
            self._row([*own, *reaching], [*doses[level], *(-weights)], 0.0, 0.0)
        self._row(own.tolist(), np.ones(len(own)).tolist(), -np.inf, 1.0)
        found = np.unique(level[level > 0])
        self._reads += [own[level == wanted] for wanted in found]
        return [int(wanted) for wanted in found]

    def _new_columns(self, count: int, is_integer: bool) -> IntArray:
        own = np.arange(self._n_columns, self._n_columns + count)
        self._n_columns += count
        self._integer += [is_integer] * count
        return own

    def _row(self, columns: list[int], values: list[float], low: float, high: float) -> None:
        where = np.full(len(columns), len(self._lower))
        self._blocks.append((where, np.array(columns, dtype=np.int64), np.array(values)))
        self._lower.append(low)
        self._upper.append(high)

    def _system(self) -> LinearSystem:
        base, extra = self._base, self._n_columns - self._base.n_columns
        padded = csr_array(base.matrix, copy=True)
        padded.resize((base.n_rows, self._n_columns))
        empty = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))
        rows, columns, values = (
            np.concatenate([empty[i], *(block[i] for block in self._blocks)]) for i in range(3)
        )
        shape = (len(self._lower), self._n_columns)
        added = Rows(
            csr_array((values, (rows, columns)), shape=shape),
            np.array(self._lower),
            np.array(self._upper),
            [f"dose row {row}" for row in range(shape[0])],
        )
        own = Rows(padded, base.lower, base.upper, base.row_names)
        return LinearSystem.from_rows(
            [own, added],
            base.n_actions,
            [*base.column_names, *(f"dose pattern {i}" for i in range(extra))],
            np.concatenate([base.column_upper, np.ones(extra)]),
            np.concatenate([base.is_integer, np.array(self._integer, dtype=np.bool_)]),
        )


def _level(doses: FloatArray, dose: float) -> int:
    return int(np.abs(doses - dose).argmin())


def _attainable(doses: FloatArray, weights: FloatArray) -> BoolArray:
    sums = np.zeros(1)
    for weight in weights:
        sums = np.unique(np.round(np.concatenate([sums, sums + weight]), 9))
    gaps = np.abs(doses[:, None] - sums).min(axis=1)
    result: BoolArray = gaps <= 1e-8
    return result
