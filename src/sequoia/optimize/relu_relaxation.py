"""Linear functions above a ReLU network, made of a line for every ReLU.

A ReLU is below its chord, the line through the ends of its range,
``relu(v) <= u (v - l) / (u - l)`` for ``l <= v <= u``, and above ``s v`` for any ``s`` from 0 to 1.
From the last layer to the first, each ReLU with a positive factor is replaced by a line above it,
and each other one by a line below it: CROWN (Zhang et al. 2018). One of the first layer, over
inputs that are 0 or 1, is below many other lines too: for any point there is one that is lowest
there, and any mixture of such lines is one more (Tjandraatmadja et al. 2020).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sequoia.optimize.relu_net import PreactivationBounds, ReluNet
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class LinearUpperBound:
    """A choice of lines.

    Attributes
    ----------
    weights, shifts
        The line above each ReLU of the first layer, in the inputs: ``(P_1, I)`` and ``(P_1,)``.
    slopes
        Of the line below each ReLU, through 0 and between 0 and 1, by layer.
    """

    weights: FloatArray
    shifts: FloatArray
    slopes: list[FloatArray]

    def towards(self, other: "LinearUpperBound", share: float) -> "LinearUpperBound":
        """Return a mixture of these and a ``share`` of others."""
        return LinearUpperBound(
            self.weights + share * (other.weights - self.weights),
            self.shifts + share * (other.shifts - self.shifts),
            [a + share * (b - a) for a, b in zip(self.slopes, other.slopes, strict=True)],
        )


class ReluRelaxation:
    """The functions above the network of one state, where some of its inputs are fixed.

    Parameters
    ----------
    net
        The network of one state.
    layers
        Bounds of the neurons of the first layers, ``(P_d,)`` each; of all of them, if the value of
        the network is asked for.
    fixed
        0 or 1 for a fixed input, -1 for the others, ``(I,)``.
    """

    def __init__(self, net: ReluNet, layers: list[PreactivationBounds], fixed: ActionArray) -> None:
        self._net = net
        self._biases = [net.first_bias[0], *net.biases]
        self._is_free = fixed < 0
        self._chosen = np.flatnonzero(fixed == 1)
        self._chords = [layer.chord for layer in layers]
        self._is_on = [layer.lower >= 0 for layer in layers]
        self.is_open = [layer.is_open for layer in layers]

    @cached_property
    def chords(self) -> LinearUpperBound:
        """The lines through the ends of each range, and below those that leave less area."""
        slope, shift = self._chords[0]
        weights = slope[:, None] * self._net.weights[0]
        slopes = [(slope > 0.5).astype(np.float64) for slope, _ in self._chords]
        return LinearUpperBound(weights, slope * self._biases[0] + shift, slopes)

    def lowest(self, point: FloatArray) -> LinearUpperBound:
        """Return the lines that are closest at inputs between 0 and 1, ``(I,)``."""
        slopes = [(value > 0).astype(np.float64) for value in self.seen(point)]
        return self._lower(*self._cuts(point), slopes, point)

    def kept(self, lines: LinearUpperBound, point: FloatArray) -> LinearUpperBound:
        """Return lines of a parent node, or the chords where these are lower at a point."""
        units = self._units
        return self._lower(lines.weights[units], lines.shifts[units], lines.slopes, point)

    def over(
        self, rows: FloatArray, lines: LinearUpperBound
    ) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
        """Return functions of the free inputs that are nowhere below ``rows @ h``.

        Parameters
        ----------
        rows
            Weights on the units of the last layer, ``(R, P_d)``.

        Returns
        -------
        weights, constants, factors
            ``(R, I)``, zero for fixed inputs; ``(R,)``; the weight on every unit, by layer.
        """
        factors, constants = self.over_units(rows, lines)
        rising, below = self._above_and_below(factors[0], lines, 0)
        weights = rising @ lines.weights + below @ self._net.weights[0]
        constants += rising @ lines.shifts + below @ self._biases[0]
        constants += weights[:, self._chosen].sum(axis=1)
        return weights * self._is_free, constants, factors

    def over_units(
        self, rows: FloatArray, lines: LinearUpperBound
    ) -> tuple[list[FloatArray], FloatArray]:
        """Return functions of the units of the first layer that are nowhere below ``rows @ h``.

        Returns
        -------
        factors, constants
            The weight on every unit, by layer, ``(R, P_d)`` each; those of the first layer make
            up the function, with the constants, ``(R,)``.
        """
        constants: FloatArray = np.zeros(len(rows))
        factors = [rows]
        for depth in range(len(self.is_open) - 1, 0, -1):
            rising, below = self._above_and_below(factors[0], lines, depth)
            slope, shift = self._chords[depth]
            below += rising * slope
            constants += rising @ shift + below @ self._biases[depth]
            factors.insert(0, below @ self._net.weights[depth])
        return factors, constants

    def _above_and_below(
        self, factors: FloatArray, lines: LinearUpperBound, depth: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return weights of the lines above, and those of what the lines below see."""
        slopes = np.where(self.is_open[depth], lines.slopes[depth], self._is_on[depth])
        return np.maximum(factors, 0.0), np.minimum(factors, 0.0) * slopes

    def seen(self, point: FloatArray) -> list[FloatArray]:
        """Return what the ReLUs of each layer see."""
        hidden, inputs = point, []
        for matrix, bias in zip(self._net.weights, self._biases, strict=True):
            inputs.append(matrix @ hidden + bias)
            hidden = np.maximum(inputs[-1], 0.0)
        return inputs

    def lifts(
        self, lines: LinearUpperBound, factors: list[FloatArray], point: FloatArray
    ) -> list[FloatArray]:
        """Return by how much each line above raises the function at a point, by layer."""
        result = []
        for depth, value in enumerate(self.seen(point)):
            slope, shift = self._chords[depth]
            height = slope * value + shift if depth else lines.weights @ point + lines.shifts
            lift = np.maximum(factors[depth][0], 0.0) * (height - np.maximum(value, 0.0))
            result.append(np.where(self.is_open[depth], lift, 0.0))
        return result

    def influence(self, factors: list[FloatArray]) -> FloatArray:
        """Return how much each input moves the neurons that can be both on and off, ``(I,)``."""
        moved: FloatArray = np.zeros(len(self._net.output))
        for depth in range(len(factors) - 1, -1, -1):
            moved_by_kink = moved + np.abs(factors[depth][0]) * self.is_open[depth]
            moved = moved_by_kink @ np.abs(self._net.weights[depth])
        return moved

    @cached_property
    def _units(self) -> IntArray:
        """The units of the first layer that can be both on and off, ``(U,)``."""
        return np.flatnonzero(self.is_open[0])

    def _lower(
        self, weights: FloatArray, shifts: FloatArray, slopes: list[FloatArray], point: FloatArray
    ) -> LinearUpperBound:
        """Return chords, or other lines of `_units` where these are lower at a point."""
        chords = self.chords
        heights = (chords.weights @ point + chords.shifts)[self._units]
        is_lower = weights @ point + shifts < heights
        units = self._units[is_lower]
        all_weights, all_shifts = chords.weights.copy(), chords.shifts.copy()
        all_weights[units], all_shifts[units] = weights[is_lower], shifts[is_lower]
        return LinearUpperBound(all_weights, all_shifts, slopes)

    @cached_property
    def _whole(self) -> tuple[FloatArray, BoolArray, FloatArray, FloatArray]:
        """Of `_units`: weights of free inputs, their signs and sizes, and the most that is seen."""
        weights = self._net.weights[0][self._units]
        rows = weights * self._is_free
        most = self._biases[0][self._units] + weights[:, self._chosen].sum(axis=1)
        return rows, rows > 0, np.abs(rows), most + np.maximum(rows, 0.0).sum(axis=1)

    def _cuts(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the line over whole inputs of each of `_units` that is lowest at a point.

        A unit is on if enough inputs suit it. Inputs that suit it least at the point keep their
        weight, until it would be off if all of these suited it worst, and the others best. The
        others have no weight: what they add is needed to be on at all. Where all ``w_i > 0``:
        ``relu(w @ x + b) <= sum_{i in I} w_i x_i + r x_h``, ``r = b + sum_{i not in I} w_i``, in
        which ``I`` takes inputs by rising ``x_i`` while ``r >= w_h`` for the next one, ``h``
        (Tjandraatmadja et al. 2020, with its separation by sorting).
        """
        rows, is_rising, sizes, most = self._whole
        order = np.argsort(np.where(is_rising, point, 1.0 - point), axis=1)
        ordered = np.take_along_axis(sizes, order, axis=1)
        spent = ordered.cumsum(axis=1)
        kept = np.empty_like(rows)
        left = np.minimum(most[:, None] - spent + ordered, ordered)
        np.put_along_axis(kept, order, np.maximum(left, 0.0), axis=1)
        cuts = np.where(is_rising, kept, -kept)
        # A unit that is never off keeps all of its inputs, and what they leave.
        least = np.maximum(most - sizes.sum(axis=1), 0.0)
        return cuts, least - np.minimum(cuts, 0.0).sum(axis=1)
