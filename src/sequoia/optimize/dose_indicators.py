"""Dose indicators: what several action columns that reach one arm add up to."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sequoia.optimize.builder import RowBuilder
from sequoia.problem import Problem
from sequoia.problem.arms import attainable_doses
from sequoia.problem.system import Rows
from sequoia.validation import FloatArray, IntArray

# 63 patterns; one more column doubles them.
_MAX_REACHING_FOR_PATTERNS = 6


@dataclass(frozen=True, eq=False)
class IndicatorColumns:
    """Columns that are 1 where a weighted sum of the action lies in a range, else 0.

    Attributes
    ----------
    weights
        The sums, ``(G, N)``.
    owner
        Which sum each column looks at, ``(K,)``, ascending.
    low, high
        The range of each column, ``(K,)``.
    """

    weights: csr_array
    owner: IntArray
    low: FloatArray
    high: FloatArray

    def __len__(self) -> int:
        return len(self.owner)

    @cached_property
    def _transposed(self) -> csr_array:
        return csr_array(self.weights.T)

    def of(self, actions: FloatArray) -> FloatArray:
        """Return the columns, ``(B, K)``, of actions, ``(B, N)``."""
        sums = (actions @ self._transposed)[:, self.owner]
        columns: FloatArray = ((sums > self.low) & (sums < self.high)).astype(np.float64)
        return columns


@dataclass(frozen=True, eq=False)
class DoseIndicators:
    """Columns for the arms that several action columns reach, and the rows that tie them down.

    Arms that the same columns reach in the same way form a group, which has an indicator for each
    dose above 0 that its columns can add up to. Where they are few, there is also a column for
    every choice among them, its *pattern*: this makes the linear relaxation tighter.

    Attributes
    ----------
    indicators, patterns
        Column by column what they say.
    indicator
        The indicator of each arm's dose level, ``(J, L)``; -1 where there is none.
    rows
        Over action columns, indicators and patterns.
    names
        Of indicators and patterns.
    """

    indicators: IndicatorColumns
    patterns: IndicatorColumns
    indicator: IntArray
    rows: Rows
    names: list[str]

    @classmethod
    def of(cls, problem: Problem) -> "DoseIndicators":
        """Return those of a problem; empty where no arm is reached by several columns."""
        groups = _groups(problem)
        actions = problem.space.n_actions
        doses = [group.doses[group.levels] for group in groups]
        indicators = _columns(groups, [group.weights for group in groups], doses, actions)
        bits = [np.exp2(np.arange(len(group.columns), dtype=np.float64)) for group in groups]
        patterns = _columns(groups, bits, [group.codes for group in groups], actions)
        indicator = np.full((problem.arms.n_arms, problem.arms.n_doses), -1)
        first = 0
        for group in groups:
            indicator[np.ix_(group.arms, group.levels)] = first + np.arange(len(group.levels))
            first += len(group.levels)
        rows = _rows(groups, actions, len(indicators), len(patterns))
        names = [f"{g.name} gets {g.doses[level]:g}" for g in groups for level in g.levels]
        names += [f"{g.name} by choice {code:g}" for g in groups for code in g.codes]
        return cls(indicators, patterns, indicator, rows, names)


class _Group(NamedTuple):
    """Arms that several columns reach with the same weights, and what they can add up to."""

    name: str
    arms: IntArray
    columns: IntArray
    weights: FloatArray
    doses: FloatArray
    levels: IntArray  # the positive ones that the columns can add up to
    codes: FloatArray  # of the patterns: bit i says whether the i-th column is chosen
    bits: IntArray  # (codes, columns)


def _groups(problem: Problem) -> list[_Group]:
    matrix, arms = problem.influence, problem.arms
    members: dict[tuple[bytes, bytes, bytes], list[int]] = {}
    for arm in np.flatnonzero(np.diff(matrix.indptr) > 1).tolist():
        part = slice(matrix.indptr[arm], matrix.indptr[arm + 1])
        doses = arms.doses[arms.model[arm]]
        key = matrix.indices[part].tobytes(), matrix.data[part].tobytes(), doses.tobytes()
        members.setdefault(key, []).append(arm)
    return [_group(problem, np.array(same)) for same in members.values()]


def _group(problem: Problem, same: IntArray) -> _Group:
    matrix, arms = problem.influence, problem.arms
    part = slice(matrix.indptr[same[0]], matrix.indptr[same[0] + 1])
    columns, weights = matrix.indices[part].astype(np.int64), matrix.data[part]
    doses = arms.doses[arms.model[same[0]]]
    size = len(columns) if len(columns) <= _MAX_REACHING_FOR_PATTERNS else 0
    codes = np.arange(1, 2**size)
    bits = (codes[:, None] >> np.arange(len(columns))) & 1
    sums = bits @ weights if size else attainable_doses(weights)
    assert sums is not None
    levels = np.unique(_levels(doses, sums))
    name = arms.names[int(same[0])]
    return _Group(
        name, same, columns, weights, doses, levels[levels > 0], codes.astype(np.float64), bits
    )


def _levels(doses: FloatArray, sums: FloatArray) -> IntArray:
    """Return which dose of the table each sum is."""
    level: IntArray = np.abs(doses - sums[:, None]).argmin(axis=1)
    return level


def _columns(
    groups: list[_Group], weights: list[FloatArray], values: list[FloatArray], actions: int
) -> IndicatorColumns:
    """Return columns for each group and value of its weighted sum."""
    sizes = [len(group.columns) for group in groups]
    row = np.repeat(np.arange(len(groups)), sizes)
    none = np.empty(0)
    columns = np.concatenate([none, *(group.columns for group in groups)]).astype(np.int64)
    matrix = csr_array(
        (np.concatenate([none, *weights]), (row, columns)), shape=(len(groups), actions)
    )
    owner = np.repeat(np.arange(len(groups)), [len(value) for value in values])
    value = np.concatenate([none, *values])
    # Sums are among the values up to rounding, or zero; half-way points tell them apart.
    low, high = value / 2, np.full(len(value), np.inf)
    same = np.flatnonzero(np.diff(owner) == 0)
    low[same + 1] = high[same] = (value[same] + value[same + 1]) / 2
    return IndicatorColumns(matrix, owner, low, high)


def _rows(groups: list[_Group], actions: int, indicators: int, patterns: int) -> Rows:
    """Say that each group gets at most one dose, and that this is what its columns add up to.

    With indicators ``u_d``, patterns ``v_c`` and columns ``a_i`` of weights ``w_i``, a group has
    ``sum_d u_d <= 1`` and ``sum_d d u_d = sum_i w_i a_i``, or the tighter form with patterns:
    ``sum_c v_c <= 1``, ``u_d = sum of v_c over choices c that add up to d`` and
    ``a_i = sum of v_c over choices c with column i``: the convex hull of the group's choices.
    """
    builder, names = RowBuilder(), []
    indicator, pattern = actions, actions + indicators
    for group in groups:
        doses = indicator + np.arange(len(group.levels))
        choices = pattern + np.arange(len(group.codes))
        indicator, pattern = indicator + len(doses), pattern + len(choices)
        unit, none = np.ones(1), np.full(1, -np.inf)
        if not len(choices):
            builder.block(np.ones((1, len(doses))), doses, none, unit)
            row = np.concatenate([group.doses[group.levels], -group.weights])
            columns = np.concatenate([doses, group.columns])
            builder.block(row[None], columns, np.zeros(1), np.zeros(1))
            names += [f"one dose for {group.name}", f"dose of {group.name}"]
            continue
        builder.block(np.ones((1, len(choices))), choices, none, unit)
        level = _levels(group.doses, group.bits @ group.weights)
        gives = (level == group.levels[:, None]).astype(np.float64)
        for block, columns in ((gives, doses), (group.bits.T, group.columns)):
            tied, zero = np.hstack([block, -np.eye(len(columns))]), np.zeros(len(columns))
            builder.block(tied, np.concatenate([choices, columns]), zero, zero)
        names += [f"one choice for {group.name}"]
        names += [f"{group.name} gets {dose:g}" for dose in group.doses[group.levels]]
        names += [f"choice of {group.name} has column {column}" for column in group.columns]
    matrix = builder.matrix(actions + indicators + patterns)
    return Rows(matrix, builder.lower, builder.upper, names)
