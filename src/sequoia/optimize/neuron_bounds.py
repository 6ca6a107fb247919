"""How small and how large each neuron can get, knowing which actions are allowed."""

from dataclasses import dataclass

import numpy as np

from sequoia.arrays import FloatArray
from sequoia.optimize.columns import Columns
from sequoia.optimize.relu_net import ReluNet
from sequoia.solve import Highs, Limits


@dataclass(frozen=True, eq=False)
class Layer:
    """Bounds of the inputs of one layer's ReLUs, by state, ``(B, P)`` each."""

    lower: FloatArray
    upper: FloatArray


class Reach:
    """Largest and smallest values of linear functions over the allowed actions.

    Two relaxations are offered: a fast one that knows how many actions can be chosen at once, and
    the linear relaxation of the rules.
    """

    def __init__(self, columns: Columns) -> None:
        self._actions = columns.space.n_actions
        owner = np.empty(0) if columns.lift is None else columns.lift.indicators.owner
        self._first_of_group = np.flatnonzero(np.diff(owner, prepend=-1))
        self._columns = columns
        counting = np.zeros(columns.n_inputs)
        counting[: self._actions] = 1.0
        most = Highs().solve(columns.system.program(counting), Limits(seconds=5.0)).bound
        self._most = int(min(self._actions, np.floor(most + 1e-6)))
        relaxed = columns.system.program(counting, relaxed=True)
        self._session = Highs().session(relaxed)

    def quick(self, rows: FloatArray) -> FloatArray:
        """Return an upper bound of each row, ``(..., I)``: the best choice of that many actions."""
        gains = np.maximum(rows[..., : self._actions], 0.0)
        if 0 < self._most < self._actions:
            gains = -np.partition(-gains, self._most - 1, axis=-1)[..., : self._most]
        total: FloatArray = gains.sum(axis=-1) if self._most else np.zeros(rows.shape[:-1])
        if len(self._first_of_group):
            marks = rows[..., self._actions :]
            best = np.maximum.reduceat(marks, self._first_of_group, axis=-1)
            total = total + np.maximum(best, 0.0).sum(axis=-1)
        return total

    def tight(self, rows: FloatArray) -> FloatArray:
        """Return the maximum of each row, ``(P, I)``, over the linear relaxation of the rules."""
        bounds = self.quick(rows)
        weights = np.zeros(self._columns.system.n_columns)
        for index, row in enumerate(rows):
            # The solver takes small weights for none.
            unit = np.abs(row).max(initial=0.0) or 1.0
            weights[: len(row)] = row / unit
            bound = self._session.maximise(weights).bound
            bounds[index] = min(bounds[index], unit * (bound + 1e-7 * (1.0 + abs(bound))))
        return bounds


class NeuronBounds:
    """Bounds for every layer; what depends on the weights alone is computed once."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._weights: FloatArray | None = None
        self._range = (np.empty(0), np.empty(0))

    def of(self, net: ReluNet) -> list[Layer]:
        """Return the bounds of every hidden layer."""
        if not net.weights:
            return []
        first = net.weights[0]
        # By value, because weights may be changed in place, or be equal in a new array.
        if self._weights is None or not np.array_equal(self._weights, first):
            self._range = (-self._reach.tight(-first), self._reach.tight(first))
            self._weights = first.copy()
        low, high = self._range
        layers = [Layer(net.first_bias + low, net.first_bias + high)]
        for depth in range(1, len(net.weights)):
            rows, bias = net.weights[depth], net.biases[depth - 1]
            upper = bias + self._backward(net, layers, rows)
            lower = bias - self._backward(net, layers, -rows)
            layers.append(Layer(lower, np.maximum(upper, lower)))
        return layers

    def _backward(self, net: ReluNet, layers: list[Layer], rows: FloatArray) -> FloatArray:
        """Return an upper bound of ``rows @ h`` for the last layer in ``layers``, ``(B, P)``.

        Each ReLU is replaced by the line above or below it that suits the sign of its weight, from
        the last layer back to the inputs; the linear function that is left is maximised. The
        plain interval bound is taken where it is smaller.
        """
        last = layers[-1]
        most, least = np.maximum(last.upper, 0.0), np.maximum(last.lower, 0.0)
        interval: FloatArray = most @ np.maximum(rows, 0.0).T + least @ np.minimum(rows, 0.0).T
        factor = np.broadcast_to(rows, (len(net), *rows.shape))
        offset = np.zeros(factor.shape[:2])
        for depth in range(len(layers) - 1, -1, -1):
            slope_up, shift_up, slope_down = _lines(layers[depth])
            rising = np.maximum(factor, 0.0)
            offset = offset + (rising * shift_up[:, None, :]).sum(axis=2)
            factor = (
                rising * slope_up[:, None, :] + np.minimum(factor, 0.0) * slope_down[:, None, :]
            )
            bias = net.first_bias[:, None, :] if depth == 0 else net.biases[depth - 1]
            offset = offset + (factor * bias).sum(axis=2)
            factor = factor @ net.weights[depth]
        return np.minimum(interval, offset + self._reach.quick(factor))


def _lines(layer: Layer) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return slope and shift of the line above each ReLU, and the slope of one below it."""
    low, high = np.minimum(layer.lower, 0.0), np.maximum(layer.upper, 0.0)
    width = np.where(high - low > 0, high - low, 1.0)
    slope = np.where(layer.lower >= 0, 1.0, high / width)
    shift = np.where(layer.lower >= 0, 0.0, -slope * low)
    below = np.where(layer.lower >= 0, 1.0, np.where(high > -low, 1.0, 0.0))
    return slope, shift, np.where(layer.upper <= 0, 0.0, below)
