"""All actions of a space, where they are few."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.errors import TooLarge
from sequoia.optimize.dose_indicators import DoseIndicators
from sequoia.problem import (
    ActionLimits,
    ActionSpace,
    Environment,
    LinearSystem,
    Problem,
    capabilities_of,
)
from sequoia.problem.iis import no_decision
from sequoia.problem.spaces import restrict
from sequoia.problem.system import Rows
from sequoia.solvers import Highs, Status
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

# More columns have mostly too many actions, and to find that out takes long.
MAX_COLUMNS = 24
# To multiply more of them by weights takes longer than to solve a program.
MAX_ACTIONS = 50_000
# Closer to a whole number than this is whole; solvers keep to 1e-7.
_WHOLE = 1e-6


def few_actions(space: ActionSpace, cap: int = MAX_ACTIONS) -> ActionArray | None:
    """Return all feasible actions, ``(A, N)``, or ``None`` where they may be more than ``cap``.

    Raises
    ------
    InfeasibleSpace
        When there is none, naming rows in conflict.
    """
    if space.n_actions > MAX_COLUMNS:
        return None
    try:
        actions = space.enumerate(cap)
    except TooLarge:
        return None
    if not len(actions):
        raise no_decision(space.compact)
    return actions


@dataclass(frozen=True, eq=False)
class ActionEncoding:
    """The inputs of an objective, and the system that ties them to feasible actions.

    The inputs are the action columns, followed by dose indicators: where several columns reach an
    arm, one for each dose above 0 that they can add up to; arms that are reached alike share
    theirs. An arm that a single column reaches has no indicator, because that column says it all.

    Attributes
    ----------
    system
        Columns in the order action, indicators, plan; ``n_actions`` counts the inputs.
    level_input
        The input that says that an arm gets a dose level, ``(J, L)``; -1 for level 0 and for
        levels that no action brings about.
    is_compact
        Whether the plan columns are those of the compact form of the space.
    """

    space: ActionSpace
    system: LinearSystem
    level_input: IntArray
    dose_indicators: DoseIndicators | None
    is_compact: bool = True

    @classmethod
    def of(cls, environment: Environment) -> "ActionEncoding":
        """Return what an objective sees of actions: doses too, where the environment has them."""
        problem = capabilities_of(environment).problem
        return cls.of_space(environment.space) if problem is None else cls.of_problem(problem)

    @classmethod
    def of_space(cls, space: ActionSpace, compact: bool = True) -> "ActionEncoding":
        """Return the action columns alone, as if each were an arm with doses 0 and 1."""
        system = space.compact if compact else space.system
        each = np.arange(space.n_actions)
        level_input = np.stack([np.full_like(each, -1), each], axis=1)
        return cls(space, system, level_input, None, compact)

    @classmethod
    def of_problem(cls, problem: Problem, compact: bool = True) -> "ActionEncoding":
        """Return action columns and dose indicators as the problem needs them."""
        matrix, arms, space = problem.influence, problem.arms, problem.space
        system = space.compact if compact else space.system
        counts = np.diff(matrix.indptr)
        level_input = np.full((arms.n_arms, arms.n_doses), -1)
        doses = None
        if (counts > 1).any():
            doses = DoseIndicators.of(problem)
            system = _with_indicators(system, doses)
            has = doses.indicator >= 0
            level_input[has] = space.n_actions + doses.indicator[has]
        alone = np.flatnonzero(counts == 1)
        entry = matrix.indptr[alone]
        dose = np.zeros(arms.n_arms)
        dose[alone] = matrix.data[entry]
        level_input[alone, arms.levels(dose)[alone]] = matrix.indices[entry]
        return cls(space, system, level_input, doses, compact)

    def within(self, limits: ActionLimits) -> "ActionEncoding":
        """Return the same inputs with the actions that the limits of one state allow."""
        rows = limits.rows(0, self.space.names)
        space = restrict(self.space, limits)
        return replace(self, space=space, system=self.system.with_rows(rows))

    @property
    def n_inputs(self) -> int:
        """``I``."""
        return self.space.n_actions + (
            0 if self.dose_indicators is None else len(self.dose_indicators.indicators)
        )

    @property
    def allowed(self) -> BoolArray:
        """The dose levels that some action, feasible or not, brings about, ``(J, L)``."""
        open_inputs = np.append(self.system.column_upper[: self.n_inputs] > 0, False)
        result: BoolArray = open_inputs[self.level_input]
        result[:, 0] = True
        return result

    def encode(self, actions: ArrayLike) -> FloatArray:
        """Return the inputs of each action, ``(B, N)`` to ``(B, I)``."""
        chosen: FloatArray = np.asarray(actions, dtype=np.float64)
        if self.dose_indicators is None:
            return chosen
        return np.concatenate([chosen, self.dose_indicators.indicators.of(chosen)], axis=1)

    def actions_at(self, inputs: FloatArray) -> tuple[ActionArray, BoolArray]:
        """Return the action nearest to each of some inputs, ``(B, I)``, and which are one's own.

        A solver's inputs are those of a feasible action, of something between actions, or of an
        action that is allowed only in fractions.
        """
        actions = np.rint(inputs[:, : self.space.n_actions]).astype(np.int8)
        off = np.abs(inputs - self.encode(actions)).max(axis=1, initial=0.0)
        is_own: BoolArray = off <= _WHOLE
        if is_own.any():
            is_own[is_own] = self.space.contains(actions[is_own])
        return actions, is_own

    def point(self, action: ActionArray) -> FloatArray:
        """Return all columns of the system for a feasible action, ``(N,)``."""
        parts = [self.encode(action[None])[0]]
        patterns = 0 if self.dose_indicators is None else len(self.dose_indicators.patterns)
        if self.system.n_columns > self.n_inputs + patterns:
            space, compact = self.space, self.is_compact
            parts.append(space.compact_plan(action) if compact else space.certify(action).plan)
        if self.dose_indicators is not None:
            parts.append(self.dose_indicators.patterns.of(action[None].astype(np.float64))[0])
        return np.concatenate(parts)

    def require_feasible(self) -> None:
        """Raise `InfeasibleSpace`, naming rows in conflict, when no action is allowed at all."""
        if (self.system.lower <= 0).all() and (self.system.upper >= 0).all():
            return  # doing nothing is allowed
        program = self.system.program(np.zeros(self.n_inputs))
        if Highs().solve(program).status is Status.INFEASIBLE:
            raise no_decision(self.space.compact)

    def objective(self, table: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return weights ``(B, I)`` and constants ``(B,)`` of a sum over arms by dose level.

        Parameters
        ----------
        table
            Worth of each dose level to each arm, by state, ``(B, J, L)``.
        """
        arm, level, total = self._levels
        base = table[:, :, 0]
        gain: FloatArray = table[:, arm, level] - base[:, arm]
        constant: FloatArray = base.sum(axis=1)
        return gain if total is None else gain @ total, constant

    @cached_property
    def _levels(self) -> tuple[IntArray, IntArray, csr_array | None]:
        """Arms and levels with an input, and what adds them up; nothing where inputs are arms."""
        arm, level = np.nonzero(self.level_input >= 0)
        where = self.level_input[arm, level]
        if len(where) == self.n_inputs and (where == np.arange(len(where))).all():
            return arm, level, None
        place = (np.arange(len(where)), where)
        return arm, level, csr_array((np.ones(len(where)), place), (len(where), self.n_inputs))


