"""Branch and bound for spaces that know their own heaviest action: exact, without a solver."""

import time
from heapq import heappop, heappush
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sequoia.arrays import ActionArray, BoolArray, FloatArray, IntArray
from sequoia.optimize.allowance import Allowance
from sequoia.optimize.argmax import Answer
from sequoia.optimize.ascent import Ascent
from sequoia.optimize.columns import Columns
from sequoia.optimize.heaviest import Oracle, oracle_for, range_of
from sequoia.optimize.local_search import LocalSearch
from sequoia.optimize.neuron_bounds import Layer, all_layers, slopes_below
from sequoia.optimize.parts import Line, Part
from sequoia.optimize.relu_net import ReluNet
from sequoia.optimize.threads import on_one_thread
from sequoia.solve import Limits

# Far more than the rounding of sums of products, relative to the size of their terms.
_ROUNDING = 1e-12
_MOST_KNOWN = 100
# Inputs of a point between these are not whole.
_BROKEN = (1e-6, 1 - 1e-6)
# A neuron is split where it alone makes up so much of what is left to prove; else a column is.
# Many open neurons are better closed by columns, which move all of them.
_FEW_OPEN = 20
_MAIN_SHARE_OF_FEW, _MAIN_SHARE = 0.1, 0.5
# How far the slopes move towards those of the worst known action, step by step.
_SHARES = (2 / 3, 1 / 2, 0.0)

Kind = TypeVar("Kind", bound=np.generic)


class Branch:
    """Bound the network by a linear function, let the space maximise that, and split.

    Every ReLU is replaced by a line, so that one linear function lies above the network. The space
    finds its maximum, which is a bound. Where that is too high, a column is fixed both ways, or a
    neuron taken to be on and to be off: then fewer neurons are open, and the lines come closer.
    """

    name = "branch"

    def __init__(self, columns: Columns, limits: Limits = Limits()) -> None:  # noqa: B008 (frozen)
        self._oracle = oracle_for(columns)
        self._columns = columns
        self._ascent = Ascent(columns, self._oracle)
        self._local = LocalSearch(columns)
        self._limits = limits
        self._weights = np.empty((0, 0))
        self._range = Layer(np.empty(0), np.empty(0))

    @on_one_thread
    def best(self, net: ReluNet) -> Answer:
        """Return the best action of each state, and what is proven about it."""
        # By value, because weights may be changed in place, or be equal in a new array.
        if net.weights and not np.array_equal(self._weights, net.weights[0]):
            self._oracle.forget()
            self._range = range_of(self._oracle, net.weights[0])
            self._weights = net.weights[0].copy()
        actions, is_known = self._ascent.best(net, net.alone())
        if not is_known.all():
            others = np.flatnonzero(~is_known).tolist()
            actions[others] = self._local.best(net.only(others)).actions
        values, bounds = np.empty(len(net)), np.empty(len(net))
        for state in range(len(net)):
            self._oracle.forget()
            only = net.only([state])
            search = _Search(self._oracle, self._columns, only, self._range, actions[state])
            bounds[state] = search.run(self._limits)
            actions[state], values[state] = search.action, search.value
        return Answer(actions, values, bounds)


