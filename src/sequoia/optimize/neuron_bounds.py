"""How small and how large each neuron can get, knowing which actions are allowed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sequoia.arrays import BoolArray, FloatArray, IntArray
from sequoia.optimize.allowance import Allowance
from sequoia.optimize.columns import Columns
from sequoia.optimize.relu_net import ReluNet
from sequoia.solve import Highs, Limits

# Bounds linear functions of the inputs, (B, P, I), from above, (B, P).
Largest = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Layer:
    """Bounds of the inputs of one layer's ReLUs, by state, ``(B, P)`` each."""

    lower: FloatArray
    upper: FloatArray

    @property
    def is_open(self) -> BoolArray:
        """Which ReLUs may be on or off, ``(B, P)``."""
        result: BoolArray = (self.lower < 0) & (self.upper > 0)
        return result

    @cached_property
    def line_over(self) -> tuple[FloatArray, FloatArray]:
        """Slope and shift of the line above each ReLU, ``(B, P)`` each."""
        low, high = np.minimum(self.lower, 0.0), np.maximum(self.upper, 0.0)
        width = np.where(high - low > 0, high - low, 1.0)
        slope = np.where(self.lower >= 0, 1.0, high / width)
        return slope, np.where(self.lower >= 0, 0.0, -slope * low)

    def where(self, sides: IntArray) -> "Layer":
        """Return the bounds where some ReLUs are on, 1, and some off, -1, ``(P,)``."""
        lower = np.where(sides > 0, np.maximum(self.lower, 0.0), self.lower)
        return Layer(lower, np.where(sides < 0, np.minimum(self.upper, 0.0), self.upper))


class Reach:
    """Largest and smallest values of linear functions over the allowed actions.

    Two relaxations are offered: a fast one that knows how many actions can be chosen at once and
    what they cost together, and the linear relaxation of the rules.
    """

    def __init__(self, columns: Columns) -> None:
        self._actions = columns.space.n_actions
        owner = np.empty(0) if columns.lift is None else columns.lift.indicators.owner
        self._first_of_group = np.flatnonzero(np.diff(owner, prepend=-1))
        self._columns = columns
        counting = np.zeros(columns.n_inputs)
        counting[: self._actions] = 1.0
        most = Highs().solve(columns.system.program(counting), Limits(seconds=5.0)).bound
        most = int(min(self._actions, np.floor(most + 1e-6)))
        self._allowance = Allowance.of(columns.space, most)
        relaxed = columns.system.program(counting, relaxed=True)
        self._session = Highs().session(relaxed)

    def quick(self, rows: FloatArray) -> FloatArray:
        """Return an upper bound of each row, ``(..., I)``: the best choice within the allowance."""
        total = self._allowance.largest(rows[..., : self._actions])
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
        layer = Layer(net.first_bias + low, net.first_bias + high)
        return all_layers(net, layer, self._reach.quick)


def all_layers(
    net: ReluNet, first: Layer, largest: Largest, sides: Sequence[IntArray] = ()
) -> list[Layer]:
    """Return the bounds of every hidden layer, given those of the first.

    ``sides`` says by layer which ReLUs are taken to be on, 1, and off, -1.
    """
    layers = [first.where(sides[0]) if sides else first]
    for depth in range(1, len(net.weights)):
        rows, bias = net.weights[depth], net.biases[depth - 1]
        most, least = np.split(_above(net, layers, np.concatenate([rows, -rows]), largest), 2, 1)
        layer = Layer(bias - least, bias + np.maximum(most, -least))
        layers.append(layer.where(sides[depth]) if sides else layer)
    return layers


def _above(net: ReluNet, layers: list[Layer], rows: FloatArray, largest: Largest) -> FloatArray:
    """Return an upper bound of ``rows @ h`` for the last layer in ``layers``, ``(B, P)``.

    The maximum of a line above it, or the plain interval bound where that is smaller.
    """
    last = layers[-1]
    most, least = np.maximum(last.upper, 0.0), np.maximum(last.lower, 0.0)
    interval: FloatArray = most @ np.maximum(rows, 0.0).T + least @ np.minimum(rows, 0.0).T
    factors, offset = line_above(net, layers, rows, [slopes_below(layer) for layer in layers])
    return np.minimum(interval, offset + largest(factors[0]))


def line_above(
    net: ReluNet, layers: list[Layer], rows: FloatArray, slopes: Sequence[FloatArray]
) -> tuple[list[FloatArray], FloatArray]:
    """Return a linear function of the inputs that is nowhere below ``rows @ h``.

    Each ReLU is replaced by the line above or below it that suits the sign of its weight, from
    the last layer in ``layers`` back to the inputs.

    Parameters
    ----------
    rows
        Weights of the units of the last layer, ``(P, P_D)``.
    slopes
        Of the line below each ReLU, between 0 and 1, one array per layer, ``(B, P_d)``; those
        that are always on or always off need none.

    Returns
    -------
    Weights on the inputs, ``(B, P, I)``, then those on the units of each layer; and an offset,
    ``(B, P)``.
    """
    factors = [np.broadcast_to(rows, (len(net), *rows.shape))]
    offset = np.zeros(factors[0].shape[:2])
    for depth in range(len(layers) - 1, -1, -1):
        layer, rising = layers[depth], np.maximum(factors[-1], 0.0)
        slope_up, shift_up = layer.line_over
        is_off, is_on = layer.upper <= 0, layer.lower >= 0
        slope_down = np.where(is_on, 1.0, np.where(is_off, 0.0, slopes[depth]))
        factor = rising * slope_up[:, None] + np.minimum(factors[-1], 0.0) * slope_down[:, None]
        bias = net.first_bias[:, None] if depth == 0 else net.biases[depth - 1]
        offset = offset + (rising * shift_up[:, None] + factor * bias).sum(axis=2)
        factors.append(factor @ net.weights[depth])
    return factors[::-1], offset


def slopes_below(layer: Layer) -> FloatArray:
    """Return the slope of the line below each ReLU that leaves the smaller area, ``(B, P)``."""
    return np.where(layer.upper > -layer.lower, 1.0, 0.0)


def chord(layer: Layer, inputs: FloatArray) -> FloatArray:
    """Return the height of the line above each ReLU at its input, ``(B, P)``."""
    slope, shift = layer.line_over
    return slope * inputs + shift
