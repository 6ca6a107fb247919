"""Tighten a bound to the integer hull of the action set, by column generation."""

import time

import numpy as np

from sequoia.bounds.lagrangian.arm_classes import ArmClasses
from sequoia.bounds.lagrangian.coupling import link_coupling
from sequoia.bounds.lagrangian.occupancy_lp import Mixture, solve_occupancies
from sequoia.bounds.lagrangian.prices import Prices
from sequoia.bounds.lagrangian.pricing_problem import PricingProblem
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import Problem
from sequoia.solvers import Highs, Limits
from sequoia.validation import FloatArray

# Prices from the middle of all that are best move less from round to round than those of a corner.
_CENTRAL = Highs(solver="ipm", run_crossover="off", presolve="off")
_REHEARSALS, _LEAST_REHEARSALS, _REHEARSING = 24, 8, 0.2
_MAX_ROUNDS = 200
_SMOOTHING = 0.6
_SETTLING = 0.1
_CARE = 0.2
_PATIENCE = 0.5
_MORE_PATIENCE = 4.0


def generate_columns(
    problem: Problem,
    columns: ActionEncoding,
    prices: Prices,
    total: float,
    seconds: float,
    gap: float,
) -> tuple[Prices, float, float, FloatArray]:
    """Improve prices until the rules hold on average over whole actions.

    The first actions are those of a policy that acts by the prices. Then each round asks, for every
    step, which whole action pays back most at the current prices. The proven answers make a bound,
    whether or not more rounds follow; the actions found extend the set whose mixtures the next
    prices are computed from.

    Parameters
    ----------
    prices, total
        Prices to begin from, every arm a tariff of its own, and the bound they prove.

    Returns
    -------
    prices, total, gap, vertices
        The best found, its relative distance from the best possible, and the inputs of the
        actions met on the way, ``(V, I)``.
    """
    search = _Search(problem, columns, prices, total, seconds, gap)
    search.seed_columns(time.perf_counter() + _REHEARSING * seconds)
    table = prices.table
    patience = _PATIENCE
    for _ in range(_MAX_ROUNDS):
        before, total = search.value, search.total
        is_new = search.price(table, patience)
        if search.is_late or not search.solve_master():
            break
        if search.gap <= gap or (not is_new and np.array_equal(table, search.mixed)):
            break
        is_settling = search.value - before < _SETTLING * max(search.total - search.value, 0.0)
        # Until mixtures stop improving, good actions are worth more than proofs.
        patience *= _MORE_PATIENCE if is_settling or not is_new else 1.0
        # After a step that was too wide, stay closer to the best prices.
        share = _SMOOTHING if is_new and search.total == total else 0.0
        table = share * search.best.table + (1 - share) * search.mixed
    return search.best, search.total, search.gap, search.oracle.vertices


def solve_restricted_master(
    problem: Problem,
    columns: ActionEncoding,
    arm_classes: ArmClasses,
    vertices: FloatArray,
    seconds: float,
) -> tuple[Mixture, FloatArray | None]:
    """Return the best mixture of given whole actions, ``(V, I)``, and its prices ``(B, T, L)``."""
    coupling = link_coupling(columns, vertices, problem.is_identity and _is_closed(problem))
    limits = Limits(seconds=seconds)
    found = solve_occupancies(arm_classes, coupling, limits, _CENTRAL)
    if not np.isfinite(found.value):
        found = solve_occupancies(arm_classes, coupling, limits)
    if found.prices is None:
        return found, None
    return found, coupling.level_prices(found.prices, arm_classes.allowed.shape[1])


class _Search:
    """The state of column generation: the actions found and the best prices."""

    def __init__(
        self,
        problem: Problem,
        columns: ActionEncoding,
        prices: Prices,
        total: float,
        seconds: float,
        gap: float,
    ) -> None:
        self._problem, self._columns = problem, columns
        self._deadline = time.perf_counter() + seconds
        self._aim = gap
        self.oracle = PricingProblem(columns)
        self.best, self.total = prices, total
        self.value = -np.inf
        self.mixed = prices.table

    @property
    def is_late(self) -> bool:
        return time.perf_counter() >= self._deadline

    @property
    def gap(self) -> float:
        if not np.isfinite(self.value):
            return float("inf")
        return max(0.0, self.total - self.value) / max(abs(self.total), 1e-9)

    def seed_columns(self, deadline: float) -> None:
        """Play episodes by the first prices, to meet good actions, while new ones turn up."""
        prices, horizon = self.best, self.best.arm_classes.horizon
        start = prices.arm_classes.initial_mass[prices.arm_class].cumsum(axis=1)[:, :-1]
        steps = horizon.steps + (self._problem.horizon if horizon.is_endless else 0)
        for episode in range(_REHEARSALS):
            rng = np.random.default_rng(episode)
            state = (rng.random(len(start))[:, None] >= start).sum(axis=1)
            known = len(self.oracle.vertices)
            for step in range(steps):
                weights, _ = self._columns.objective(prices.weights(state, step)[None])
                action = self.oracle.meet(weights[0], _PATIENCE)
                if action is None or time.perf_counter() > deadline:
                    return
                luck = rng.random((1, len(state)))
                state = self._problem.transition(state[None], action[None], luck)[0]
            if episode >= _LEAST_REHEARSALS and len(self.oracle.vertices) == known:
                return

    def price(self, table: FloatArray, patience: float) -> bool:
        """Ask for the best action of each block; return whether one was new.

        ``patience`` is how long the solver may take for one block, in seconds.
        """
        arm_classes = self.best.arm_classes
        by_arm = table[:, arm_classes.price_class[self.best.arm_class]]
        weights = arm_classes.horizon.weights
        # Errors of a fifth of the gap in hand do no harm yet, and spare the solver much work.
        left = self.gap if np.isfinite(self.gap) else 0.0
        allowance = _CARE * max(left, self._aim) * abs(self.total) / float(weights.sum())
        worth, constant = self._columns.objective(by_arm)
        bounds, is_new = self.oracle.ask(worth, allowance, self._deadline, patience)
        support = bounds + constant
        total = float(arm_classes.dual_value(table).sum()) + float(weights @ support)
        if total < self.total:
            self.total = total
            self.best = Prices(arm_classes, self.best.arm_class, table, support)
        return is_new

    def solve_master(self) -> bool:
        """Find prices for mixtures of the actions known; return whether the solver did."""
        vertices = self.oracle.vertices
        if not len(vertices):
            return False
        left = max(self._deadline - time.perf_counter(), 0.1)
        found, table = solve_restricted_master(
            self._problem, self._columns, self.best.arm_classes, vertices, left
        )
        if table is None or not np.isfinite(found.value):
            return False
        self.value, self.mixed = found.value, table
        return True


def _is_closed(problem: Problem) -> bool:
    """Whether dropping a column from a feasible action leaves it feasible, as far as is known."""
    base, rules = problem.space.base, problem.space.rules
    is_free = not rules.must and not any(floor.share or floor.count for floor in rules.floors)
    return base.is_down_closed and is_free
