"""Policies whose objective is a sum over arms of what their dose is worth."""

from abc import abstractmethod

import numpy as np

from sequoia.errors import SolverFailed
from sequoia.optimize import ActionEncoding, LinearArgmax
from sequoia.optimize.by_state import ByState
from sequoia.policies.policy import SECONDS, StatewisePolicy
from sequoia.problem import Problem, limits_of
from sequoia.problem.environment import States
from sequoia.simulate import Decided
from sequoia.solvers import Limits, Solver
from sequoia.validation import FloatArray


class LinearPolicy(StatewisePolicy):
    """Maximises ``sum_j table[j, level_j(a)]`` over the feasible actions, exactly.

    Parameters
    ----------
    seconds
        Longest time for one decision; the best action found by then is taken, and said to be cut
        off.
    """

    def __init__(
        self, problem: Problem, *, solver: Solver | None = None, seconds: float = SECONDS
    ) -> None:
        self._problem = problem
        self._seconds = seconds
        encoding = ActionEncoding.of_problem(problem)
        limits = Limits(seconds=seconds)
        self._argmax = ByState(encoding, lambda own: LinearArgmax(own, solver, limits))

    @abstractmethod
    def table(self, state: States, step: int, episode: int) -> FloatArray:
        """Return what each dose level is worth to every arm in a state, ``(J, L)``."""

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decided:  # noqa: ARG002
        """Return the best decision, and what is proven about it."""
        argmax = self._argmax.at(limits_of(self._problem, state[None], np.array([step])))
        best = argmax.best_doses(self.table(state, step, episode)[None])
        if not best.is_found[0]:
            raise SolverFailed(f"{self.name} found no decision in {self._seconds:g} seconds.")
        decision = self._problem.space.certify(best.actions[0])
        value, bound = float(best.values[0]), float(best.bounds[0])
        return Decided(decision, value, bound, not best.is_proven[0])
