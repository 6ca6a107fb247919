"""Branch and bound for spaces that know their own heaviest action: exact, without a solver."""

import time
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sequoia.arrays import ActionArray, FloatArray, IntArray
from sequoia.optimize.argmax import Answer
from sequoia.optimize.columns import Columns
from sequoia.optimize.heaviest import Heaviest
from sequoia.optimize.local_search import LocalSearch
from sequoia.optimize.neuron_bounds import (
    Layer,
    all_layers,
    heaviest_few,
    line_above,
    slopes_below,
)
from sequoia.optimize.relu_net import ReluNet
from sequoia.optimize.threads import on_one_thread
from sequoia.solve import Limits

# Far more than the rounding of sums of products, relative to the size of their terms.
_ROUNDING = 1e-12
_MOST_KNOWN = 100
# How far the slopes move towards those of the worst known action, step by step.
_SHARES = (2 / 3, 1 / 2, 0.0)

import os
SHARE = float(os.environ.get('SHARE','0.2'))
Kind = TypeVar("Kind", bound=np.generic)


class Branch:
    """Bound the network by a linear function, let the space maximise that, and split.

    Every ReLU is replaced by a line, so that one linear function lies above the network. The space
    finds its maximum, which is a bound. Where that is too high, a column is fixed both ways: then
    fewer neurons can be both on and off, and the lines come closer.
    """

    name = "branch"

    def __init__(self, columns: Columns, limits: Limits = Limits()) -> None:  # noqa: B008 (frozen)
        self._local = LocalSearch(columns)
        self._limits = limits
        self._oracle = Heaviest(columns.space)
        self._weights = np.empty((0, 0))
        self._range = Layer(np.empty(0), np.empty(0))

    @staticmethod
    def suits(columns: Columns) -> bool:
        """Say whether the space knows its heaviest action, and the network sees nothing else."""
        space = columns.space
        return columns.lift is None and space.heaviest(np.zeros(space.n_actions)) is not None

    @on_one_thread
    def best(self, net: ReluNet) -> Answer:
        """Return the best action of each state, and what is proven about it."""
        # By value, because weights may be changed in place, or be equal in a new array.
        if net.weights and not np.array_equal(self._weights, net.weights[0]):
            self._range = self._oracle.range_of(net.weights[0])
            self._weights = net.weights[0].copy()
        start = self._local.best(net)
        actions, values, bounds = start.actions.copy(), start.values.copy(), start.bounds.copy()
        for state in range(len(net)):
            search = _Search(self._oracle, net.only([state]), self._range, actions[state])
            bounds[state] = search.run(self._limits)
            actions[state], values[state] = search.action, search.value
        return Answer(actions, values, bounds)


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of the space.

    Attributes
    ----------
    fixed
        0 or 1 for a fixed column, -1 for the others, ``(N,)``.
    sides
        1 for a neuron that is on, -1 for one that is off, 0 for the others, by layer.
    slopes
        Of the lines below the ReLUs that served the part it was split from; none at first.
    """

    fixed: ActionArray
    sides: list[IntArray]
    slopes: list[FloatArray]

    def with_column(self, column: int, to: int, slopes: list[FloatArray]) -> "_Part":
        """Return the half where a column is fixed."""
        fixed = self.fixed.copy()
        fixed[column] = to
        return _Part(fixed, self.sides, slopes)

    def with_neuron(self, layer: int, unit: int, side: int, slopes: list[FloatArray]) -> "_Part":
        """Return the half where a neuron is on or off."""
        sides = list(self.sides)
        sides[layer] = sides[layer].copy()
        sides[layer][unit] = side
        return _Part(self.fixed, sides, slopes)


@dataclass(frozen=True, eq=False)
class _Line:
    """A linear function of the free columns that lies above the network in one part.

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
    def over(cls, net: ReluNet, layers: list[Layer], slopes: list[FloatArray]) -> "_Line":
        """Put a line in place of every ReLU."""
        constant, linear = float(net.constant[0]), net.linear[0]
        if not layers:
            return cls(linear, constant, slopes, [])
        factors, offset = line_above(net, layers, net.output[None], slopes)
        first, *later = (factor[0, 0] for factor in factors)
        return cls(linear + first, constant + float(offset[0, 0]), slopes, later)

    def raised(self, layers: list[Layer], inputs: list[FloatArray]) -> tuple[int, int, float]:
        """Return the neuron (layer and unit) that lifts the line most above the network, and by how much."""
        best = (0, 0, 0.0)
        for depth, (layer, factor, z) in enumerate(zip(layers, self.factors, inputs, strict=True)):
            low, high = layer.lower[0], layer.upper[0]
            chord = high * (z - low) / np.where(layer.is_open[0], high - low, 1.0)
            gap = np.where(layer.is_open[0], np.maximum(factor, 0.0) * (chord - np.maximum(z, 0.0)), 0.0)
            unit = int(gap.argmax())
            if gap[unit] > best[2]:
                best = depth, unit, float(gap[unit])
        return best

    def influence(self, net: ReluNet, layers: list[Layer]) -> FloatArray:
        """Return how much each free column moves the neurons that can be both on and off."""
        moved: FloatArray = np.zeros(len(net.output))
        for matrix, layer, factor in zip(
            reversed(net.weights), reversed(layers), reversed(self.factors), strict=True
        ):
            moved = (moved + np.abs(factor) * layer.is_open[0]) @ np.abs(matrix)
        return moved if layers else np.abs(self.weights)


