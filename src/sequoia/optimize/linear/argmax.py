"""The best action of a linear objective: exact, by the shortest way that a space offers."""

import time
from collections import OrderedDict
from dataclasses import replace
from functools import cached_property

import numpy as np

from sequoia.errors import InfeasibleDecision, SolverFailed
from sequoia.optimize.encoding import ActionEncoding, few_actions
from sequoia.optimize.exact_solve import solve_exactly_by_rules
from sequoia.optimize.linear.core_problem import CoreProblem
from sequoia.optimize.linear.gap_enumeration import best_within_gap
from sequoia.optimize.linear.oracles import LpOracle, has_quick_relaxation
from sequoia.optimize.relu_net import NetworkError, ReluNet
from sequoia.optimize.result import ArgmaxResult, is_close
from sequoia.problem import Decision
from sequoia.problem.iis import no_decision
from sequoia.problem.spaces import ActionSpace
from sequoia.scaling import unit_of
from sequoia.solvers import HIDDEN_SHARE, Highs, Limits, Program, Solver, Status, default_solver
from sequoia.validation import ActionArray, FloatArray

# With fewer columns a program as it is takes milliseconds.
_LEAST_FOR_CORE = 1_000
# Points of solved programs that are kept to begin from: 25 MB where there are 3,000 columns.
_MOST_POINTS = 1_024
# A search that ends so late was ended by the clock.
_NEARLY_UP = 0.9
# Work, not time: so many greedy constructions.
_ROUNDS = 40
# Which share of columns is dropped: enough for another order, too little for another beginning.
_DROPPED = 0.35
# By what weights are multiplied when actions are grown again, so that another one comes out.
_NOISE = (0.7, 1.3)


