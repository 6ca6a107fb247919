"""Act by prices: each arm's dose is worth what its own dynamic program says."""

import numpy as np
from numpy.typing import ArrayLike

from sequoia.bounds.lagrangian.prices import Prices
from sequoia.bounds.lagrangian.relax import relax, require_decoupled
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.linear.argmax import LinearArgmax
from sequoia.problem import Decision, Problem
from sequoia.solvers import Limits, Solver

_SECONDS = 10.0


class PricePolicy:
    """Maximises, in every step, the sum of what each arm's dose is worth at given prices.

    Parameters
    ----------
    prices
        From `relax`: time-dependent ones are read by step, stationary ones in every step. Found
        from the problem's own start and horizon unless given.
    seconds
        Longest time for one decision; the best action found by then is taken.
    """

    name = "price"

    def __init__(
        self,
        problem: Problem,
        prices: Prices | None = None,
        *,
        solver: Solver | None = None,
        seconds: float = _SECONDS,
    ) -> None:
        require_decoupled(problem)
        self._prices = relax(problem).prices if prices is None else prices
        self._linear = LinearArgmax(
            ActionEncoding.of_problem(problem), solver, Limits(seconds=seconds)
        )

    def act(self, state: ArrayLike, step: int, rng: np.random.Generator) -> Decision:  # noqa: ARG002
        """Return the best decision in ``state``, ``(J,)``, at ``step``."""
        return self._linear.decide(self._prices.weights(state, step))
