"""The whole relaxation as one linear program: how often each arm is where, and gets what."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.bounds.lagrangian.arm_classes import ArmClasses
from sequoia.bounds.lagrangian.coupling import Coupling
from sequoia.solvers import Highs, Limits, Program, Solver, Status
from sequoia.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Mixture:
    """What the linear program says.

    Attributes
    ----------
    value
        The optimum; ``inf`` unless the solver proved one.
    prices
        Price of each coupling row in each block, ``(B, R)``; ``None`` when the solver has none.
    own
        The columns that belong to no arm, ``(B, M)``.
    """

    value: float
    prices: FloatArray | None
    own: FloatArray | None


def solve_occupancies(
    arm_classes: ArmClasses, coupling: Coupling, limits: Limits, solver: Solver | None = None
) -> Mixture:
    """Solve the relaxation of ``chains`` tied together by ``coupling``."""
    program, flows = _program(arm_classes, coupling)
    solution = (Highs() if solver is None else solver).solve(program, limits)
    if solution.values is None or solution.row_duals is None:
        return Mixture(np.inf, None, None)
    blocks, columns = arm_classes.horizon.n_blocks, coupling.own.shape[1]
    prices = solution.row_duals[flows:].reshape(blocks, coupling.n_rows)
    own = solution.values[len(solution.values) - blocks * columns :].reshape(blocks, columns)
    value = solution.objective if solution.status is Status.OPTIMAL else np.inf
    return Mixture(value, coupling.project_sign(prices), own)


def _program(arm_classes: ArmClasses, coupling: Coupling) -> tuple[Program, int]:
    """Return the program and the number of its flow rows, which come first."""
    classes, levels = np.nonzero(arm_classes.allowed)
    blocks, states = arm_classes.horizon.n_blocks, arm_classes.initial_mass.shape[1]
    kernels = arm_classes.kernels[arm_classes.model[classes], levels]
    rewards = arm_classes.rewards[arm_classes.model[classes], levels]
    flow = _flows(kernels, classes, arm_classes)
    # Columns run over blocks, then (class, level) pairs, then states.
    counts = csr_array(np.ones((1, states)))
    tariffs = arm_classes.price_class[classes] * arm_classes.allowed.shape[1] + levels
    uses = sparse.kron(coupling.use[:, tariffs], counts)
    one = sparse.eye_array(blocks)
    weights = arm_classes.horizon.weights
    matrix = sparse.block_array(
        [[flow, None], [sparse.kron(one, uses), sparse.kron(one, coupling.own)]], format="csr"
    )
    start = np.zeros((blocks, arm_classes.n_classes, states))
    start[0] = arm_classes.initial_mass
    own = coupling.own.shape[1] * blocks
    size = blocks * rewards.size
    program = Program(
        np.concatenate([np.tile(rewards.reshape(-1), blocks), np.zeros(own)]),
        matrix,
        np.concatenate([start.reshape(-1), np.outer(weights, coupling.lower).reshape(-1)]),
        np.concatenate([start.reshape(-1), np.outer(weights, coupling.upper).reshape(-1)]),
        np.zeros(size + own),
        np.concatenate([np.full(size, np.inf), np.outer(weights, coupling.own_upper).reshape(-1)]),
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