def _with_indicators(base: LinearSystem, doses: DoseIndicators) -> LinearSystem:
    """Put indicators behind the action columns, and patterns at the end."""
    actions, indicators = base.n_actions, len(doses.indicators)
    plan, last = base.n_columns - actions, len(doses.patterns)
    matrix, extra = base.matrix, doses.rows.matrix
    nothing = csr_array((base.n_rows, indicators)), csr_array((base.n_rows, last))
    parts = [matrix[:, :actions], nothing[0], matrix[:, actions:], nothing[1]]
    rules = Rows(sparse.hstack(parts, format="csr"), base.lower, base.upper, base.row_names)
    gap = csr_array((extra.shape[0], plan))
    parts = [extra[:, : actions + indicators], gap, extra[:, actions + indicators :]]
    ties = Rows(
        sparse.hstack(parts, format="csr"), doses.rows.lower, doses.rows.upper, doses.rows.names
    )

    def arranged(base_values: ArrayLike, dose_values: ArrayLike) -> Any:
        ours, theirs = np.asarray(base_values), np.asarray(dose_values)
        return np.concatenate(
            [ours[:actions], theirs[:indicators], ours[actions:], theirs[indicators:]]
        )

    return LinearSystem.from_rows(
        [rules, ties],
        actions + indicators,
        arranged(list(base.column_names), doses.names).tolist(),
        arranged(base.column_upper, np.ones(indicators + last)),
        # Both are whole where actions are; the solver is told of indicators, to branch on them.
        arranged(base.is_integer, np.arange(indicators + last) < indicators),
    )