class _Search:
    """The search for the best action of one state."""

    def __init__(
        self, oracle: Heaviest, net: ReluNet, first_range: Layer, start: ActionArray
    ) -> None:
        self._oracle = oracle
        self._net = net
        self._range = first_range
        self._margin = _ROUNDING * _size_of_terms(net)
        # Known actions, and which neurons are on in each, by layer.
        self._known = np.empty((0, net.n_inputs), dtype=np.int8)
        self._is_on = [np.empty((0, len(matrix)), dtype=np.bool_) for matrix in net.weights]
        self.action, self.value = start, -np.inf
        self._take(start)

    def run(self, limits: Limits) -> float:
        """Split until the best known action is proven, or to a limit; return a bound."""
        end = time.perf_counter() + limits.seconds
        everything = _Part(
            np.full(self._net.n_inputs, -1, dtype=np.int8),
            [np.zeros(len(matrix), dtype=np.int64) for matrix in self._net.weights],
            [],
        )
        # The most promising part first and, of equal ones, the youngest.
        waiting = [(-np.inf, 0, everything)]
        proven, count = -np.inf, 0
        while waiting:
            bound = -waiting[0][0]
            is_over = time.perf_counter() >= end or count == limits.nodes
            if is_over or self._is_done(bound, limits.gap):
                proven = max(proven, bound)
                break
            count += 1
            own, halves = self._split(heappop(waiting)[2])
            bound = min(bound, own)
            if not halves or self._is_done(bound, limits.gap):
                proven = max(proven, bound)
                continue
            for rank, half in enumerate(halves):
                heappush(waiting, (-bound, -2 * count - rank, half))
        return max(proven, self.value)

    def _is_done(self, bound: float, gap: float) -> bool:
        return bound <= self.value + gap * abs(self.value) + 2 * self._margin

    def _take(self, action: ActionArray) -> float:
        """Get to know an action; return its value."""
        hidden: FloatArray = action.astype(np.float64)
        value = float(self._net.values(hidden[None, None])[0, 0])
        self._known = _with(self._known, action)
        self._inputs = []
        for depth, matrix in enumerate(self._net.weights):
            bias = self._net.biases[depth - 1] if depth else self._net.first_bias[0]
            self._inputs.append(matrix @ hidden + bias)
            hidden = np.maximum(self._inputs[-1], 0.0)
            self._is_on[depth] = _with(self._is_on[depth], hidden > 0)
        if value > self.value:
            self.action, self.value = action, value
        return value

    def _split(self, part: _Part) -> tuple[float, list[_Part]]:
        """Return a bound of ``part``, and its two halves; none where it is settled."""
        is_free = part.fixed < 0
        left = self._oracle.most - int((part.fixed == 1).sum())
        if not left or not is_free.any():
            return self._settle((part.fixed == 1).astype(np.int8)), []
        net = _restricted(self._net, part.fixed)
        layers = self._layers(net, left, part.sides)
        line = self._fit(net, layers, part)
        weights = np.zeros(len(is_free))
        weights[is_free] = line.weights
        action, heaviest = self._oracle.best(weights, part.fixed)
        bound = line.constant + heaviest + self._margin
        if action is not None:
            self._take(action)
        elif np.isneginf(heaviest):
            return heaviest, []
        # Only a chosen column can lower the bound when it is fixed to 0.
        is_chosen = is_free if action is None else is_free & (action == 1)
        rank = np.full(len(is_free), -1.0)
        rank[is_free] = line.influence(net, layers)
        column = int(np.where(is_chosen if is_chosen.any() else is_free, rank, -1.0).argmax())
        if action is not None and layers:
            depth, unit, raised = line.raised(layers, self._inputs)
            if raised > SHARE * (bound - self.value):
                return bound, [part.with_neuron(depth, unit, side, line.slopes) for side in (-1, 1)]
        return bound, [part.with_column(column, to, line.slopes) for to in (0, 1)]

    def _settle(self, action: ActionArray) -> float:
        """Return the value of the only action that is left, if it is allowed."""
        return self._take(action) if self._oracle.space.allows(action[None])[0] else -np.inf

    def _layers(self, net: ReluNet, left: int, sides: list[IntArray]) -> list[Layer]:
        """Return bounds of all neurons of a restricted network when so many columns are left."""
        if not net.weights:
            return []
        largest = partial(heaviest_few, most=left)
        bias, first = self._net.first_bias, net.weights[0]
        upper = np.minimum(bias + self._range.upper, net.first_bias + largest(first))
        lower = np.maximum(bias + self._range.lower, net.first_bias - largest(-first))
        return all_layers(net, Layer(lower, np.maximum(upper, lower)), largest, sides)

    def _fit(self, net: ReluNet, layers: list[Layer], part: _Part) -> _Line:
        """Return a line that is low at the known actions of ``part``.

        The slope of a line below a ReLU is best where the ReLU is on or off for the action that
        is highest: so slopes move there, a little less every time.
        """
        slopes = part.slopes or [slopes_below(layer) for layer in layers]
        is_free = part.fixed < 0
        here = np.flatnonzero((is_free | (self._known == part.fixed)).all(axis=1))
        line = found = _Line.over(net, layers, slopes)
        if not len(here) or not layers:
            return line
        actions = self._known[here][:, is_free].astype(np.float64)
        lowest = np.inf
        for share in _SHARES:
            heights = actions @ line.weights + line.constant
            highest = int(heights.argmax())
            if heights[highest] < lowest:
                found, lowest = line, heights[highest]
            if lowest <= self.value or not share:
                break
            is_on = [layer[here[highest]] for layer in self._is_on]
            slopes = [old + share * (on - old) for old, on in zip(slopes, is_on, strict=True)]
            line = _Line.over(net, layers, slopes)
        return found


