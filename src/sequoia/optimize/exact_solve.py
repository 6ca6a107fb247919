"""Programs over actions whose solutions keep the rules exactly, whatever a solver tolerates."""

from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.problem import LinearSystem
from sequoia.solvers import Limits, Program, Solution, Solver
from sequoia.validation import ActionArray, FloatArray

# Points that break a rule by less than a solver sees (1e-6) are rare, two of them in a row rarer.
_MOST_EXCLUDED = 50


def solve_exactly_by_rules(
    solver: Solver,
    system: LinearSystem,
    program: Program,
    limits: Limits,
    start: FloatArray | None = None,
) -> Solution:
    """Solve ``program``, whose first rows and columns are those of ``system``.

    A solver takes rules for kept that are broken by less than its tolerance. Such a choice of
    inputs is excluded, and the solver asked again: no bound is lost by that. A solver that insists
    has its way; whoever uses the point checks it.
    """
    for _ in range(_MOST_EXCLUDED):
        solution = solver.solve(program, limits, start)
        if solution.values is None:
            return solution
        whole = solution.values[: system.n_columns]
        if system.whole_rows.holds(whole[None])[0]:
            return solution
        program = _without(program, whole[: system.n_actions].astype(np.int8))
    return solution


def _without(program: Program, inputs: ActionArray) -> Program:
    """Return ``program`` without the points that begin with ``inputs``, which are 0 or 1.

    A no-good cut: ``sum of x_i over inputs at 1 - sum of x_i over inputs at 0 <= ones - 1``.
    """
    cut = np.zeros((1, program.matrix.shape[1]))
    cut[0, : len(inputs)] = np.where(inputs == 1, 1.0, -1.0)
    return replace(
        program,
        matrix=sparse.vstack([program.matrix, csr_array(cut)], format="csr"),
        lower=np.append(program.lower, -np.inf),
        upper=np.append(program.upper, inputs.sum() - 1.0),
    )
