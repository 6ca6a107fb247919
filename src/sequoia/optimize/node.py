"""Nodes of branch and bound: parts of a space, and what is known there."""

from dataclasses import dataclass, replace

import numpy as np

from sequoia.optimize.linear.knapsack import KnapsackRelaxation
from sequoia.optimize.relu_net import PreactivationBounds, ReluNet
from sequoia.optimize.relu_relaxation import LinearUpperBound, ReluRelaxation
from sequoia.validation import ActionArray, FloatArray


@dataclass(frozen=True, eq=False)
class Node:
    """A part of the space.

    Attributes
    ----------
    fixed
        0 or 1 for a fixed input, -1 for the others, ``(I,)``.
    layers
        Bounds of every neuron, ``(P_d,)`` each.
    centre
        The mean of the points that were highest, here or where this was split from, ``(I,)``.
    lines
        Those that were lowest there; ``None`` at first.
    """

    fixed: ActionArray
    layers: list[PreactivationBounds]
    centre: FloatArray
    lines: LinearUpperBound | None = None

    @classmethod
    def whole(cls, net: ReluNet, first_range: PreactivationBounds, centre: FloatArray) -> "Node":
        """Return all of the space, given what the first matrix can add."""
        layers = []
        if net.weights:
            bias = net.first_bias[0]
            layers.append(PreactivationBounds(bias + first_range.lower, bias + first_range.upper))
        for matrix, biases in zip(net.weights[1:], net.biases, strict=True):
            last = layers[-1]
            layers.append(
                PreactivationBounds(biases - last.largest(-matrix), biases + last.largest(matrix))
            )
        return cls(np.full(net.n_inputs, -1, dtype=np.int8), layers, centre)

    def with_inputs(self, fixed: ActionArray) -> "Node":
        """Return where more inputs are fixed."""
        return replace(self, fixed=fixed, centre=np.where(fixed < 0, self.centre, fixed))

    def branch_on_input(self, place: int) -> "list[Node]":
        """Return the halves where an input is 0 and 1."""
        here = np.arange(len(self.fixed)) == place
        return [self.with_inputs(np.where(here, np.int8(to), self.fixed)) for to in (0, 1)]

    def branch_on_neuron(self, depth: int, unit: int) -> "list[Node]":
        """Return the halves where a neuron is off and on."""
        whole = self.layers[depth]
        upper, lower = whole.upper.copy(), whole.lower.copy()
        upper[unit] = lower[unit] = 0.0
        halves = []
        for half in (
            PreactivationBounds(whole.lower, upper),
            PreactivationBounds(lower, whole.upper),
        ):
            layers = [half if at == depth else layer for at, layer in enumerate(self.layers)]
            halves.append(replace(self, layers=layers))
        return halves

    def tightened(self, net: ReluNet, knapsack: KnapsackRelaxation) -> "Node":
        """Return the same part with closer bounds of those neurons that matter.

        Parameters
        ----------
        knapsack
            What the free inputs may choose.
        """
        layers: list[PreactivationBounds] = []
        free, chosen = np.flatnonzero(self.fixed < 0), np.flatnonzero(self.fixed == 1)
        for depth, (matrix, known) in enumerate(zip(net.weights, self.layers, strict=True)):
            is_needed = known.is_open
            if depth == len(net.weights) - 1:
                # The others are only ever replaced by lines below, which need no bounds.
                is_needed = is_needed & (net.output > 0)
            units = np.flatnonzero(is_needed)
            rows = matrix[units]
            if depth:
                bias = net.biases[depth - 1][units]
                relaxation = ReluRelaxation(net, layers, self.fixed)
                both = np.concatenate([rows, -rows])
                weights, constants, _ = relaxation.over(both, relaxation.chords)
                most = constants + knapsack.largest(weights[:, free])
            else:
                # Those over all actions are exact already, so that the quicker way is enough.
                bias = net.first_bias[0][units] + rows[:, chosen].sum(axis=1)
                open_rows = rows[:, free]
                most = knapsack.largest_few(np.concatenate([open_rows, -open_rows]))
            lower, upper = known.lower.copy(), known.upper.copy()
            lower[units] = np.maximum(lower[units], bias - most[len(units) :])
            upper[units] = np.minimum(upper[units], bias + most[: len(units)])
            layers.append(PreactivationBounds(lower, np.maximum(lower, upper)))
        return replace(self, layers=layers)
