"""A space from rows that the user writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from sequoia.errors import FileError, ProblemError
from sequoia.problem.names import checked_names, say
from sequoia.problem.spaces.base import ActionSpace, Extensions
from sequoia.problem.system import Decision, LinearSystem, Rows
from sequoia.problem.tables import TableSet, table
from sequoia.validation import ActionArray, FloatArray, frozen, require, set_fields


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Custom(ActionSpace):
    """Any rows ``lower <= matrix @ (action, plan) <= upper`` over binary columns.

    Attributes
    ----------
    matrix
        ``(R, N + M)``, dense or sparse; the first ``len(names)`` columns are the action.
    lower, upper
        ``(R,)``; infinite where a side is open.
    names
        Names of the action columns.
    plan_names
        Names of the plan columns; none unless given.
    row_names
        What each row means; used in messages.

    Examples
    --------
    >>> from sequoia import Custom
    >>> together = Custom([[1, -1, 0]], [0], [0], ['Ada', 'Ben', 'Cleo'])  # Ada if and only if Ben
    >>> len(together.enumerate(10))
    4
    """

    kind = "custom"
    is_down_closed = False
    matrix: csr_array
    lower: FloatArray
    upper: FloatArray
    names: Sequence[str]
    plan_names: Sequence[str]
    row_names: Sequence[str]

    @property
    def argmax_microseconds(self) -> float:
        """A solver is asked."""
        return 5_000.0

    def __init__(
        self,
        matrix: ArrayLike | csr_array,
        lower: ArrayLike,
        upper: ArrayLike,
        names: Sequence[str],
        plan_names: Sequence[str] = (),
        row_names: Sequence[str] | None = None,
    ) -> None:
        try:
            entries = csr_array(matrix, dtype=np.float64, copy=True)
            rows, columns = entries.shape
        except (TypeError, ValueError):
            raise ProblemError("custom.matrix is not a matrix of numbers.") from None
        names = checked_names("custom.names", names, "column", len(names))
        plan = checked_names("custom.plan_names", plan_names, "plan", len(plan_names))
        checked_names("custom.names and plan_names", [*names, *plan], "", len(names) + len(plan))
        if columns != len(names) + len(plan):
            raise ProblemError(
                f"custom.matrix has {columns} columns; {len(names)} action and {len(plan)} plan "
                "columns are named."
            )
        fine = np.isfinite(entries.data)
        require("custom.matrix.data", entries.data, fine, "a number is wanted")
        lower = frozen("custom.lower", lower, np.float64, (rows,))
        upper = frozen("custom.upper", upper, np.float64, (rows,))
        require("custom.lower", lower, lower < np.inf, "a number or -inf is wanted")
        require("custom.upper", upper, upper > -np.inf, "a number or inf is wanted")
        require("custom.lower", lower, lower <= upper, "it must not exceed custom.upper")
        entries.sum_duplicates()
        entries.data.setflags(write=False)
        set_fields(
            self,
            matrix=entries,
            lower=lower,
            upper=upper,
            names=names,
            plan_names=plan,
            row_names=checked_names("custom.row_names", row_names, "row", rows),
        )

    @cached_property
    def system(self) -> LinearSystem:
        """The rows as given."""
        rows = Rows(self.matrix, self.lower, self.upper, self.row_names)
        return LinearSystem.from_rows([rows], len(self.names), [*self.names, *self.plan_names])

    def enumerate(self, cap: int) -> ActionArray:
        """Try every action: nothing is known about the rows."""
        self._limit_tries(2**self.n_actions, cap, per_action=50)
        bits = np.arange(2**self.n_actions)[:, None] >> np.arange(self.n_actions)
        actions = (bits & 1).astype(np.int8)
        feasible: ActionArray = actions[self.contains(actions)]
        if len(feasible) > cap:
            raise self._too_many(cap)
        return feasible

    def sample(self, rng: np.random.Generator) -> Decision:
        """Maximise random weights."""
        return self._draw_by_program(rng)

    def extensions(self, decision: Decision) -> Extensions:
        """Add any one action for which a plan exists; the plan may change."""
        candidates = np.flatnonzero(decision.action == 0)
        actions = np.repeat(decision.action[None, :], len(candidates), axis=0)
        actions[np.arange(len(candidates)), candidates] = 1
        kept = self.contains(actions) if len(candidates) else np.empty(0, dtype=np.bool_)
        columns = candidates[kept]
        return Extensions(
            columns,
            np.zeros_like(columns),
            np.ones(len(columns)),
            lambda index: self.certify(actions[kept][index]),
        )

    def describe(self, decision: Decision) -> list[str]:
        """Name what is chosen, and the plan columns that go with it."""
        lines = [f"Choose {say(self.chosen(decision.action))}"]
        if decision.plan.any():
            lines.append(
                f"with {say(self.plan_names[i] for i in np.flatnonzero(decision.plan).tolist())}"
            )
        return lines

    def to_tables(self) -> TableSet:
        """Options and tables of this space."""
        entries = self.matrix.tocoo()
        columns = self.system.column_names
        return TableSet(
            {},
            table("actions", name=self.names)
            | table("plan", name=self.plan_names)
            | table("rows", name=self.row_names, lower=self.lower, upper=self.upper)
            | table(
                "coefficients",
                row=[self.row_names[r] for r in entries.row],
                column=[columns[c] for c in entries.col],
                value=entries.data,
            ),
        )

    @classmethod
    def from_tables(cls, content: TableSet) -> "Custom":
        """Build from options and tables."""
        content.known({"kind"})
        names, plan = content.table("actions").names("name"), content.table("plan").names("name")
        rows, entries = content.table("rows"), content.table("coefficients")
        row_names, columns = rows.names("name"), names + plan
        lower = rows.floats("lower", lambda low: low < np.inf, "a number or -inf is wanted")
        upper = rows.floats("upper", lambda high: high > -np.inf, "a number or inf is wanted")
        fine = (lower <= upper) | np.isnan(lower) | np.isnan(upper)
        rows.require("lower", lower, fine, "it must not exceed upper")
        row, column = entries.places("row", row_names), entries.places("column", columns)
        values = entries.floats("value")
        content.settle()
        if len(set(zip(row.tolist(), column.tolist(), strict=True))) != len(entries):
            raise FileError(f"{entries.where} gives a coefficient twice.")
        matrix = csr_array((values, (row, column)), shape=(len(rows), len(columns)))
        return cls(matrix, lower, upper, names, plan, row_names)