class LinearArgmax:
    """Maximises a weight per input over the feasible actions.

    Some spaces know how. Else actions are listed where they are few, and most columns are decided
    by row prices where they are very many. Otherwise the linear relaxation of the rules is solved.
    Where its best point is no action, those that its prices do not rule out are listed or, where
    they are many, a program is solved; it is built once, and only its objective changes.
    """

    name = "linear"

    def __init__(
        self,
        columns: ActionEncoding,
        solver: Solver | None = None,
        limits: Limits = Limits(),
    ) -> None:
        self._columns = columns
        self._solver = default_solver() if solver is None else solver
        # Relaxations are kept in HiGHS; whoever asks for another solver is given its programs.
        is_usual = solver is None and self._solver.name == Highs.name
        self._relaxes = is_usual and has_quick_relaxation(columns)
        self._limits = limits
        self._points: OrderedDict[bytes, FloatArray] = OrderedDict()

    def best(self, net: ReluNet) -> ArgmaxResult:
        """Return the best action of each state; ``net`` must have no hidden layer."""
        if net.weights:
            raise NetworkError(
                f"the network has {len(net.weights)} hidden layers; a linear one has none."
            )
        best = self._required(self.maximise(net.linear))
        values = net.values(self._columns.encode(best.actions)[:, None, :])[:, 0]
        return replace(best, values=values, bounds=np.maximum(best.bounds + net.constant, values))

    def best_doses(self, tables: FloatArray) -> ArgmaxResult:
        """Return the actions that maximise the sum over arms of each table, ``(B, J, L)``."""
        weights, constants = self._columns.objective(tables)
        best = self.maximise(weights)
        return replace(best, values=best.values + constants, bounds=best.bounds + constants)

    def decide(self, table: FloatArray) -> Decision:
        """Return the decision that maximises the sum over arms of ``table``, ``(J, L)``."""
        best = self._required(self.best_doses(table[None]))
        return self._columns.space.certify(best.actions[0])

    def _required(self, best: ArgmaxResult) -> ArgmaxResult:
        """Return ``found``, or say that a limit was reached before there was any action."""
        if not best.is_found.all():
            raise SolverFailed(f"no decision was found in {self._limits}.")
        return best

    def maximise(
        self,
        weights: FloatArray,
        limits: Limits | None = None,
        starts: ActionArray | None = None,
    ) -> ArgmaxResult:
        """Return the action that maximises each row of ``weights``, ``(B, I)``, over its inputs.

        ``starts``, ``(B, N)``, are actions found before, to begin from.
        """
        known = self._all_at_once(weights)
        if known is not None:
            values = (known * weights).sum(axis=1)
            return ArgmaxResult.proven(known, values)
        limits = self._limits if limits is None else limits
        rows = [
            self._best_of_one(objective, limits, None if starts is None else starts[row])
            for row, objective in enumerate(weights)
        ]
        if not rows:
            nothing = np.zeros((0, self._columns.space.n_actions), dtype=np.int8)
            return ArgmaxResult.unproven(nothing, np.empty(0))
        return ArgmaxResult.joined(rows)

    @property
    def is_batched(self) -> bool:
        """Whether many linear functions are maximised all at once."""
        return self._all_at_once(np.zeros((1, self._columns.n_inputs))) is not None

    def _all_at_once(self, weights: FloatArray) -> ActionArray | None:
        """Return the best action for each row of ``weights``, ``(B, I)``, if that is quick."""
        if self._columns.dose_indicators is not None:
            return None
        return self._columns.space.argmax_linear_batch(weights)

    def _best_of_one(
        self, weights: FloatArray, limits: Limits, start: ActionArray | None
    ) -> ArgmaxResult:
        space = self._columns.space
        if len(weights) == space.n_actions:
            began = time.monotonic()
            bracket = space.bracket_linear(weights, limits)
            if bracket is not None:
                is_up = time.monotonic() - began >= _NEARLY_UP * limits.seconds
                solved = self._exactly(bracket[0], weights, bracket[1])
                return replace(solved, is_late=~solved.is_proven & is_up)
        action = self._argmax_of_space(weights)
        if action is not None:
            return self._exactly(action, weights)
        if self._listed is not None:
            actions, inputs = self._listed
            return self._exactly(actions[int((inputs @ weights).argmax())], weights)
        if self._relaxes:
            relaxed = self._relaxed(weights)
            if relaxed is not None:
                return relaxed
        # From here on, weights are about 1 and tolerances mean the same.
        unit = unit_of(weights)
        solved = self._core_or_program(weights / unit, limits, start)
        hidden = HIDDEN_SHARE * float(np.abs(weights).max(initial=0.0))
        bound = float(solved.bounds[0]) * unit + hidden
        if not solved.is_found[0]:
            return replace(solved, bounds=np.array([bound]))
        return replace(self._exactly(solved.actions[0], weights, bound), is_late=solved.is_late)

    def _relaxed(self, weights: FloatArray) -> ArgmaxResult | None:
        """Return the best action by the linear relaxation: its best point, or one near it."""
        self._relaxation.forget()
        nothing = np.full(len(weights), -1, dtype=np.int8)
        relaxed = self._relaxation.best(weights, nothing)
        if relaxed.point is None or relaxed.reduced_cost_bounds is None:
            return None
        actions, is_own = self._columns.actions_at(relaxed.point[None])
        if is_own[0]:
            exactly = self._exactly(actions[0], weights, relaxed.weight)
            if exactly.is_proven[0]:
                return exactly
        space = self._columns.space
        if self._columns.dose_indicators is not None or not space.has_quick_contains:
            return None
        losses = relaxed.reduced_cost_bounds()
        action = best_within_gap(space, weights, relaxed.point, losses, relaxed.weight)
        return None if action is None else self._exactly(action, weights)

    @cached_property
    def _relaxation(self) -> LpOracle:
        self._columns.require_feasible()
        return LpOracle(self._columns)

    def _core_or_program(
        self, weights: FloatArray, limits: Limits, start: ActionArray | None
    ) -> ArgmaxResult:
        if self._core is not None:
            return self._core.best(weights, limits)
        point = None if start is None else self._points.get(start.tobytes())
        hint = self.hint(weights) if self._needs_hint else None
        if point is None and hint is not None:
            point = self._columns.point(hint)
        solved = self._solve(weights, limits, point)
        if hint is not None and weights @ hint > solved.values[0]:
            return replace(solved, actions=hint[None], values=np.array([weights @ hint]))
        return solved

    @cached_property
    def is_easy(self) -> bool:
        """Whether no solver is needed, or hardly ever."""
        if self._argmax_of_space(np.zeros(self._columns.n_inputs)) is not None:
            return True
        return self._listed is not None

    @property
    def is_hard(self) -> bool:
        """Whether a solver is needed that may not find a good action by itself."""
        return not self.is_easy and self._needs_hint

    @property
    def _needs_hint(self) -> bool:
        """Whether a program is a poor way: the space has a better one, which extra rules bar."""
        space = self._columns.space
        return self._columns.dose_indicators is None and not space.base.has_quick_program

    def hint(self, weights: FloatArray) -> ActionArray | None:
        """Return a good action, ``(N,)``, quickly and without proof, where inputs are columns."""
        return ruin_and_recreate(self._columns.space, weights)

    def _argmax_of_space(self, weights: FloatArray) -> ActionArray | None:
        """Ask the space, which knows nothing of dose indicators."""
        space = self._columns.space
        return space.argmax_linear(weights) if len(weights) == space.n_actions else None

    @cached_property
    def _listed(self) -> tuple[ActionArray, FloatArray] | None:
        """All feasible actions ``(A, N)`` and their inputs ``(A, I)``, where they are few."""
        actions = few_actions(self._columns.space)
        if actions is None:
            return None
        return actions, self._columns.encode(actions)

    @cached_property
    def _core(self) -> CoreProblem | None:
        """For very many columns of few kinds."""
        has_doses = self._columns.dose_indicators is not None
        if has_doses or self._columns.space.n_actions < _LEAST_FOR_CORE:
            return None
        core = CoreProblem(self._columns.system, self._solver)
        return core if core.is_useful else None

    @cached_property
    def _program(self) -> Program:
        return self._columns.system.program(np.zeros(self._columns.n_inputs))

    def _solve(self, weights: FloatArray, limits: Limits, start: FloatArray | None) -> ArgmaxResult:
        system = self._columns.system
        objective = self._program.objective.copy()
        objective[: len(weights)] = weights
        program = replace(self._program, objective=objective)
        solution = solve_exactly_by_rules(self._solver, system, program, limits, start)
        if solution.status is Status.INFEASIBLE:
            raise no_decision(self._columns.space.compact)
        if solution.status in (Status.FAILED, Status.UNBOUNDED):
            raise SolverFailed(f"{self._solver.name} ended a linear step with {solution.status}.")
        if solution.values is None:
            return self._nothing(solution.bound, solution.is_late(limits))
        action = np.rint(solution.values[: self._columns.space.n_actions]).astype(np.int8)
        self._points[action.tobytes()] = solution.values
        if len(self._points) > _MOST_POINTS:
            self._points.popitem(last=False)
        late = solution.is_late(limits)
        return ArgmaxResult.of_one(action, solution.objective, solution.bound, False, late)

    def _nothing(self, bound: float, is_late: bool) -> ArgmaxResult:
        """Return a bound alone."""
        action = np.zeros(self._columns.space.n_actions, dtype=np.int8)
        return ArgmaxResult.of_one(action, -np.inf, bound, False, is_late)

    def _exactly(
        self, action: ActionArray, weights: FloatArray, bound: float = -np.inf
    ) -> ArgmaxResult:
        """Return an action with its value, computed anew; it is best where no bound is given."""
        value = float(self._columns.encode(action[None])[0] @ weights)
        unit = float(np.abs(weights).max(initial=0.0))
        return ArgmaxResult.of_one(action, value, max(bound, value), is_close(bound, value, unit))


def ruin_and_recreate(space: ActionSpace, weights: FloatArray, seed: int = 0) -> ActionArray | None:
    """Return a feasible action of large weight, ``(N,)``: grow greedily, drop some, grow again.

    Ruin and recreate (Schrimpf et al. 2000), keeping the best.

    Returns ``None`` where doing nothing is not allowed, so that there is nothing to grow from.
    """
    rng = np.random.default_rng(seed)
    try:
        best = _grow(space, space.certify(space.idle.action), weights)
    except InfeasibleDecision:
        return None
    for _ in range(_ROUNDS):
        kept = best.action.copy()
        kept[rng.random(len(kept)) < _DROPPED] = 0
        try:
            tried = _grow(space, space.certify(kept), weights * rng.uniform(*_NOISE, len(kept)))
        except InfeasibleDecision:
            continue
        if weights @ tried.action > weights @ best.action:
            best = tried
    return best.action


def _grow(space: ActionSpace, decision: Decision, weights: FloatArray) -> Decision:
    """Add what weighs most while anything of positive weight can be added."""
    while len(extensions := space.extensions(decision)):
        gains = weights[extensions.columns]
        index = int(gains.argmax())
        if gains[index] <= 0:
            break
        decision = extensions[index]
    return decision
