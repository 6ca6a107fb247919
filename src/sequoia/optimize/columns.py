"""What an objective sees: action columns and, where doses add up, one column per dose."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.arrays import ActionArray, FloatArray, IntArray
from sequoia.errors import InfeasibleSpace
from sequoia.problem import ActionSpace, LinearSystem, Problem
from sequoia.problem.conflict import conflict
from sequoia.solve import Highs, Status


@dataclass(frozen=True, eq=False)
class Columns:
    """The inputs of an objective, and the system that ties them to feasible actions.

    The inputs are the action columns, followed by an indicator for each group of arms that get
    the same dose and each dose above zero. With one action per arm and doses 0 and 1 the action
    says it all, and there are no indicators.

    Attributes
    ----------
    system
        Columns in the order action, indicators, plan; ``n_actions`` counts the inputs.
    group
        The group of each arm, ``(J,)``; empty without indicators.
    reach
        Dose that each action gives to each group, ``(groups, N)``.
    thresholds
        Half-way points between the doses of each group, ``(groups, L - 1)``.
    is_compact
        Whether the plan columns are those of the compact form of the space.
    """

    space: ActionSpace
    system: LinearSystem
    group: IntArray
    reach: csr_array
    thresholds: FloatArray
    is_compact: bool = True

    @classmethod
    def of_space(cls, space: ActionSpace, compact: bool = True) -> "Columns":
        """Return the action columns alone."""
        system = space.compact if compact else space.system
        nothing = csr_array((0, space.n_actions))
        group = np.empty(0, dtype=np.int64)
        return cls(space, system, group, nothing, np.empty((0, 0)), compact)

    @classmethod
    def of_problem(cls, problem: Problem, compact: bool = True) -> "Columns":
        """Return action columns and dose indicators as the problem needs them."""
        if problem.is_identity and problem.arms.n_doses == 2:
            return cls.of_space(problem.space, compact)
        doses = problem.arms.doses[problem.arms.model]
        key = sparse.hstack([problem.influence, csr_array(doses)]).toarray()
        _, first, group = np.unique(key, axis=0, return_index=True, return_inverse=True)
        reach, doses = csr_array(problem.influence[first]), doses[first]
        base = problem.space.compact if compact else problem.space.system
        return cls(
            problem.space,
            _with_indicators(base, reach, doses),
            group.reshape(-1),
            reach,
            (doses[:, 1:] + doses[:, :-1]) / 2,
            compact,
        )

    @property
    def n_inputs(self) -> int:
        """``I``."""
        return self.space.n_actions + self.thresholds.size

    @cached_property
    def _reach_columns(self) -> csr_array:
        return csr_array(self.reach.T)

    def encode(self, actions: ArrayLike) -> FloatArray:
        """Return the inputs of each action, ``(B, N)`` to ``(B, I)``."""
        chosen: FloatArray = np.asarray(actions, dtype=np.float64)
        if not self.thresholds.size:
            return chosen
        doses = (chosen @ self._reach_columns)[:, :, None]
        above = doses > self.thresholds
        reached = above.copy()
        reached[:, :, :-1] &= ~above[:, :, 1:]
        inputs: FloatArray = np.concatenate([chosen, reached.reshape(len(chosen), -1)], axis=1)
        return inputs

    def point(self, action: ActionArray) -> FloatArray:
        """Return all columns of the system for a feasible action, ``(N,)``."""
        inputs: FloatArray = self.encode(action[None])[0]
        if self.system.n_columns == self.n_inputs:
            return inputs
        space = self.space
        plan = space.compact_plan(action) if self.is_compact else space.certify(action).plan
        return np.concatenate([inputs, plan])

    def require_feasible(self) -> None:
        """Raise `InfeasibleSpace`, naming rows in conflict, when no action is allowed at all."""
        program = self.system.program(np.zeros(self.n_inputs))
        if Highs().solve(program).status is Status.INFEASIBLE:
            raise no_action(self.space)

    def objective(self, table: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return weights ``(B, I)`` and constants ``(B,)`` of a sum over arms by dose level.

        Parameters
        ----------
        table
            Worth of each dose level to each arm, by state, ``(B, J, L)``.
        """
        base = table[:, :, 0]
        gain = table[:, :, 1:] - base[:, :, None]
        constant: FloatArray = base.sum(axis=1)
        if not self.thresholds.size:
            return gain[:, :, 0], constant
        groups = np.arange(len(self.thresholds))
        member = (self.group == groups[:, None]).astype(np.float64)
        grouped = np.einsum("gj,bjl->bgl", member, gain)
        nothing = np.zeros((len(table), self.space.n_actions))
        return np.concatenate([nothing, grouped.reshape(len(table), -1)], axis=1), constant


def no_action(space: ActionSpace) -> InfeasibleSpace:
    """Return the error for a space without any feasible action."""
    rows = "; ".join(f'"{name}"' for name in conflict(space.system))
    return InfeasibleSpace(f"no decision satisfies the rules; in conflict are {rows}.")


def _with_indicators(base: LinearSystem, reach: csr_array, doses: FloatArray) -> LinearSystem:
    """Put one column per group and positive dose behind the action columns."""
    groups, levels = doses.shape[0], doses.shape[1] - 1
    size = groups * levels
    actions, plan = base.n_actions, base.n_columns - base.n_actions
    each = sparse.kron(sparse.eye_array(groups), np.ones((1, levels)))
    dosed = sparse.block_diag([doses[g, 1:][None, :] for g in range(groups)])
    matrix = sparse.vstack(
        [
            sparse.hstack(
                [base.matrix[:, :actions], csr_array((base.n_rows, size)), base.matrix[:, actions:]]
            ),
            sparse.hstack([csr_array((groups, actions)), each, csr_array((groups, plan))]),
            sparse.hstack([-reach, dosed, csr_array((groups, plan))]),
        ],
        format="csr",
    )
    names = list(base.column_names)
    marks = [f"group {g} gets {doses[g, k]:g}" for g in range(groups) for k in range(1, levels + 1)]
    upper, whole = base.column_upper, base.is_integer
    return LinearSystem(
        matrix=matrix,
        lower=np.concatenate([base.lower, np.full(groups, -np.inf), np.zeros(groups)]),
        upper=np.concatenate([base.upper, np.ones(groups), np.zeros(groups)]),
        n_actions=actions + size,
        row_names=[
            *base.row_names,
            *(f"one dose for group {g}" for g in range(groups)),
            *(f"dose of group {g}" for g in range(groups)),
        ],
        column_names=[*names[:actions], *marks, *names[actions:]],
        column_upper=np.concatenate([upper[:actions], np.ones(size), upper[actions:]]),
        is_integer=np.concatenate([whole[:actions], np.ones(size, dtype=bool), whole[actions:]]),
    )
