"""The best action for the next step, by a mixed-integer program."""

import numpy as np
from numpy.typing import ArrayLike

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.linear.argmax import LinearArgmax
from sequoia.problem import Decision, Problem
from sequoia.solvers import Limits, Solver
from sequoia.validation import FloatArray

_SECONDS = 10.0


class Myopic:
    """The largest expected reward of the next state, over the whole space (paper, section 5).

    Dose levels are tabulated, so the program is exact behind a link function too; the paper
    approximates the link by straight pieces.

    Parameters
    ----------
    seconds
        Longest time for one decision; the best action found by then is taken.
    """

    name = "myopic"

    def __init__(
        self, problem: Problem, *, solver: Solver | None = None, seconds: float = _SECONDS
    ) -> None:
        self._problem = problem
        self._linear = LinearArgmax(
            ActionEncoding.of_problem(problem), solver, Limits(seconds=seconds)
        )

    def act(self, state: ArrayLike, step: int, rng: np.random.Generator) -> Decision:  # noqa: ARG002
        """Return the decision with the best next step in ``state``, ``(J,)``."""
        return self._linear.decide(next_step_weights(self._problem, state))


def next_step_weights(problem: Problem, state: ArrayLike) -> FloatArray:
    """Return the expected next reward of every arm by dose level, ``(J, L)``."""
    state = np.asarray(state)
    weights: FloatArray = problem.arms.next_rewards[problem.models(state), :, state]
    return weights