def _with(rows: NDArray[Kind], row: NDArray[Kind]) -> NDArray[Kind]:
    """Return the last ``rows`` and one more."""
    return np.concatenate([rows[1 - _MOST_KNOWN :], row[None]])


def _restricted(net: ReluNet, fixed: ActionArray) -> ReluNet:
    """Return the network of one state over the columns that are not fixed."""
    is_free, is_chosen = fixed < 0, fixed == 1
    linear = net.linear[:, is_free]
    constant = net.constant + net.linear[:, is_chosen].sum(axis=1)
    if not net.weights:
        return ReluNet((), net.first_bias, (), net.output, linear, constant)
    first, *later = net.weights
    bias = net.first_bias + first[:, is_chosen].sum(axis=1)
    return ReluNet((first[:, is_free], *later), bias, net.biases, net.output, linear, constant)


def _size_of_terms(net: ReluNet) -> float:
    """Return how large all terms of the value of one state are together, whatever cancels."""
    size = float(np.abs(net.linear[0]).sum() + np.abs(net.constant[0]))
    if net.weights:
        terms: FloatArray = np.abs(net.weights[0]).sum(axis=1) + np.abs(net.first_bias[0])
        for matrix, bias in zip(net.weights[1:], net.biases, strict=True):
            terms = np.abs(matrix) @ terms + np.abs(bias)
        size += float(np.abs(net.output) @ terms)
    return size