class _Search:
    """The search for the best action of one state."""

    def __init__(
        self,
        oracle: Oracle,
        columns: Columns,
        net: ReluNet,
        first_range: Layer,
        start: ActionArray,
    ) -> None:
        self._oracle = oracle
        self._columns = columns
        self._net = net
        self._range = first_range
        self._margin = _ROUNDING * _size_of_terms(net)
        # Known points, and which neurons are on in each, by layer.
        self._known = np.empty((0, net.n_inputs))
        self._is_on = [np.empty((0, len(matrix)), dtype=np.bool_) for matrix in net.weights]
        self._inputs: list[FloatArray] = []
        self.action, self.value = start, -np.inf
        self._take(start)

    def run(self, limits: Limits) -> float:
        """Split until the best known action is proven, or to a limit; return a bound."""
        end = time.perf_counter() + limits.seconds
        # The most promising part first and, of equal ones, the youngest.
        waiting = [(-np.inf, 0, Part.whole(self._net))]
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
        value = self._see(self._columns.encode(action[None])[0])
        if value > self.value:
            self.action, self.value = action, value
        return value

    def _see(self, point: FloatArray) -> float:
        """Get to know a point, and what its neurons see; return its value."""
        hidden = point
        self._known = _with(self._known, point)
        self._inputs = []
        for depth, matrix in enumerate(self._net.weights):
            bias = self._net.biases[depth - 1] if depth else self._net.first_bias[0]
            self._inputs.append(matrix @ hidden + bias)
            hidden = np.maximum(self._inputs[-1], 0.0)
            self._is_on[depth] = _with(self._is_on[depth], hidden > 0)
        return float(self._net.values(point[None, None])[0, 0])

    def _visit(self, point: FloatArray) -> None:
        """Get to know a point that the oracle found: an action, or something near one."""
        actions, is_own = self._columns.actions_at(point[None])
        if is_own[0]:
            self._take(actions[0])
        else:
            self._see(point)

    def _split(self, part: Part) -> tuple[float, list[Part]]:
        """Return a bound of ``part``, and its two halves; none where it is settled."""
        is_free = part.fixed < 0
        allowance = self._oracle.allowance.after(part.fixed)
        if allowance.most <= 0 or not is_free.any():
            return self._settle(part.fixed == 1), []
        net = part.restricted(self._net)
        layers = self._layers(net, allowance, part.sides)
        line = self._fit(net, layers, part)
        weights = np.zeros(len(is_free))
        weights[is_free] = line.weights
        point, heaviest = self._oracle.best(weights, part.fixed)
        bound = line.constant + heaviest + self._margin
        if point is not None:
            self._visit(point)
        elif np.isneginf(heaviest):
            return heaviest, []
        halves = None if point is None else self._by_neuron(part, layers, line, bound)
        return bound, halves or self._by_input(part, line, line.influence(net, layers), point)

    def _by_neuron(self, part: Part, layers: list[Layer], line: Line, bound: float) -> list[Part]:
        """Split on the neuron to which the bound owes most, given the action that was just taken.

        None where no neuron stands out.
        """
        lifts = line.lifts(layers, self._inputs)
        most = [float(lift.max(initial=0.0)) for lift in lifts]
        n_open = sum(int(layer.is_open.sum()) for layer in layers)
        share = _MAIN_SHARE_OF_FEW if n_open <= _FEW_OPEN else _MAIN_SHARE
        if max(most, default=0.0) <= share * max(bound - self.value, 0.0):
            return []
        layer = int(np.argmax(most))
        unit = int(lifts[layer].argmax())
        return [part.with_neuron(layer, unit, side, line.slopes) for side in (-1, 1)]

    def _by_input(
        self, part: Part, line: Line, influence: FloatArray, point: FloatArray | None
    ) -> list[Part]:
        """Split on a free input: one that is not whole, else a chosen one, if there is any."""
        is_free = part.fixed < 0
        rank = np.full(len(is_free), -1.0)
        rank[is_free] = influence
        if point is not None:
            is_chosen = point > _BROKEN[0]
            is_broken = is_chosen & (point < _BROKEN[1])
            for candidates in (is_free & is_broken, is_free & is_chosen):
                if candidates.any():
                    rank[~candidates] = -1.0
                    break
        place = int(rank.argmax())
        return [part.with_input(place, to, line.slopes) for to in (0, 1)]

    def _settle(self, chosen: BoolArray) -> float:
        """Return the value of the only inputs that are left, if they are those of an action."""
        action = chosen[: self._columns.space.n_actions].astype(np.int8)
        is_allowed = self._columns.space.allows(action[None])[0]
        if not is_allowed or not np.array_equal(self._columns.encode(action[None])[0], chosen):
            return -np.inf
        return self._take(action)

    def _layers(self, net: ReluNet, allowance: Allowance, sides: list[IntArray]) -> list[Layer]:
        """Return bounds of all neurons of a restricted network."""
        if not net.weights:
            return []
        bias, first = self._net.first_bias, net.weights[0]
        # Those over all actions are exact already, so that the quicker way is enough.
        most, least = np.split(allowance.largest_few(np.concatenate([first, -first])), 2)
        upper = np.minimum(bias + self._range.upper, net.first_bias + most)
        lower = np.maximum(bias + self._range.lower, net.first_bias - least)
        return all_layers(net, Layer(lower, np.maximum(upper, lower)), allowance.largest, sides)

    def _fit(self, net: ReluNet, layers: list[Layer], part: Part) -> Line:
        """Return a line that is low at the known actions of ``part``.

        The slope of a line below a ReLU is best where the ReLU is on or off for the action that
        is highest: so slopes move there, a little less every time.
        """
        slopes = part.slopes or [slopes_below(layer) for layer in layers]
        is_free = part.fixed < 0
        here = np.flatnonzero((is_free | (self._known == part.fixed)).all(axis=1))
        line = found = Line.over(net, layers, slopes)
        if not len(here) or not layers:
            return line
        points = self._known[here][:, is_free]
        lowest = np.inf
        for share in _SHARES:
            heights = points @ line.weights + line.constant
            highest = int(heights.argmax())
            if heights[highest] < lowest:
                found, lowest = line, heights[highest]
            if lowest <= self.value or not share:
                break
            is_on = [layer[here[highest]] for layer in self._is_on]
            slopes = [old + share * (on - old) for old, on in zip(slopes, is_on, strict=True)]
            line = Line.over(net, layers, slopes)
        return found


def _with(rows: NDArray[Kind], row: NDArray[Kind]) -> NDArray[Kind]:
    """Return the last ``rows`` and one more."""
    return np.concatenate([rows[1 - _MOST_KNOWN :], row[None]])


def _size_of_terms(net: ReluNet) -> float:
    """Return how large all terms of the value of one state are together, whatever cancels."""
    size = float(np.abs(net.linear[0]).sum() + np.abs(net.constant[0]))
    if net.weights:
        terms: FloatArray = np.abs(net.weights[0]).sum(axis=1) + np.abs(net.first_bias[0])
        for matrix, bias in zip(net.weights[1:], net.biases, strict=True):
            terms = np.abs(matrix) @ terms + np.abs(bias)
        size += float(np.abs(net.output) @ terms)
    return size
