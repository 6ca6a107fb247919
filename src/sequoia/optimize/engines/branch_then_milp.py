"""Branch and bound for a while, then a program for what is left open."""

from dataclasses import replace
from functools import cached_property

import numpy as np

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.branch_and_bound import BranchAndBound
from sequoia.optimize.engines.milp import Milp
from sequoia.optimize.relu_net import ReluNet
from sequoia.optimize.result import ArgmaxResult
from sequoia.solvers import Limits

# A few seconds; trained networks take hundreds, seldom thousands.
MAX_NODES = 5_000


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
