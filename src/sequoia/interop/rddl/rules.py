"""Clauses as rows: those of the action space, and those whose bounds the state decides."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.interop.rddl.compiler import Scope, Values
from sequoia.interop.rddl.formulas import AtMost, Clause, Grounder, Linear, Literal, NotLinear
from sequoia.problem import ActionLimits, ActionSpace, Budget, Custom
from sequoia.validation import ActionArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Row:
    """``sum of columns <= -(constant + sum of terms)``, unless one of ``unless`` holds.

    Attributes
    ----------
    unless
        What the state decides: the row counts only where all of these are false.
    """

    linear: Linear
    unless: tuple[Literal, ...]
    name: str

    @property
    def is_fixed(self) -> bool:
        """Whether it is the same in every state."""
        return not self.unless and not self.linear.terms


def rows_of(clause: Clause, name: str) -> list[Row]:
    """Return the rows of a clause.

    Literals ``l`` alone: ``sum l >= 1``. A comparison that counts unless some column literal
    holds: ``sum <= M * sum l``, with the largest value that the sum can have as M.
    """
    unless = tuple(a for a in clause if isinstance(a, Literal) and not a.is_column)
    literals = [a for a in clause if isinstance(a, Literal) and a.is_column]
    comparisons = [a.linear for a in clause if isinstance(a, AtMost)]
    total = Linear()
    for literal in literals:
        total = total.plus(literal.value)
    if not comparisons:
        return [Row(Linear(constant=1.0).plus(total, -1.0), unless, name)]
    if len(comparisons) > 1:
        raise NotLinear("one of several sums")
    comparison = comparisons[0]
    if not literals:
        return [Row(comparison, unless, name)]
    if comparison.terms:
        raise NotLinear("a choice among sums that the state bounds")
    largest = comparison.constant + sum(max(0.0, c) for c in comparison.columns.values())
    if largest <= 0:
        return []
    if comparison.constant == 0 and all(c > 0 for c in comparison.columns.values()):
        # Nothing may be chosen: one row for each column is tighter.
        each = [Linear({column: 1.0}) for column in comparison.columns]
        return [Row(part.plus(total, -1.0), unless, f"{name} [{i}]") for i, part in enumerate(each)]
    return [Row(comparison.plus(total, -largest), unless, name)]


class RuleBook:
    """The rules of an instance: a space, and limits by state.

    Parameters
    ----------
    rows
        Over all ground actions, and after them over what counts several as one.
    names
        Of the ground actions.
    most
        How many may be chosen at once.

    Attributes
    ----------
    kept
        Numbers of the actions that are possible at all, ``(N,)``: the columns of the space.
    space
        What is allowed in every state.
    """

    def __init__(
        self, grounder: Grounder, rows: Iterable[Row], names: Sequence[str], most: int
    ) -> None:
        self._grounder = grounder
        rows = [*rows, *_either_rows(grounder)]
        rows = [row for row in rows if _may_bind(row)]
        never = {_single(row)[0] for row in rows if row.is_fixed and _single(row)[1] == "closed"}
        self.kept: IntArray = np.array([i for i in range(len(names)) if i not in never], dtype=int)
        place = {int(column): new for new, column in enumerate(self.kept)}
        extra = len(grounder.either)
        place |= {len(names) + i: len(self.kept) + i for i in range(extra)}
        rows = [row for row in (_moved(row, place) for row in rows) if _may_bind(row)]
        fixed = [row for row in rows if row.is_fixed]
        if most < len(self.kept):
            every = Linear(dict.fromkeys(range(len(self.kept)), 1.0), {}, -float(most))
            fixed.append(Row(every, (), f"at most {most} actions"))
        self.names = [names[i] for i in self.kept.tolist()]
        self.space = _space(fixed, self.names, extra)
        self._by_state([row for row in rows if not row.is_fixed])

    def _by_state(self, rows: list[Row]) -> None:
        """Sort rows into those that close a column, those that force one, and the others."""
        parts: dict[str, list[tuple[Row, int]]] = {"closed": [], "forced": [], "row": []}
        for row in rows:
            column, kind = _single(row)
            parts[kind].append((row, column))
        size, terms = len(self.kept), self._grounder.n_terms
        (self._closed, self._forced, self._rows) = (
            _Bounds.of([row for row, _ in part], terms) for part in parts.values()
        )
        self._closes, self._forces = (
            _matrix([{column: 1.0} for _, column in parts[word]], size)
            for word in ("closed", "forced")
        )
        others = [row for row, _ in parts["row"]]
        if any(column >= size for row in others for column in row.linear.columns):
            raise NotLinear("actions that count as one, in a sum that the state bounds")
        self._matrix = _matrix([row.linear.columns for row in others], size)
        self._row_names = [row.name for row in others]

    @property
    def terms(self) -> list[tuple[Any, Scope]]:
        """The terms that the state decides: expressions with their scopes, T in all."""
        return self._grounder.terms

    @property
    def opening(self) -> tuple[csr_array, csr_array]:
        """The terms that allow a column by being true or large, and those by not being so.

        ``(N, T)`` each, not zero where a row that holds the column back is loosened so.
        """
        held = sparse.hstack([self._closes.T, (self._matrix > 0).T])
        unless = sparse.vstack([self._closed.unless, self._rows.unless])
        less = sparse.vstack([self._closed.terms, self._rows.terms])
        if_true, if_false = (unless > 0) + (less < 0), (unless < 0) + (less > 0)
        return csr_array(held @ if_true), csr_array(held @ if_false)

    @property
    def is_by_state(self) -> bool:
        """Whether anything depends on the state."""
        parts = (self._closed, self._forced, self._rows)
        return any(len(part.constant) for part in parts)

    def limits(self, values: Values, count: int) -> ActionLimits:
        """Return what is allowed in each of ``count`` states."""
        terms = np.concatenate(
            [np.zeros((count, 0)), *(block(values) for block in self._grounder.blocks)], axis=1
        ).astype(np.float64)
        # A column is bound where no exception holds; its bound is then 0, or 1.
        upper = ~((self._closed.counts(terms).astype(float) @ self._closes) > 0)
        lower = (self._forced.counts(terms).astype(float) @ self._forces) > 0
        most = np.where(self._rows.counts(terms), self._rows.bounds(terms), np.inf)
        return ActionLimits(
            lower, upper, self._matrix, np.full(most.shape, -np.inf), most, self._row_names
        )


@dataclass(frozen=True, eq=False)
class _Bounds:
    """Rows whose right sides, and whether they count, depend on T terms of the state.

    Attributes
    ----------
    constant, terms
        ``-(constant + terms @ t)`` is the right side, ``(R,)`` and ``(R, T)``.
    offset, unless
        A row counts where ``offset + unless @ t`` is 0, ``(R,)`` and ``(R, T)``: there
        is no exception.
    """

    constant: FloatArray
    terms: csr_array
    offset: FloatArray
    unless: csr_array

    @classmethod
    def of(cls, rows: Sequence[Row], n_terms: int) -> "_Bounds":
        return cls(
            np.array([row.linear.constant for row in rows]),
            _matrix([row.linear.terms for row in rows], n_terms),
            np.array([float(sum(not a.is_true for a in row.unless)) for row in rows]),
            _matrix([_signs(row.unless) for row in rows], n_terms),
        )

    def counts(self, terms: FloatArray) -> ActionArray:
        counts: ActionArray = (terms @ self.unless.T + self.offset < 0.5).astype(np.int8)
        return counts

    def bounds(self, terms: FloatArray) -> FloatArray:
        bounds: FloatArray = -(terms @ self.terms.T) - self.constant
        return bounds


def _signs(literals: Sequence[Literal]) -> dict[int, float]:
    return {literal.number: 1.0 if literal.is_true else -1.0 for literal in literals}


def _matrix(rows: Sequence[Mapping[int, float]], width: int) -> csr_array:
    row = [number for number, entries in enumerate(rows) for _ in entries]
    column = [key for entries in rows for key in entries]
    data = np.array([value for entries in rows for value in entries.values()], dtype=np.float64)
    return csr_array((data, (row, column)), shape=(len(rows), width))


def _single(row: Row) -> tuple[int, str]:
    """Say whether a row closes or forces one column, and which; else it is a row."""
    if len(row.linear.columns) != 1 or row.linear.terms:
        return -1, "row"
    ((column, factor),) = row.linear.columns.items()
    room = -row.linear.constant
    if factor > 0 and 0 <= room < factor:
        return column, "closed"
    if factor < 0 and 0 > room >= factor:
        return column, "forced"
    return -1, "row"


def _may_bind(row: Row) -> bool:
    """Say whether some action breaks a row; what the state alone decides restricts no action."""
    largest = row.linear.constant + sum(max(0.0, c) for c in row.linear.columns.values())
    return bool(row.linear.columns) and (bool(row.linear.terms) or largest > 1e-9)


def _moved(row: Row, place: Mapping[int, int]) -> Row:
    """Return a row over the columns that are kept."""
    linear = row.linear
    columns = {place[c]: value for c, value in linear.columns.items() if c in place}
    return Row(Linear(columns, linear.terms, linear.constant), row.unless, row.name)


def _either_rows(grounder: Grounder) -> list[Row]:
    """Tie every column that counts several literals as one to these: it is their maximum."""
    rows = []
    for number, literals in enumerate(grounder.either):
        indicator = Linear({grounder.n_columns + number: 1.0})
        total = indicator
        for literal in sorted(literals, key=lambda a: a.number):
            rows.append(
                Row(literal.value.plus(indicator, -1.0), (), f"either {number}, {literal.number}")
            )
            total = total.plus(literal.value, -1.0)
        rows.append(Row(total, (), f"either {number}"))
    return rows


def _space(rows: Sequence[Row], names: Sequence[str], extra: int) -> ActionSpace:
    """Return what the fixed rows allow; a budget where there is one row of equal costs."""
    if not rows and not extra:
        return Budget(np.ones(len(names)), float(len(names)), names)
    if len(rows) == 1 and not extra:
        linear = rows[0].linear
        costs = np.zeros(len(names))
        costs[list(linear.columns)] = list(linear.columns.values())
        if (costs >= 0).all() and linear.constant <= 0:
            return Budget(costs, -linear.constant, names)
    matrix = _matrix([row.linear.columns for row in rows], len(names) + extra)
    upper = np.array([-row.linear.constant for row in rows])
    called = [f"{row.name} ({number})" for number, row in enumerate(rows)]
    plan = [f"either {number}" for number in range(extra)]
    return Custom(matrix, np.full(len(rows), -np.inf), upper, names, plan, called)
