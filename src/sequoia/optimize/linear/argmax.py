"""The best action of a linear objective: exact, by the shortest way that a space offers."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sequoia.errors import SolverFailed, TooLarge
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.linear.core_problem import CoreProblem
from sequoia.optimize.linear.oracles import LpOracle, has_quick_relaxation
from sequoia.optimize.linear.ruin_and_recreate import ruin_and_recreate
from sequoia.optimize.relu_net import NetworkError, ReluNet
from sequoia.optimize.result import Answer
from sequoia.problem import Decision
from sequoia.problem.iis import no_decision
from sequoia.solvers import Highs, Limits, Program, Solver, Status
from sequoia.validation import ActionArray, FloatArray

_MAX_COLUMNS_TO_LIST = 24
_MAX_ACTIONS_TO_LIST = 50_000
_LEAST_TO_SIFT = 1_000
_ORDINARY = (1e-2, 1e5)


@dataclass(frozen=True, eq=False)
class Best:
    """The best action found.

    Attributes
    ----------
    action
        Binary, ``(N,)``; ``None`` when none was found in time.
    inputs
        What it does, ``(I,)``.
    value
        What it weighs.
    bound
        No feasible action weighs more.
    point
        All columns of the program, where one was solved; a start for the next.
    """

    action: ActionArray | None
    inputs: FloatArray | None
    value: float
    bound: float
    point: FloatArray | None = None

    @property
    def is_proven(self) -> bool:
        """Whether no action is better, up to rounding."""
        slack = 1e-6 * max(1.0, abs(self.value))
        return self.action is not None and self.bound - self.value <= slack


class LinearArgmax:
    """Maximises a weight per input over the feasible actions.

    Some spaces know how. Else actions are listed where they are few, and most columns are decided
    by row prices where they are very many. Otherwise the linear relaxation of the rules is solved,
    and a program where its best point is no action; it is built once, and only its objective
    changes.
    """

    name = "linear"

    def __init__(
        self,
        columns: ActionEncoding,
        solver: Solver | None = None,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
    ) -> None:
        self._columns = columns
        self._relaxes = solver is None and has_quick_relaxation(columns)
        self._solver: Solver = Highs() if solver is None else solver
        self._limits = limits

    def best(self, net: ReluNet) -> Answer:
        """Return the best action of each state; ``net`` must have no hidden layer."""
        if net.weights:
            raise NetworkError(
                f"the network has {len(net.weights)} hidden layers; a linear one has none."
            )
        known = self._all_at_once(net.linear)
        if known is not None:
            values = net.values(self._columns.encode(known)[:, None, :])[:, 0]
            return Answer(known, values, values)
        found = [self._found(self.maximise(weights)) for weights in net.linear]
        actions = np.array([best.action for best in found], dtype=np.int8)
        actions = actions.reshape(len(net), self._columns.space.n_actions)
        values = net.values(self._columns.encode(actions)[:, None, :])[:, 0]
        bounds = np.array([best.bound for best in found]) + net.constant
        return Answer(actions, values, np.maximum(bounds, values))

    def _all_at_once(self, weights: FloatArray) -> ActionArray | None:
        """Return the best action for each row of ``weights``, ``(B, I)``, if that is quick."""
        if self._columns.dose_indicators is not None:
            return None
        return self._columns.space.argmax_linear_batch(weights)

    def _found(self, best: Best) -> Best:
        """Return ``best``, or say that time ran out before there was any action."""
        if best.action is None:
            raise SolverFailed(f"no decision was found in {self._limits.seconds:g} seconds.")
        return best

    def best_doses(self, table: FloatArray) -> Best:
        """Return the action that maximises the sum over arms of ``table``, ``(J, L)``."""
        weights, constant = self._columns.objective(table[None])
        found = self.maximise(weights[0])
        base = float(constant[0])
        return replace(found, value=base + found.value, bound=base + found.bound)

    def decide(self, table: FloatArray) -> Decision:
        """Return the decision that maximises the sum over arms of ``table``, ``(J, L)``."""
        best = self._found(self.best_doses(table))
        assert best.action is not None
        return self._columns.space.certify(best.action)

    def maximise(
        self, weights: FloatArray, limits: Limits | None = None, start: FloatArray | None = None
    ) -> Best:
        """Return the action that maximises the ``weights``, ``(I,)``, of its inputs.

        ``start`` is the ``point`` of an earlier answer to begin from.
        """
        limits = self._limits if limits is None else limits
        action = self._heaviest(weights)
        if action is not None:
            return self._exactly(action, weights)
        if self._listed is not None:
            actions, inputs = self._listed
            return self._exactly(actions[int((inputs @ weights).argmax())], weights)
        if self._relaxes and self._core is None:
            relaxed = self._relaxed(weights)
            if relaxed.is_proven:
                return relaxed
        # A solver's tolerances are made for weights of ordinary size.
        largest = float(np.abs(weights).max(initial=0.0))
        unit = 1.0 if largest == 0 or _ORDINARY[0] < largest < _ORDINARY[1] else largest
        found = self._sifted_or_solved(weights / unit, limits, start)
        if found.action is None:
            return replace(found, bound=found.bound * unit)
        best = self._exactly(found.action, weights)
        return replace(best, bound=max(found.bound * unit, best.value), point=found.point)

    def _relaxed(self, weights: FloatArray) -> Best:
        """Return the best point of the linear relaxation, if it is an action."""
        self._relaxation.forget()
        nothing = np.full(len(weights), -1, dtype=np.int8)
        found = self._relaxation.best(weights, nothing)
        if found.point is not None:
            actions, is_own = self._columns.actions_at(found.point[None])
            if is_own[0]:
                best = self._exactly(actions[0], weights)
                return replace(best, bound=max(found.weight, best.value))
        return Best(None, None, -np.inf, found.weight)

    @cached_property
    def _relaxation(self) -> LpOracle:
        self._columns.require_feasible()
        return LpOracle(self._columns)

    def _sifted_or_solved(
        self, weights: FloatArray, limits: Limits, start: FloatArray | None
    ) -> Best:
        if self._core is not None:
            sifted = self._core.best(weights, limits)
            return Best(sifted.action, None, sifted.value, sifted.bound)
        hint = self.hint(weights) if self._needs_hint else None
        if start is None and hint is not None:
            start = self._columns.point(hint)
        found = self._solve(weights, limits, start)
        if hint is not None and weights @ hint > found.value:
            return Best(hint, None, float(weights @ hint), found.bound)
        return found

    @cached_property
    def is_easy(self) -> bool:
        """Whether no solver is needed, or hardly ever."""
        if self._heaviest(np.zeros(self._columns.n_inputs)) is not None:
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

    def _heaviest(self, weights: FloatArray) -> ActionArray | None:
        """Ask the space, which knows nothing of dose indicators."""
        space = self._columns.space
        return space.argmax_linear(weights) if len(weights) == space.n_actions else None

    @cached_property
    def _listed(self) -> tuple[ActionArray, FloatArray] | None:
        """All feasible actions ``(A, N)`` and their inputs ``(A, I)``, where they are few."""
        space = self._columns.space
        if space.n_actions > _MAX_COLUMNS_TO_LIST:
            return None
        try:
            actions = space.enumerate(_MAX_ACTIONS_TO_LIST)
        except TooLarge:
            return None
        if not len(actions):
            raise no_decision(space.compact)
        return actions, self._columns.encode(actions)

    @cached_property
    def _core(self) -> CoreProblem | None:
        """For very many columns of few kinds."""
        if (
            self._columns.dose_indicators is not None
            or self._columns.space.n_actions < _LEAST_TO_SIFT
        ):
            return None
        core = CoreProblem(self._columns.system, self._solver)
        return core if core.is_useful else None

    @cached_property
    def _program(self) -> Program:
        return self._columns.system.program(np.zeros(self._columns.n_inputs))

    def _solve(self, weights: FloatArray, limits: Limits, start: FloatArray | None) -> Best:
        objective = self._program.objective.copy()
        objective[: len(weights)] = weights
        solution = self._solver.solve(replace(self._program, objective=objective), limits, start)
        if solution.status is Status.INFEASIBLE:
            raise no_decision(self._columns.space.compact)
        if solution.status in (Status.FAILED, Status.UNBOUNDED):
            raise SolverFailed(f"{self._solver.name} ended a linear step with {solution.status}.")
        if solution.values is None:
            return Best(None, None, -np.inf, solution.bound)
        action = np.rint(solution.values[: self._columns.space.n_actions]).astype(np.int8)
        return Best(action, None, solution.objective, solution.bound, solution.values)

    def _exactly(self, action: ActionArray, weights: FloatArray) -> Best:
        """Return a best action with its value, computed anew."""
        inputs = self._columns.encode(action[None])[0]
        value = float(inputs @ weights)
        return Best(action, inputs, value, value)
