"""Branch and bound for spaces where linear functions are quickly maximised: exact.

Best-first search (Land and Doig 1960). Its bound is the maximum over the space of a linear function
``alpha + beta @ x`` that lies above the network: see `ReluRelaxation`.
"""

import time
from dataclasses import replace
from heapq import heappop, heappush

import numpy as np

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.local_search import LocalSearch
from sequoia.optimize.engines.successive_linearisation import SuccessiveLinearisation
from sequoia.optimize.linear.oracles import LinearOracle, OracleResult, oracle_for, range_of
from sequoia.optimize.node import Node
from sequoia.optimize.relu_net import ROUNDING, PreactivationBounds, ReluNet, on_one_thread
from sequoia.optimize.relu_relaxation import ReluRelaxation
from sequoia.optimize.result import ArgmaxResult
from sequoia.proof import PROOF_GAP
from sequoia.solvers import Limits
from sequoia.validation import ActionArray, BoolArray, FloatArray

# Inputs of a point between these are not whole; solvers keep to 1e-7.
_BROKEN = (1e-6, 1 - 1e-6)
# So that inputs that move nothing, or are never chosen, come in some order: small beside any other.
_LITTLE = 1e-6
# A neuron is split where it alone makes up so much of what is left to prove, as no more than three
# can; else a column is, which moves all neurons.
_MAIN_SHARE = 0.3
# Lines and points answer each other while a round takes off so much of what is left to prove: one
# that gains less costs as much as a node, and splits gain more.
_WORTHWHILE, _MOST_ROUNDS = 0.1, 10
# What comes from a parent counts as much as so many rounds, so that the first do not undo it.
_AGE = 4


class BranchAndBound:
    """Bound the network by a linear function, let the space maximise that, and split.

    Every ReLU is replaced by a line, so that one linear function lies above the network. The space
    finds its maximum, which is a bound, and the lines are chosen anew to be low there. Where no
    choice helps, a column is fixed both ways, or a neuron taken to be on and to be off: then fewer
    neurons are open, and the lines come closer.
    """

    name = "branch"

    def __init__(self, columns: ActionEncoding, limits: Limits = Limits()) -> None:
        self._oracle = oracle_for(columns)
        self._columns = columns
        self._linearisation = SuccessiveLinearisation(columns, self._oracle)
        self._local = LocalSearch(columns)
        self._limits = limits
        self._weights = np.empty((0, 0))
        self._range = PreactivationBounds(np.empty(0), np.empty(0))

    @on_one_thread
    def best(self, net: ReluNet) -> ArgmaxResult:
        """Return the best action of each state, and what is proven about it."""
        # By value, because weights may be changed in place, or be equal in a new array.
        if net.weights and not np.array_equal(self._weights, net.weights[0]):
            self._oracle.forget()
            self._range = range_of(self._oracle, net.weights[0])
            self._weights = net.weights[0].copy()
        actions, is_known = self._linearisation.best(net, net.alone())
        if not is_known.all():
            others = np.flatnonzero(~is_known).tolist()
            actions[others] = self._local.best(net.only(others)).actions
        values, bounds = np.empty(len(net)), np.empty(len(net))
        is_proven, is_late = np.zeros((2, len(net)), dtype=np.bool_)
        for state in range(len(net)):
            self._oracle.forget()
            only = net.only([state])
            search = _Search(
                self._oracle, self._columns, only, self._range, actions[state], self._limits.gap
            )
            bounds[state] = search.run(self._limits)
            actions[state], values[state] = search.action, search.value
            is_proven[state] = search.is_proven(bounds[state])
            is_late[state] = search.is_late
        return ArgmaxResult(actions, values, bounds, is_proven, is_late)


