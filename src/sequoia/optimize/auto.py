"""The engine that picks the engine; branch and bound for a while, then a program."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from sequoia.errors import TooLarge
from sequoia.optimize.by_state import ByState
from sequoia.optimize.dose_groups import DoseGroup
from sequoia.optimize.encoding import ActionEncoding, few_actions
from sequoia.optimize.engines.branch_and_bound import BranchAndBound
from sequoia.optimize.engines.enumeration import Enumeration
from sequoia.optimize.engines.local_search import LocalSearch
from sequoia.optimize.engines.milp import Milp
from sequoia.optimize.linear.argmax import LinearArgmax
from sequoia.optimize.linear.dose_tables import DoseTableArgmax
from sequoia.optimize.linear.oracles import has_oracle
from sequoia.optimize.linear.packing import Construction, Packing
from sequoia.optimize.relu_net import ReluNet
from sequoia.optimize.result import Argmax, ArgmaxResult
from sequoia.problem import ActionLimits
from sequoia.proof import PROOF_GAP
from sequoia.solvers import Limits
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

# A few seconds; trained networks take hundreds, seldom thousands.
MAX_NODES = 5_000
# More take longer to try than a local search, where no proof is asked for.
_MOST_WITHOUT_PROOF = 50_000
# States times actions whose values are looked at together: 40 MB.
_TOGETHER = 5_000_000


class BranchThenMilp:
    """`BranchAndBound`, and `Milp` for the states that take it too many nodes.

    For spaces whose program is easy. Branch and bound is faster for most networks; a program is
    for some that were not trained. Each may take half of the time.
    """

    name = "branch-then-milp"

    def __init__(self, columns: ActionEncoding, limits: Limits, workers: int = 1) -> None:
        self._columns = columns
        self._half = replace(limits, seconds=limits.seconds / 2)
        self._workers = workers
        self._branch = BranchAndBound(columns, replace(self._half, nodes=MAX_NODES))

    @cached_property
    def _program(self) -> Milp:
        return Milp(self._columns, limits=self._half, workers=self._workers)

    def best(self, net: ReluNet) -> ArgmaxResult:
        """Return the best action of each state, and what is proven about it."""
        first = self._branch.best(net)
        left = np.flatnonzero(~first.is_proven & (first.gaps > self._half.gap))
        if not len(left):
            return first
        then = self._program.improve(net.only(left.tolist()), first.actions[left])
        # Both bounds hold. The program begins from the first action and never ends on a worse one.
        bounds = np.maximum(np.minimum(first.bounds[left], then.bounds), then.values)
        place = np.arange(len(net))
        place[left] = len(net) + np.arange(len(left))
        return ArgmaxResult.joined([first, replace(then, bounds=bounds)]).only(place)


class Auto:
    """Enumerate if there are few actions; else local search, then a proof, if it is asked for.

    The proof is by `BranchAndBound` where linear functions are quickly maximised, else by a
    program; see `BranchThenMilp` for spaces where both are quick. Where the network has no
    hidden layer, or its hidden layer is a sum of tables, there is a shorter way: see `LinearArgmax`
    and `DoseTableArgmax`; without a proof, `Construction` where it is good.

    Parameters
    ----------
    gap
        How far from the best an action may provably be; ``None`` asks for no proof, which is what
        training wants.
    seconds
        Time limit for the proof of one state; what is known by then is returned with its gap.

    Attributes
    ----------
    lists_actions
        Whether there are few enough actions to try them all.
    """

    name = "auto"

    def __init__(
        self,
        columns: ActionEncoding,
        gap: float | None = PROOF_GAP,
        seconds: float = float("inf"),
        workers: int = 1,
    ) -> None:
        limits = Limits(seconds, PROOF_GAP if gap is None else gap)
        self._columns, self._limits = columns, limits
        self._of_tables: DoseTableArgmax | None = None
        self.lists_actions = True
        try:
            listed = Enumeration(columns)
            is_quicker = gap is None and len(listed) > _MOST_WITHOUT_PROOF
            self._engine: Argmax = LocalSearch(columns) if is_quicker else listed
            self._linear: Argmax = listed
            if is_quicker and has_oracle(columns):
                self._linear = LinearArgmax(columns, limits=limits)
                self.lists_actions = False
        except TooLarge:
            self.lists_actions = False
            linear = LinearArgmax(columns, limits=limits)
            if gap is None:
                self._engine = LocalSearch(columns)
            elif has_oracle(columns):
                is_quick = columns.space.base.has_quick_program
                self._engine = (
                    BranchThenMilp(columns, limits, workers)
                    if is_quick
                    else BranchAndBound(columns, limits)
                )
            else:
                self._engine = Milp(columns, limits=limits, workers=workers)
            self._linear = linear
            if gap is None and Construction.is_good_in(columns):
                self._linear = Construction(columns)
            elif gap is None and linear.is_hard:
                self._linear = self._engine

    def best(self, net: ReluNet) -> ArgmaxResult:
        """Return the best action of each state, proven as far as asked."""
        if net.tables is not None:
            together = self._together(net.tables.groups)
            if together.takes_inputs:
                return together.best_of(net)
        return (self._engine if net.weights else self._linear).best(net)

    def _together(self, groups: Sequence[DoseGroup]) -> DoseTableArgmax:
        if self._of_tables is None or self._of_tables.groups is not groups:
            self._of_tables = DoseTableArgmax(self._columns, groups, limits=self._limits)
        return self._of_tables


class RolloutAuto:
    """Good actions of many functions, for rollouts: exact, unless that takes a solver long.

    Made for linear functions; others are taken as well, one after the other.

    Attributes
    ----------
    is_batched
        Whether the space answers all at once.
    lists_actions
        Whether it does not, but has so few actions that all are tried.
    packs
        Whether rules are rows alone, so that actions are packed by them where a state limits them.
    """

    def __init__(self, encoding: ActionEncoding) -> None:
        self._encoding, linear = encoding, LinearArgmax(encoding)
        self.is_batched = linear.is_batched
        self._by_state = ByState(encoding, partial(Auto, gap=None))
        self._packing: Packing | None = None
        self._engine: Argmax = linear if self.is_batched else self._any
        self.lists_actions = not self.is_batched and self._any.lists_actions
        self.packs = encoding.dose_indicators is None and Packing.applies_to(encoding.space)

    @cached_property
    def _any(self) -> Auto:
        return self._by_state.at(None)

    @property
    def n_inputs(self) -> int:
        """``I``."""
        return self._encoding.n_inputs

    @property
    def all_actions(self) -> ActionArray | None:
        """All actions, ``(A, N)``, where these are so few that all are tried."""
        return self._listed[0] if self.lists_actions and self._listed is not None else None

    @property
    def n_actions(self) -> int | None:
        """How many actions there are, where they can be listed."""
        return None if self._listed is None else len(self._listed[0])

    def encode(self, actions: ActionArray) -> FloatArray:
        """Return the inputs of actions, ``(B, N)`` to ``(B, I)``."""
        return self._encoding.encode(actions)

    @cached_property
    def microseconds(self) -> float:
        """About how long an argmax takes: a rough guess, the same on every machine."""
        space = self._encoding.space
        if self.is_batched:
            return max(1.0, space.n_actions / 50)
        if self._listed is not None:
            return 20 + len(self._listed[0]) / 600
        if self.packs:
            return 50 + space.n_actions
        return space.base.argmax_microseconds

    def best(self, weights: FloatArray, limits: ActionLimits | None = None) -> ActionArray:
        """Return an action by the weights of its inputs, ``(B, I)``, for each row.

        ``limits`` are what is allowed in each row's state.
        """
        if limits is None:
            return self._engine.best(ReluNet.of_linear(weights)).actions
        actions = np.zeros((len(weights), self._encoding.space.n_actions), dtype=np.int8)
        left = np.arange(len(weights))
        for find in (self._all_at_once, self._picked, self._packed):
            best, is_best = find(weights[left], limits.only(left))
            actions[left[is_best]], left = best[is_best], left[~is_best]
        if len(left):
            net = ReluNet.of_linear(weights[left])
            actions[left] = self._by_state.best(net, limits.only(left)).actions
        return actions

    def best_of(self, net: ReluNet, limits: ActionLimits | None = None) -> ActionArray:
        """Return an action for each function, linear or not."""
        if net.weights:
            return self._by_state.best(net, limits).actions
        return self.best(net.linear, limits)

    def _all_at_once(
        self, weights: FloatArray, limits: ActionLimits
    ) -> tuple[ActionArray, BoolArray]:
        """Return the best actions by weights that keep columns within bounds.

        Where they keep the rows within theirs as well, there are no better ones.
        """
        space = self._encoding.space
        best = space.argmax_linear_batch(limits.weighted(weights)) if self.is_batched else None
        if best is None:
            return _nothing(len(weights), space.n_actions)
        return best, limits.holds(best)

    def _picked(self, weights: FloatArray, limits: ActionLimits) -> tuple[ActionArray, BoolArray]:
        """Return the best of all actions, where they are few, and where any is allowed."""
        if not len(weights) or self._listed is None:
            return _nothing(len(weights), self._encoding.space.n_actions)
        actions, inputs = self._listed
        pick = np.empty(len(weights), dtype=np.int64)
        is_any = np.empty(len(weights), dtype=np.bool_)
        few = max(1, _TOGETHER // len(actions))
        for first in range(0, len(weights), few):
            part = slice(first, first + few)
            allowed = limits.only(part).allowed(actions)
            values = np.where(allowed, weights[part] @ inputs.T, -np.inf)
            pick[part], is_any[part] = values.argmax(axis=1), allowed.any(axis=1)
        return actions[pick], is_any

    def _packed(self, weights: FloatArray, limits: ActionLimits) -> tuple[ActionArray, BoolArray]:
        """Return good actions where rules are rows alone, and where they are feasible."""
        space = self._encoding.space
        if not len(weights) or not self.packs:
            return _nothing(len(weights), space.n_actions)
        if self._packing is None or self._packing.rows is not limits.matrix:
            self._packing = Packing(space, limits)
        return self._packing.best(weights, limits)

    @cached_property
    def _listed(self) -> tuple[ActionArray, FloatArray] | None:
        """All actions and their inputs, where they are few."""
        if self.lists_actions:
            actions: ActionArray | None = Enumeration(self._encoding).actions
        else:
            actions = few_actions(self._encoding.space)
        return None if actions is None else (actions, self._encoding.encode(actions))


def _nothing(count: int, columns: int) -> tuple[ActionArray, BoolArray]:
    return np.zeros((count, columns), dtype=np.int8), np.zeros(count, dtype=np.bool_)


def within_limits(
    argmax: RolloutAuto, limits: ActionLimits | None
) -> Callable[[FloatArray, IntArray], ActionArray]:
    """Return the argmax of weights, ``(B, I)``, in the states that rows are for, ``(B,)``."""

    def best(weights: FloatArray, state: IntArray) -> ActionArray:
        return argmax.best(weights, None if limits is None else limits.only(state))

    return best
