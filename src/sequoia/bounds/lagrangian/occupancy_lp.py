"""The whole relaxation as one linear program: how often each arm is where, and gets what.

With ``x[b, c, d, s]`` the expected number of members of class c that are in state s in block b and
get dose level d (occupancies; Hawkins 2003, Adelman and Mersereau 2008)::

    max  sum r[c, d, s] x[b, c, d, s]
    with sum_d x[0, c, d, s']     = mass[c, s']                                   (flow)
         sum_d x[b + 1, c, d, s'] = discount sum_{d, s} P[c, d, s, s'] x[b, c, d, s]
         w_b lower <= use sum_s x[b] + own y[b] <= w_b upper                      (coupling)

``w_b`` is the weight of block b, and y are columns that belong to no arm. The last block of an
endless horizon flows into itself. The duals of the coupling rows are the prices.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.bounds.certificate import Deadline
from sequoia.bounds.lagrangian.arm_classes import ArmClasses
from sequoia.bounds.lagrangian.coupling import Coupling
from sequoia.bounds.lagrangian.windows import Windows
from sequoia.solvers import Limits, Program, Solver, Status, default_solver
from sequoia.validation import FloatArray, IntArray

# Less would mostly leave no prices at all, and so a useless bound.
_LEAST_SECONDS = 1.0
# From so many occupancies on, an interior point with crossover is faster than the simplex method.
# Both end at a corner. Measured: the same at 16,000; 0.7 of the time at 32,000; a third at 24,000
# and a fifth at 77,000 where states are beliefs.
_MANY_OCCUPANCIES = 20_000
_INTERIOR = {"highs": {"solver": "ipm"}}


@dataclass(frozen=True, eq=False)
class OccupancySolution:
    """The solution of the linear program.

    Attributes
    ----------
    value
        The optimum; ``inf`` unless the solver proved one.
    prices
        Price of each coupling row in each block, ``(B, R)``; ``None`` when the solver has none.
    tolls
        Price of each window, ``(V,)``; ``None`` without windows.
    """

    value: float
    prices: FloatArray | None
    tolls: FloatArray | None = None


def solve_occupancies(
    arm_classes: ArmClasses,
    coupling: Coupling,
    deadline: Deadline,
    solver: Solver | None = None,
    windows: Windows | None = None,
) -> OccupancySolution:
    """Solve the relaxation of classes of arms tied together by ``coupling`` and ``windows``."""
    program, flows = _program(arm_classes, coupling)
    if windows is not None:
        program = _with_windows(program, arm_classes, windows)
    limits = Limits(max(deadline.left, _LEAST_SECONDS))
    if solver is None:
        is_large = len(program.objective) >= _MANY_OCCUPANCIES
        solver = default_solver(**_INTERIOR) if is_large else default_solver()
    solution = solver.solve(program, limits)
    if solution.status is Status.LIMIT:
        deadline.is_over()
    if solution.values is None or solution.row_duals is None:
        return OccupancySolution(np.inf, None)
    blocks = arm_classes.horizon.n_blocks
    size = flows + blocks * coupling.n_rows
    prices = solution.row_duals[flows:size].reshape(blocks, coupling.n_rows)
    value = solution.objective if solution.status is Status.OPTIMAL else np.inf
    tolls = None if windows is None else np.maximum(solution.row_duals[size:], 0.0)
    return OccupancySolution(value, coupling.project_sign(prices), tolls)


def _with_windows(program: Program, arm_classes: ArmClasses, windows: Windows) -> Program:
    """Return a program with a row for each window, at its end."""
    classes, levels = np.nonzero(arm_classes.allowed.any(axis=2))
    paid = arm_classes.price_class[classes] * arm_classes.allowed.shape[1] + levels
    states = arm_classes.initial_mass.shape[1]
    uses = np.repeat(windows.use[:, paid], states, axis=1)
    pairs = zip(windows.blocks, uses, strict=True)
    rows = csr_array(sparse.vstack([sparse.kron(inside[None], use[None]) for inside, use in pairs]))
    rows.resize((rows.shape[0], program.matrix.shape[1]))
    return replace(
        program,
        matrix=sparse.vstack([program.matrix, rows], format="csr"),
        lower=np.concatenate([program.lower, np.full(len(windows.most), -np.inf)]),
        upper=np.concatenate([program.upper, windows.most]),
    )


def _program(arm_classes: ArmClasses, coupling: Coupling) -> tuple[Program, int]:
    """Return the program and the number of its flow rows, which come first."""
    classes, levels = np.nonzero(arm_classes.allowed.any(axis=2))
    blocks, states = arm_classes.horizon.n_blocks, arm_classes.initial_mass.shape[1]
    kernels = arm_classes.kernels[arm_classes.model[classes], levels]
    rewards = arm_classes.rewards[arm_classes.model[classes], levels]
    flow = _flows(kernels, classes, arm_classes)
    # Columns run over blocks, then (class, level) pairs, then states.
    counts = csr_array(np.ones((1, states)))
    paid = arm_classes.price_class[classes] * arm_classes.allowed.shape[1] + levels
    uses = sparse.kron(coupling.use[:, paid], counts)
    identity = sparse.eye_array(blocks)
    weights = arm_classes.horizon.weights
    matrix = sparse.block_array(
        [[flow, None], [sparse.kron(identity, uses), sparse.kron(identity, coupling.own)]],
        format="csr",
    )
    start = np.zeros((blocks, arm_classes.n_classes, states))
    start[0] = arm_classes.initial_mass
    n_own = coupling.own.shape[1] * blocks
    size = blocks * rewards.size
    most = np.tile(np.where(arm_classes.allowed[classes, levels], np.inf, 0.0).reshape(-1), blocks)
    program = Program(
        np.concatenate([np.tile(rewards.reshape(-1), blocks), np.zeros(n_own)]),
        matrix,
        np.concatenate([start.reshape(-1), np.outer(weights, coupling.lower).reshape(-1)]),
        np.concatenate([start.reshape(-1), np.outer(weights, coupling.upper).reshape(-1)]),
        np.zeros(size + n_own),
        np.concatenate([most, np.outer(weights, coupling.own_upper).reshape(-1)]),
        np.zeros(size + n_own, dtype=np.bool_),
    )
    return program, start.size


def _flows(kernels: FloatArray, classes: IntArray, arm_classes: ArmClasses) -> csr_array:
    """Return the rows that say: what is in a state came from somewhere."""
    pairs, states, _ = kernels.shape
    horizon = arm_classes.horizon
    count = arm_classes.n_classes * states
    column = np.arange(pairs * states).reshape(pairs, states)
    here = classes[:, None] * states + np.arange(states)
    stay = csr_array(
        (np.ones(pairs * states), (here.reshape(-1), column.reshape(-1))),
        shape=(count, pairs * states),
    )
    there = np.broadcast_to(here[:, None, :], kernels.shape)
    origin = np.broadcast_to(column[:, :, None], kernels.shape)
    positive = kernels > 0
    move = csr_array(
        (horizon.discount * kernels[positive], (there[positive], origin[positive])),
        shape=(count, pairs * states),
    )
    blocks = horizon.n_blocks
    result = sparse.kron(sparse.eye_array(blocks), stay)
    result = result - sparse.kron(sparse.eye_array(blocks, k=-1), move)
    if horizon.is_endless:
        last = np.zeros((blocks, blocks))
        last[-1, -1] = 1.0
        result = result - sparse.kron(csr_array(last), move)
    return csr_array(result)
