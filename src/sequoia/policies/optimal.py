"""The optimum itself, where it can be computed."""

import numpy as np
from numpy.typing import ArrayLike

from sequoia.bounds.exact import solve_exactly
from sequoia.problem import Decision, Problem


class Optimal:
    """Acts by exact dynamic programming over joint states: no policy earns more.

    Raises
    ------
    TooLarge
        When there are too many joint states or actions, with their number.
    """

    name = "exact"

    def __init__(self, problem: Problem) -> None:
        self._best = solve_exactly(problem)
        self._last = problem.horizon - 1

    def act(self, state: ArrayLike, step: int, rng: np.random.Generator) -> Decision:  # noqa: ARG002
        """Return a best decision in ``state``, ``(J,)``; later steps are the last one."""
        return self._best.act(state, min(step, self._last))
