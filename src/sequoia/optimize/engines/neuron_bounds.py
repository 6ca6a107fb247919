"""Bounds on the value of each neuron over all allowed actions."""

import numpy as np

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.linear.knapsack import KnapsackRelaxation
from sequoia.optimize.linear.oracles import LpOracle
from sequoia.optimize.relu_net import ROUNDING, PreactivationBounds, ReluNet
from sequoia.optimize.relu_relaxation import ReluRelaxation
from sequoia.solvers import Highs, Limits
from sequoia.validation import FloatArray

# Any bound on how many actions are chosen is valid; the root of the program gives a good one.
_COUNTING_NODES = 10


class LinearBounds:
    """Largest and smallest values of linear functions over the allowed actions.

    Two relaxations are offered: a fast one that knows how many actions can be chosen at once and
    what they cost together, and the linear relaxation of the rules.
    """

    def __init__(self, columns: ActionEncoding) -> None:
        self._actions = columns.space.n_actions
        owner = (
            np.empty(0)
            if columns.dose_indicators is None
            else columns.dose_indicators.indicators.owner
        )
        self._first_of_group = np.flatnonzero(np.diff(owner, prepend=-1))
        counting = np.zeros(columns.n_inputs)
        counting[: self._actions] = 1.0
        most = Highs().solve(columns.system.program(counting), Limits(nodes=_COUNTING_NODES)).bound
        most = int(min(self._actions, np.floor(most + 1e-6)))
        self._knapsack = KnapsackRelaxation.of(columns.space, most)
        self._oracle = LpOracle(columns)

    def quick(self, rows: FloatArray) -> FloatArray:
        """Return an upper bound of each row, ``(..., I)``: the best choice within the knapsack."""
        total = self._knapsack.largest(rows[..., : self._actions])
        if len(self._first_of_group):
            indicators = rows[..., self._actions :]
            best = np.maximum.reduceat(indicators, self._first_of_group, axis=-1)
            total = total + np.maximum(best, 0.0).sum(axis=-1)
        return total

    def tight(self, rows: FloatArray) -> FloatArray:
        """Return the maximum of each row, ``(P, I)``, over the linear relaxation of the rules."""
        nothing = np.full(rows.shape[1], -1, dtype=np.int8)
        tight = np.array([self._oracle.best(row, nothing).weight for row in rows])
        bounds: FloatArray = np.minimum(self.quick(rows), tight)
        return bounds


class NeuronBounds:
    """Bounds for every layer; what depends on the weights alone is computed once."""

    def __init__(self, linear: LinearBounds) -> None:
        self._linear = linear
        self._weights: FloatArray | None = None
        self._range = (np.empty(0), np.empty(0))

    def of(self, net: ReluNet) -> list[PreactivationBounds]:
        """Return the bounds of every hidden layer, for the network of one state."""
        if not net.weights:
            return []
        first = net.weights[0]
        # By value, because weights may be changed in place, or be equal in a new array.
        if self._weights is None or not np.array_equal(self._weights, first):
            self._range = (-self._linear.tight(-first), self._linear.tight(first))
            self._weights = first.copy()
        low, high = self._range
        layers = [PreactivationBounds(net.first_bias[0] + low, net.first_bias[0] + high)]
        nothing = np.full(net.n_inputs, -1, dtype=np.int8)
        for matrix, bias in zip(net.weights[1:], net.biases, strict=True):
            relaxation = ReluRelaxation(net, layers, nothing)
            rows = np.concatenate([matrix, -matrix])
            weights, constants, _ = relaxation.over(rows, relaxation.chords)
            most = np.minimum(constants + self._linear.quick(weights), layers[-1].largest(rows))
            upper, lower = bias + most[: len(matrix)], bias - most[len(matrix) :]
            layers.append(PreactivationBounds(lower, np.maximum(upper, lower)))
        return layers

    def value(self, net: ReluNet, layers: list[PreactivationBounds]) -> float:
        """Return what no action of one state exceeds: quick, loose, and no solver's word.

        ``constant + max linear @ x + sum_i max(output_i relu(l_i), output_i relu(u_i))``.
        """
        linear = float(self._linear.quick(net.linear)[0])
        hidden = float(layers[-1].largest(net.output[None])[0]) if layers else 0.0
        rounding = ROUNDING * float(net.size_of_terms()[0])
        return float(net.constant[0]) + linear + hidden + rounding
