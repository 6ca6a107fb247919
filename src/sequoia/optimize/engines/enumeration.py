"""Try every feasible action: exact, and fastest when there are few enough."""

import numpy as np
from numpy.typing import NDArray

from sequoia.errors import TooLarge
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.linear.knapsack import KnapsackRelaxation
from sequoia.optimize.node import Node
from sequoia.optimize.relu_net import PreactivationBounds, ReluNet, on_one_thread
from sequoia.optimize.relu_relaxation import ReluRelaxation
from sequoia.optimize.result import ArgmaxResult
from sequoia.problem.iis import no_decision
from sequoia.validation import FloatArray, IntArray

# So many rows of 32 inputs are 25 MB in single precision, and are tried in some 10 ms.
MAX_ACTIONS = 200_000
# Rows of 64 units in single precision that take half a megabyte and stay in the cache.
_CHUNK = 2048
# With more pairs of columns than this many times the cap, to list actions is mostly in vain.
_TRIES = 8
# Rounding of a sum of products in single precision, relative to the size of its terms: some 80
# times that of a single operation, 2 ** -24.
_SINGLE_ERROR = 5e-6
# A few milliseconds; to look for actions that are left out takes about one.
_MANY_PRODUCTS = 3e7
# How many linear functions to look at, each a product with all actions; and which share of these
# they may leave, so that the detour pays.
_LOOKS, _FEW = 3, 0.1

Single = NDArray[np.float32]


class Enumeration:
    """All feasible actions in one matrix.

    The first layer's product with that matrix is kept for as long as the weights stay the same.
    Where that saves work, a linear function above the network says first which actions can be the
    best at all. Values are computed in single precision; all actions within its error of the best
    are then compared in double precision.

    Attributes
    ----------
    actions
        All of them, ``(A, N)``.
    """

    name = "enumerate"

    def __init__(self, columns: ActionEncoding, cap: int = MAX_ACTIONS) -> None:
        size = columns.space.n_actions
        if size * (size - 1) // 2 > _TRIES * cap:
            raise TooLarge(f"{size} columns make more pairs than {cap} actions are worth.")
        self.actions = columns.space.enumerate(cap)
        if not len(self.actions):
            raise no_decision(columns.space.compact)
        self._inputs = columns.encode(self.actions).astype(np.float32)
        most = int(self._inputs.sum(axis=1).max())
        self._knapsack = (
            KnapsackRelaxation(most)
            if columns.dose_indicators
            else KnapsackRelaxation.of(columns.space, most)
        )
        self._weights: FloatArray = np.empty((0, 0))
        self._first = np.empty((0, 0), dtype=np.float32)
        self._range = PreactivationBounds(np.empty(0), np.empty(0))

    def __len__(self) -> int:
        """The number of actions."""
        return len(self.actions)

    @on_one_thread
    def best(self, net: ReluNet) -> ArgmaxResult:
        """Return the best of all actions for each state."""
        # By value, because weights may be changed in place, or be equal in a new array.
        if net.weights and not np.array_equal(self._weights, net.weights[0]):
            self._first = self._inputs @ net.weights[0].T.astype(np.float32)
            error = _SINGLE_ERROR * np.abs(net.weights[0]).sum(axis=1)
            self._range = PreactivationBounds(
                self._first.min(axis=0) - error, self._first.max(axis=0) + error
            )
            self._weights = net.weights[0].copy()
        picks, values = [], []
        for state in range(len(net)):
            alone = net.only([state])
            close = self._close(alone)
            exact = alone.values(self._inputs[close][None])[0]
            picks.append(close[exact.argmax()])
            values.append(exact.max())
        best = np.array(values)
        return ArgmaxResult.proven(self.actions[picks], best)

    def _close(self, net: ReluNet) -> IntArray:
        """Return which actions can be the best one."""
        if len(self) * sum(matrix.size for matrix in net.weights[1:]) > _MANY_PRODUCTS:
            left = self._promising(net)
            if len(left) <= _FEW * len(self):
                return left
        rough = self._rough_values(net)
        return np.flatnonzero(rough >= rough.max() - 2 * self._error(net))

    def _promising(self, net: ReluNet) -> IntArray:
        """Return which actions some functions above the network leave in question.

        Functions of the inputs first; what these leave is seen by the first layer, then by a
        function of its units.
        """
        centre = self._inputs[0].astype(np.float64)
        node = Node.whole(net, self._range, centre).tightened(net, self._knapsack)
        relaxation, rows = ReluRelaxation(net, node.layers, node.fixed), net.output[None]
        heights = np.full(len(self), np.inf, dtype=np.float32)
        lines, value = relaxation.chords, -np.inf
        for _ in range(_LOOKS):
            weights, constants, _ = relaxation.over(rows, lines)
            slopes, constant = weights[0] + net.linear[0], constants[0] + net.constant[0]
            error = _SINGLE_ERROR * (np.abs(slopes).sum() + abs(constant))
            height = self._inputs @ slopes.astype(np.float32)
            highest = self._inputs[height.argmax()].astype(np.float64)
            np.minimum(heights, height + np.float32(constant + error), out=heights)
            value = max(value, float(net.values(highest[None, None])[0, 0]))
            lines = relaxation.lowest(highest)
        left = np.flatnonzero(heights >= value)
        factors, constants = relaxation.over_units(rows, lines)
        hidden = np.maximum(self._first[left] + net.first_bias[0].astype(np.float32), 0.0)
        height = hidden @ factors[0][0].astype(np.float32)
        height += self._inputs[left] @ net.linear[0].astype(np.float32)
        is_left = height >= value - constants[0] - net.constant[0] - self._error(net)
        return np.asarray(left[is_left])

    def _error(self, net: ReluNet) -> float:
        """Return how far off single precision can be, from the size of every term."""
        size = np.abs(net.linear[0]).sum()
        if net.weights:
            largest = np.maximum(-self._range.lower, self._range.upper)
            terms = largest + 2 * np.abs(net.first_bias[0])
            for matrix, bias in zip(net.weights[1:], net.biases, strict=True):
                terms = np.abs(matrix) @ terms + 2 * np.abs(bias)
            size += np.abs(net.output) @ terms
        return float(_SINGLE_ERROR * (1 + len(net.weights)) * size)

    def _rough_values(self, net: ReluNet) -> Single:
        """Return the values in single precision, up to a constant.

        ``relu(z + b) = max(z, -b) + b``, and the added ``b`` goes into the next bias.
        """
        # Kernels of BLAS also multiply what lies beyond the end of a row, and may warn about it.
        with np.errstate(invalid="ignore"):
            values: Single = self._inputs @ net.linear[0].astype(np.float32)
        if not net.weights:
            return values
        shift = net.first_bias[0]
        floors = [-shift.astype(np.float32)]
        for matrix, bias in zip(net.weights[1:], net.biases, strict=True):
            shift = bias + matrix @ shift
            floors.append(-shift.astype(np.float32))
        later = [matrix.T.astype(np.float32) for matrix in net.weights[1:]]
        output = net.output.astype(np.float32)
        rooms = [np.empty((_CHUNK, len(floor)), dtype=np.float32) for floor in floors]
        for start in range(0, len(values), _CHUNK):
            first = self._first[start : start + _CHUNK]
            size = len(first)
            hidden: Single = np.maximum(first, floors[0], out=rooms[0][:size])
            for room, factors, floor in zip(rooms[1:], later, floors[1:], strict=True):
                hidden = np.matmul(hidden, factors, out=room[:size])
                np.maximum(hidden, floor, out=hidden)
            values[start : start + size] += hidden @ output
        return values
