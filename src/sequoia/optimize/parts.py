"""Parts of a space, and lines that lie above a network over one of them."""

from dataclasses import dataclass

import numpy as np

from sequoia.arrays import ActionArray, FloatArray, IntArray
from sequoia.optimize.neuron_bounds import Layer, chord, line_above
from sequoia.optimize.relu_net import ReluNet


@dataclass(frozen=True, eq=False)
class Part:
    """A part of the space.

    Attributes
    ----------
    fixed
        0 or 1 for a fixed input, -1 for the others, ``(I,)``.
    sides
        1 for a neuron that is on, -1 for one that is off, 0 for the others, by layer.
    slopes
        Of the lines below the ReLUs that served the part it was split from; none at first.
    """

    fixed: ActionArray
    sides: list[IntArray]
    slopes: list[FloatArray]

    @classmethod
    def whole(cls, net: ReluNet) -> "Part":
        """Return all of the space."""
        sides = [np.zeros(len(matrix), dtype=np.int64) for matrix in net.weights]
        return cls(np.full(net.n_inputs, -1, dtype=np.int8), sides, [])

    def with_input(self, place: int, to: int, slopes: list[FloatArray]) -> "Part":
        """Return the half where an input is fixed."""
        fixed = self.fixed.copy()
        fixed[place] = to
        return Part(fixed, self.sides, slopes)

    def with_neuron(self, layer: int, unit: int, side: int, slopes: list[FloatArray]) -> "Part":
        """Return the half where a neuron is on or off."""
        sides = list(self.sides)
        sides[layer] = sides[layer].copy()
        sides[layer][unit] = side
        return Part(self.fixed, sides, slopes)

    def restricted(self, net: ReluNet) -> ReluNet:
        """Return the network of one state over the inputs that are not fixed."""
        is_free, is_chosen = self.fixed < 0, self.fixed == 1
        linear = net.linear[:, is_free]
        constant = net.constant + net.linear[:, is_chosen].sum(axis=1)
        if not net.weights:
            return ReluNet((), net.first_bias, (), net.output, linear, constant)
        first, *later = net.weights
        bias = net.first_bias + first[:, is_chosen].sum(axis=1)
        return ReluNet((first[:, is_free], *later), bias, net.biases, net.output, linear, constant)


@dataclass(frozen=True, eq=False)
class Line:
    """A linear function of the free inputs that lies above the network in one part.

    Attributes
    ----------
    weights, constant
        The function, ``(F,)``.
    slopes
        Of the lines below the ReLUs that it was made of.
    factors
        Its weight on each unit, by layer.
    """

    weights: FloatArray
    constant: float
    slopes: list[FloatArray]
    factors: list[FloatArray]

    @classmethod
    def over(cls, net: ReluNet, layers: list[Layer], slopes: list[FloatArray]) -> "Line":
        """Put a line in place of every ReLU."""
        constant, linear = float(net.constant[0]), net.linear[0]
        if not layers:
            return cls(linear, constant, slopes, [])
        factors, offset = line_above(net, layers, net.output[None], slopes)
        first, *later = (factor[0, 0] for factor in factors)
        return cls(linear + first, constant + float(offset[0, 0]), slopes, later)

    def lifts(self, layers: list[Layer], inputs: list[FloatArray]) -> list[FloatArray]:
        """Return by how much each ReLU, at given inputs, lies below its line above, by layer."""
        return [
            np.maximum(factor, 0.0) * (chord(layer, value) - np.maximum(value, 0.0))[0]
            for layer, factor, value in zip(layers, self.factors, inputs, strict=True)
        ]

    def influence(self, net: ReluNet, layers: list[Layer]) -> FloatArray:
        """Return how much each free input moves the neurons that can be both on and off."""
        moved: FloatArray = np.zeros(len(net.output))
        for matrix, layer, factor in zip(
            reversed(net.weights), reversed(layers), reversed(self.factors), strict=True
        ):
            moved = (moved + np.abs(factor) * layer.is_open[0]) @ np.abs(matrix)
        return moved if layers else np.abs(self.weights)