class _Search:
    """The search for the best action of one state."""

    def __init__(
        self,
        oracle: LinearOracle,
        columns: ActionEncoding,
        net: ReluNet,
        first_range: PreactivationBounds,
        start: ActionArray,
        gap: float,
    ) -> None:
        if not net.weights:
            # One layer at least, if only of no units.
            net = replace(net, weights=(np.empty((0, net.n_inputs)),))
        self._oracle = oracle
        self._columns = columns
        self._net = net
        self._gap = gap
        self._margin = ROUNDING * float(net.size_of_terms()[0])
        self.action, self.value, self.is_late = start, -np.inf, False
        whole = Node.whole(net, first_range, self._take(start))
        if columns.dose_indicators is None:
            whole = whole.with_inputs(columns.space.settled)
        self._whole = whole

    def run(self, limits: Limits) -> float:
        """Split until the best known action is proven, or to a limit; return a bound."""
        end = time.perf_counter() + limits.seconds
        # The most promising node first and, of equal ones, the youngest.
        waiting = [(-np.inf, 0, self._whole)]
        proven, count = -np.inf, 0
        while waiting:
            bound = -waiting[0][0]
            is_done = self._is_done(bound)
            self.is_late = not is_done and time.perf_counter() >= end
            if is_done or self.is_late or count == limits.nodes:
                proven = max(proven, bound)
                break
            count += 1
            node_bound, halves = self._split(heappop(waiting)[2])
            bound = min(bound, node_bound)
            if not halves:
                proven = max(proven, bound)
            for rank, half in enumerate(halves):
                heappush(waiting, (-bound, -2 * count - rank, half))
        return max(proven, self.value)

    def is_proven(self, bound: float) -> bool:
        """Say whether ``bound`` proves the action to be best, whatever gap was asked for."""
        return bound <= self.value + 2 * PROOF_GAP * abs(self.value) + 2 * self._margin

    def _is_done(self, bound: float) -> bool:
        return bound <= self.value + self._gap * abs(self.value) + 2 * self._margin

    def _take(self, action: ActionArray) -> FloatArray:
        """Get to know an action; return its inputs."""
        inputs: FloatArray = self._columns.encode(action[None])[0]
        value = float(self._net.values(inputs[None, None])[0, 0])
        if value > self.value:
            self.action, self.value = action, value
        return inputs

    def _split(self, node: Node) -> tuple[float, list[Node]]:
        """Return a bound of ``node``, and its two halves; none where it is settled."""
        knapsack = self._oracle.knapsack.after(node.fixed)
        if knapsack.most <= 0 or (node.fixed >= 0).all():
            return self._settle(node.fixed == 1), []
        node = node.tightened(self._net, knapsack)
        relaxation = ReluRelaxation(self._net, node.layers, node.fixed)
        bound, node, factors = self._play(node, relaxation)
        if self._is_done(bound):
            return bound, []
        if (node.fixed >= 0).all():
            return self._settle(node.fixed == 1), []
        halves = self._branch_on_neuron(node, relaxation, factors, bound)
        return bound, halves or self._branch_on_input(node, relaxation.influence(factors))

    def _play(self, node: Node, relaxation: ReluRelaxation) -> tuple[float, Node, list[FloatArray]]:
        """Let lines and points answer each other: ``min over lines of max over points``.

        The steps ``2 / (k + 1)`` towards the lowest lines are those of Frank and Wolfe (1956).

        The oracle says where the function is highest, and the next lines are as low as can be at
        the mean of these points. Mixtures of such lines come close to the best there are.

        Returns
        -------
        bound, node, factors
            Of all actions in it, the node without what is too low, and the weight of each unit in
            the function that gave the bound.
        """
        net = self._net
        linear = np.where(node.fixed < 0, net.linear[0], 0.0)
        constant = float(net.constant[0] + net.linear[0] @ (node.fixed == 1)) + self._margin
        if node.lines is None:
            lines, age = relaxation.lowest(node.centre), 0
        else:
            lines, age = relaxation.kept(node.lines, node.centre), _AGE
        bound, centre = np.inf, node.centre
        for weight in range(age + 2, age + 2 + _MOST_ROUNDS):
            weights, shifts, factors = relaxation.over(net.output[None], lines)
            weights = linear + weights[0]
            answer = self._oracle.best(weights, node.fixed)
            height = constant + float(shifts[0]) + answer.weight
            fall = bound - height
            if fall > 0:
                bound, best = height, (lines, factors, answer)
            if answer.point is None:
                break
            self._visit(answer.point)
            centre = centre + (answer.point - centre) / weight
            if self._is_done(bound) or fall < _WORTHWHILE * (bound - self.value):
                break
            lines = lines.towards(relaxation.lowest(centre), 2 / (weight + 1))
        lines, factors, answer = best
        fixed = self._fix(node.fixed, answer, bound)
        return bound, replace(node, lines=lines, centre=centre).with_inputs(fixed), factors

    def _fix(self, fixed: ActionArray, answer: OracleResult, bound: float) -> ActionArray:
        """Fix all inputs that are as in the point in every action better than the best known."""
        if answer.point is None or answer.reduced_cost_bounds is None:
            return fixed
        is_whole = (answer.point < _BROKEN[0]) | (answer.point > _BROKEN[1])
        is_settled = (fixed < 0) & is_whole & (bound - answer.reduced_cost_bounds() <= self.value)
        return np.where(is_settled, np.rint(answer.point), fixed).astype(np.int8)

    def _visit(self, point: FloatArray) -> None:
        """Get to know a point that the oracle found: an action, or something near one."""
        if self._net.values(point[None, None])[0, 0] <= self.value:
            return
        actions, is_own = self._columns.actions_at(point[None])
        if is_own[0]:
            self._take(actions[0])

    def _branch_on_neuron(
        self, node: Node, relaxation: ReluRelaxation, factors: list[FloatArray], bound: float
    ) -> list[Node]:
        """Split on the neuron to which the bound owes most; not where none stands out."""
        assert node.lines is not None
        lifts = relaxation.lifts(node.lines, factors, node.centre)
        most = [float(lift.max(initial=0.0)) for lift in lifts]
        if max(most) <= _MAIN_SHARE * (bound - self.value):
            return []
        depth = int(np.argmax(most))
        return node.branch_on_neuron(depth, int(lifts[depth].argmax()))

    def _branch_on_input(self, node: Node, influence: FloatArray) -> list[Node]:
        """Split on a free input that moves many neurons, and is chosen often or now and then."""
        often = node.centre * (2.0 - node.centre)
        rank = np.where(node.fixed < 0, (influence + _LITTLE) * (often + _LITTLE), -1.0)
        return node.branch_on_input(int(rank.argmax()))

    def _settle(self, chosen: BoolArray) -> float:
        """Return the value of the only inputs that are left, if they are those of an action."""
        action = chosen[: self._columns.space.n_actions].astype(np.int8)
        is_allowed = self._columns.space.contains(action[None])[0]
        if not is_allowed or not np.array_equal(self._columns.encode(action[None])[0], chosen):
            return -np.inf
        self._take(action)
        return float(self._net.values(chosen[None, None])[0, 0])
