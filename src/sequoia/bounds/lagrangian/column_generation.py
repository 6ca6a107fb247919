"""Tighten a bound to the integer hull of the action set, by column generation.

The relaxation over mixtures of whole actions (Dantzig and Wolfe 1960) has a column for every action
``a`` and step ``t``, with weight ``mu[t, a]``::

    max  sum r x  with  x flows through the states of each arm,
                        sum_s x[j, t, s, d] = sum_a mu[t, a] [d_j(a) = d]   (price lambda[j, t, d])
                        sum_a mu[t, a] = 1.

The *restricted master* has the actions met so far. Its duals go to the *pricing problem*,
``h_t = max_a sum_j lambda[j, t, d_j(a)]``, which finds new actions and, at any prices, a bound
(Hawkins 2003; Adelman and Mersereau 2008), with ``w_t`` the weight of step t::

    L(lambda) = sum_j V_j(lambda) + sum_t w_t h_t(lambda)  >=  the best of the master.

Budgets over several steps are rows of the master. Their prices ``nu`` are paid by the arms on top
of ``lambda``, and given back: see `Windows`.

Duals of a restricted master jump about. So prices are asked for at
``alpha best + (1 - alpha) master``, with ``best`` those of the least L so far (Wentges 1997).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sequoia.bounds.certificate import Deadline
from sequoia.bounds.lagrangian.arm_classes import ArmClasses
from sequoia.bounds.lagrangian.coupling import link_coupling
from sequoia.bounds.lagrangian.occupancy_lp import OccupancySolution, solve_occupancies
from sequoia.bounds.lagrangian.prices import Prices
from sequoia.bounds.lagrangian.pricing_problem import PricingProblem
from sequoia.bounds.lagrangian.windows import Windows
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import Problem
from sequoia.solvers import default_solver
from sequoia.validation import FloatArray

# Measured until a gap of 1e-4: 9 rounds on 20 stations, 13 for 30 capacity arms, 15 on 40 stations.
# Walks among a hundred stations take more, and gain less and less.
ROUNDS = 200
# Prices from the middle of all that are best (an interior point) move less from round to round than
# those of a corner. SCIP has none to offer.
_CENTRAL: dict[str, dict[str, Any]] = {
    "highs": {"solver": "ipm", "run_crossover": "off", "presolve": "off"},
    "gurobi": {"Method": 2, "Crossover": 0, "Presolve": 0},
}
# Episodes that are played for the first actions: a few in any case, more while they meet new ones.
_LEAST_EPISODES, _MOST_EPISODES = 8, 24
# alpha. Prices from the middle jump little, so that 0 to 0.6 take as many rounds in the same cases;
# 0.9 takes up to a third more, because bad prices are left slowly.
_SMOOTHING = 0.6
# Mixtures have settled when a round closes less than this share of the gap.
_SETTLING = 0.1
# Errors of a fifth of the gap in hand do no harm yet, and spare the solver much work.
_CARE = 0.2
# Nodes for one step's best action: at first a good action is enough, and mostly its program ends at
# the root. Where mixtures have settled, proofs are what is missing, and are given more and more.
_NODES, _MORE_NODES, _MOST_NODES = 50, 4, 12_800


@dataclass(frozen=True, eq=False)
class Generated:
    """The result of column generation.

    Attributes
    ----------
    prices, total
        The best prices, and the bound they prove.
    gap
        Relative distance of the bound from the best possible.
    vertices
        Inputs of the actions met on the way, ``(V, I)``.
    """

    prices: Prices
    total: float
    gap: float
    vertices: FloatArray


def generate_columns(
    problem: Problem,
    columns: ActionEncoding,
    prices: Prices,
    total: float,
    windows: Windows | None = None,
    by_window: FloatArray | None = None,
    *,
    rounds: int,
    gap: float,
    deadline: Deadline,
) -> Generated:
    """Improve prices until the rules hold on average over whole actions.

    The first actions are those of a policy that acts by the prices. Whatever ends it, the bound is
    that of the best prices so far.

    Parameters
    ----------
    prices, total
        Prices to begin from, every arm a price class of its own, and the bound they prove.
    windows, by_window
        Budgets over several steps, and their prices to begin from, ``(V,)``.
    rounds
        How often the master is solved at most.
    gap
        Relative distance from the best possible that is close enough.
    """
    search = _Search(problem, columns, prices, total, gap, deadline, windows, by_window)
    search.seed_columns()
    point, nodes = search.best_point, _NODES
    for _ in range(rounds):
        before, total = search.value, search.total
        is_new, is_cut = search.price(point, nodes)
        if deadline.is_over() or not search.solve_master():
            break
        is_same = not is_new and point.is_equal(search.master_point)
        if search.gap <= gap or (is_same and (not is_cut or nodes == _MOST_NODES)):
            break
        is_settling = search.value - before < _SETTLING * max(search.total - search.value, 0.0)
        # Until mixtures stop improving, good actions are worth more than proofs.
        if is_settling or not is_new:
            nodes = min(_MORE_NODES * nodes, _MOST_NODES)
        # After a step that was too wide, stay closer to the best prices.
        share = _SMOOTHING if is_new and search.total == total else 0.0
        point = search.best_point.mixed(search.master_point, share)
    return Generated(search.best, search.total, search.gap, search.pricing.vertices)


def solve_restricted_master(
    problem: Problem,
    columns: ActionEncoding,
    arm_classes: ArmClasses,
    vertices: FloatArray,
    deadline: Deadline,
    windows: Windows | None = None,
) -> tuple[OccupancySolution, FloatArray | None]:
    """Return the best mixture of given whole actions, ``(V, I)``, and its prices ``(B, T, L)``."""
    coupling = link_coupling(columns, vertices, problem.is_identity and _is_closed(problem))
    central = default_solver(**_CENTRAL)
    solved = solve_occupancies(arm_classes, coupling, deadline, central, windows)
    if not np.isfinite(solved.value) and not deadline.is_over():
        solved = solve_occupancies(arm_classes, coupling, deadline, windows=windows)
    if solved.prices is None:
        return solved, None
    return solved, coupling.level_prices(solved.prices, arm_classes.allowed.shape[1])


class _Point(NamedTuple):
    """Prices at which a bound is asked for.

    Attributes
    ----------
    table
        What arms pay for the rules of each step, ``(B, T, L)``.
    by_window
        Prices of budgets over several steps, ``(V,)``; none without such budgets.
    """

    table: FloatArray
    by_window: FloatArray

    def mixed(self, other: "_Point", share: float) -> "_Point":
        """Return the point between both that is this one by a share."""
        return _Point(
            *(share * old + (1 - share) * new for old, new in zip(self, other, strict=True))
        )

    def is_equal(self, other: "_Point") -> bool:
        """Say whether both are the same."""
        return all(np.array_equal(old, new) for old, new in zip(self, other, strict=True))


class _Search:
    """The state of column generation: the actions found and the best prices."""

    def __init__(
        self,
        problem: Problem,
        columns: ActionEncoding,
        prices: Prices,
        total: float,
        gap: float,
        deadline: Deadline,
        windows: Windows | None,
        by_window: FloatArray | None,
    ) -> None:
        self._problem, self._columns = problem, columns
        self._windows = windows
        self._deadline = deadline
        self._aim = gap
        self.pricing = PricingProblem(columns, deadline)
        self.best, self.total = prices, total
        self.value = -np.inf
        table = prices.table if prices.tolls is None else prices.table - prices.tolls
        self.best_point = _Point(table, np.empty(0) if by_window is None else by_window)
        self.master_point = self.best_point

    @property
    def gap(self) -> float:
        if not np.isfinite(self.value):
            return float("inf")
        # Rewards are about 1 here, so that a total below 1e-9 is none.
        return max(0.0, self.total - self.value) / max(abs(self.total), 1e-9)

    def seed_columns(self) -> None:
        """Play episodes by the first prices, to meet good actions, while new ones turn up."""
        prices, horizon = self.best, self.best.arm_classes.horizon
        start = prices.arm_classes.initial_mass[prices.arm_class].cumsum(axis=1)[:, :-1]
        steps = horizon.steps + (self._problem.horizon if horizon.is_endless else 0)
        for episode in range(_MOST_EPISODES):
            rng = np.random.default_rng(episode)
            state = (rng.random(len(start))[:, None] >= start).sum(axis=1)
            known = len(self.pricing.vertices)
            for step in range(steps):
                weights, _ = self._columns.objective(prices.weights(state, step)[None])
                action = self.pricing.meet(weights[0], _NODES)
                if action is None or self._deadline.is_over():
                    return
                luck = rng.random((1, len(state)))
                state = self._problem.transition(state[None], action[None], luck)[0]
            if episode >= _LEAST_EPISODES and len(self.pricing.vertices) == known:
                return

    def price(self, point: _Point, nodes: int) -> tuple[bool, bool]:
        """Ask for the best action of each block, ``nodes`` for each, and bound by the answers.

        Returns whether an action was new, and whether a limit cut a proof off.
        """
        arm_classes, table, tolls = self.best.arm_classes, point.table, None
        by_arm = table[:, arm_classes.price_class[self.best.arm_class]]
        weights = arm_classes.horizon.weights
        left = self.gap if np.isfinite(self.gap) else 0.0
        allowance = _CARE * max(left, self._aim) * abs(self.total) / float(weights.sum())
        worth, constant = self._columns.objective(by_arm)
        bounds, is_new, is_cut = self.pricing.ask(worth, allowance, nodes)
        support = bounds + constant
        if self._windows is not None:
            tolls = self._windows.tolls(point.by_window, table.shape[2])
            table = table + tolls
            support = support + self._windows.support(point.by_window)
        total = float(arm_classes.dual_value(table).sum()) + float(weights @ support)
        if total < self.total:
            self.total, self.best_point = total, point
            self.best = Prices(arm_classes, self.best.arm_class, table, support, tolls)
        return is_new, is_cut

    def solve_master(self) -> bool:
        """Find prices for mixtures of the actions known; return whether the solver did."""
        vertices = self.pricing.vertices
        if not len(vertices):
            return False
        solved, table = solve_restricted_master(
            self._problem,
            self._columns,
            self.best.arm_classes,
            vertices,
            self._deadline,
            self._windows,
        )
        if table is None or not np.isfinite(solved.value):
            return False
        by_window = np.empty(0) if solved.tolls is None else solved.tolls
        self.value, self.master_point = solved.value, _Point(table, by_window)
        return True


def _is_closed(problem: Problem) -> bool:
    """Whether dropping a column from a feasible action leaves it feasible, as far as is known."""
    base, rules = problem.space.base, problem.space.rules
    is_free = not rules.must and not any(floor.share or floor.count for floor in rules.floors)
    return base.is_down_closed and is_free
