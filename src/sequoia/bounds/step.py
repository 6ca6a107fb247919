"""One step: the feasible action whose dose levels weigh most."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sequoia.arrays import ActionArray, FloatArray
from sequoia.bounds.choices import Choices
from sequoia.bounds.hint import good_action
from sequoia.bounds.sift import Sift
from sequoia.errors import InfeasibleSpace, SolverFailed, TooLarge
from sequoia.problem import Problem
from sequoia.problem.spaces import Budget
from sequoia.solve import Highs, Limits, Program, Solver, Status

_MAX_COLUMNS_TO_LIST = 24
_MAX_ACTIONS_TO_LIST = 50_000
_LEAST_TO_SIFT = 1_000


@dataclass(frozen=True, eq=False)
class Best:
    """The best action found.

    Attributes
    ----------
    action
        Binary, ``(N,)``; ``None`` when none was found in time.
    channels
        What it does, ``(K,)``.
    value
        What it weighs.
    bound
        No feasible action weighs more.
    columns
        All columns of the program, where one was solved; a start for the next.
    """

    action: ActionArray | None
    channels: FloatArray | None
    value: float
    bound: float
    columns: FloatArray | None = None

    @property
    def is_proven(self) -> bool:
        """Whether no action is better, up to rounding."""
        return self.bound - self.value <= 1e-6 * max(1.0, abs(self.value))


class Step:
    """Maximises a weight per arm and dose level over the feasible actions of a problem.

    The program is built once; only its objective changes.
    """

    def __init__(
        self, problem: Problem, choices: Choices | None = None, solver: Solver | None = None
    ) -> None:
        self._problem = problem
        self._choices = Choices.of(problem) if choices is None else choices
        self._solver: Solver = Highs() if solver is None else solver

    @cached_property
    def _program(self) -> Program:
        system = self._choices.system
        return system.program(np.zeros(system.n_actions))

    @cached_property
    def _top(self) -> int | None:
        """How many arms may be acted on, where that is the only rule."""
        space = self._problem.space
        if not (self._problem.is_identity and isinstance(space, Budget)):
            return None
        cost = space.costs.min(initial=np.inf)
        if not (space.costs == cost).all() or cost <= 0:
            return None
        return int(min(space.limit / cost + 1e-9, space.n_actions))

    @cached_property
    def _sift(self) -> Sift | None:
        """For very many arms of few kinds."""
        if not self._problem.is_identity or self._problem.space.n_actions < _LEAST_TO_SIFT:
            return None
        sift = Sift(self._choices, self._solver)
        return sift if sift.is_useful else None

    @property
    def is_easy(self) -> bool:
        """Whether no solver is needed."""
        return self._top is not None or self._listed is not None

    @cached_property
    def _listed(self) -> tuple[ActionArray, FloatArray] | None:
        """All feasible actions ``(A, N)`` and their channels ``(A, K)``, where they are few."""
        space = self._problem.space
        if space.n_actions > _MAX_COLUMNS_TO_LIST:
            return None
        try:
            actions = space.enumerate(_MAX_ACTIONS_TO_LIST)
        except TooLarge:
            return None
        return actions, self._choices.channels(self._problem.levels(actions))

    def best(self, weights: FloatArray, limits: Limits = Limits()) -> Best:  # noqa: B008 (frozen)
        """Return the action that maximises the sum of ``weights``, ``(J, L)``, of all arms."""
        base = float(weights[:, 0].sum())
        found = self.best_channels(self._choices.spread(weights), limits)
        return replace(found, value=base + found.value, bound=base + found.bound)

    def best_channels(
        self,
        weights: FloatArray,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        start: FloatArray | None = None,
    ) -> Best:
        """Return the action that maximises the ``weights``, ``(K,)``, of its channels.

        ``start`` is the ``columns`` of an earlier answer to begin from.
        """
        if self._top is not None:
            return self._best_few(weights, self._top)
        if self._listed is not None:
            return self._best_listed(weights, *self._listed)
        if self._sift is not None:
            sifted = self._sift.best(weights, limits)
            channels = None if sifted.action is None else sifted.action.astype(np.float64)
            return Best(sifted.action, channels, sifted.value, sifted.bound)
        hint = self.hint(weights) if self.is_hard else None
        if start is None and hint is not None:
            start = self._columns(hint)
        found = self._solve(weights, limits, start)
        if hint is not None and weights @ hint > found.value:
            value = float(weights @ hint)
            return Best(hint, hint.astype(np.float64), value, max(found.bound, value))
        return found

    def _solve(self, weights: FloatArray, limits: Limits, start: FloatArray | None) -> Best:
        program = replace(self._program, objective=np.asarray(weights @ self._choices.reads))
        solution = self._solver.solve(program, limits, start)
        if solution.status is Status.INFEASIBLE:
            raise InfeasibleSpace("no decision satisfies the rules.")
        if solution.status in (Status.FAILED, Status.UNBOUNDED):
            raise SolverFailed(f"{self._solver.name} ended a linear step with {solution.status}.")
        if solution.values is None:
            return Best(None, None, -np.inf, solution.bound)
        action = np.rint(solution.values[: self._problem.space.n_actions]).astype(np.int8)
        channels = np.rint(self._choices.reads @ solution.values)
        bound = max(solution.bound, solution.objective)
        return Best(action, channels, solution.objective, bound, solution.values)

    @property
    def is_hard(self) -> bool:
        """Whether a solver may not find a good action by itself: long walks."""
        space = self._problem.space
        return self._problem.is_identity and space.base.kind == "path" and space.n_actions > 30

    def hint(self, weights: FloatArray) -> ActionArray | None:
        """Return a good action, ``(N,)``, quickly and without proof, where arms are columns."""
        return good_action(self._problem.space, weights)

    def _columns(self, action: ActionArray) -> FloatArray:
        """Return all columns of ``action``, to begin from, where arms are columns."""
        return np.concatenate([action, self._problem.space.compact_plan(action)])

    def _best_few(self, weights: FloatArray, most: int) -> Best:
        action = np.zeros(len(weights), dtype=np.int8)
        if most < len(weights):
            few = np.argpartition(-weights, most)[:most]
        else:
            few = np.arange(len(weights))
        action[few[weights[few] > 0]] = 1
        value = float(weights[action == 1].sum())
        return Best(action, action.astype(np.float64), value, value)

    def _best_listed(self, weights: FloatArray, actions: ActionArray, channels: FloatArray) -> Best:
        if not len(actions):
            raise InfeasibleSpace("no decision satisfies the rules.")
        values = channels @ weights
        row = int(values.argmax())
        value = float(values[row])
        return Best(actions[row], channels[row], value, value)
