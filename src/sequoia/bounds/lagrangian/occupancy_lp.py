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

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.bounds.certificate import Deadline
from sequoia.bounds.lagrangian.arm_classes import ArmClasses
from sequoia.bounds.lagrangian.coupling import Coupling
from sequoia.solvers import Limits, Program, Solver, Status, default_solver
from sequoia.validation import FloatArray, IntArray

# Less would mostly leave no prices at all, and so a useless bound.
_LEAST_SECONDS = 1.0


@dataclass(frozen=True, eq=False)
class OccupancySolution:
    """What the linear program says.

    Attributes
    ----------
    value
        The optimum; ``inf`` unless the solver proved one.
    prices
        Price of each coupling row in each block, ``(B, R)``; ``None`` when the solver has none.
    """

    value: float
    prices: FloatArray | None


def solve_occupancies(
    arm_classes: ArmClasses, coupling: Coupling, deadline: Deadline, solver: Solver | None = None
) -> OccupancySolution:
    """Solve the relaxation of classes of arms tied together by ``coupling``."""
    program, flows = _program(arm_classes, coupling)
    limits = Limits(max(deadline.left, _LEAST_SECONDS))
    solution = (default_solver() if solver is None else solver).solve(program, limits)
    if solution.status is Status.LIMIT:
        deadline.is_over()
    if solution.values is None or solution.row_duals is None:
        return OccupancySolution(np.inf, None)
    blocks = arm_classes.horizon.n_blocks
    prices = solution.row_duals[flows:].reshape(blocks, coupling.n_rows)
    value = solution.objective if solution.status is Status.OPTIMAL else np.inf
    return OccupancySolution(value, coupling.project_sign(prices))


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
    one = sparse.eye_array(blocks)
    weights = arm_classes.horizon.weights
    matrix = sparse.block_array(
        [[flow, None], [sparse.kron(one, uses), sparse.kron(one, coupling.own)]], format="csr"
    )
    start = np.zeros((blocks, arm_classes.n_classes, states))
    start[0] = arm_classes.initial_mass
    own = coupling.own.shape[1] * blocks
    size = blocks * rewards.size
    most = np.tile(np.where(arm_classes.allowed[classes, levels], np.inf, 0.0).reshape(-1), blocks)
    program = Program(
        np.concatenate([np.tile(rewards.reshape(-1), blocks), np.zeros(own)]),
        matrix,
        np.concatenate([start.reshape(-1), np.outer(weights, coupling.lower).reshape(-1)]),
        np.concatenate([start.reshape(-1), np.outer(weights, coupling.upper).reshape(-1)]),
        np.zeros(size + own),
        np.concatenate([most, np.outer(weights, coupling.own_upper).reshape(-1)]),
        np.zeros(size + own, dtype=np.bool_),
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
