"""Act by prices that are found anew as an episode goes on."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sequoia.bounds.lagrangian.prices import Prices
from sequoia.bounds.lagrangian.relax import prices_over, relax, require_decoupled
from sequoia.errors import ProblemError
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.linear.argmax import LinearArgmax
from sequoia.problem import Decision, Problem
from sequoia.solvers import Limits, Solver
from sequoia.validation import FloatArray, IntArray

_SECONDS = 10.0
_MAX_EPISODES = 10_000


class PriceUpdatePolicy:
    """A `PricePolicy` whose prices are found anew from the current state every few steps.

    Parameters
    ----------
    every
        Number of steps between two updates.
    vertices
        Whole actions from ``relax(problem, "hull")``: updates then look for the best mixture of
        these, rather than of fractions of actions.
    update_seconds
        Longest time for one update.
    """

    def __init__(
        self,
        problem: Problem,
        every: int = 1,
        *,
        vertices: FloatArray | None = None,
        solver: Solver | None = None,
        seconds: float = _SECONDS,
        update_seconds: float = 60.0,
    ) -> None:
        if every < 1:
            raise ProblemError(f"every is {every}; at least 1 is wanted.")
        require_decoupled(problem)
        self.name = "price update" if every == 1 else f"price update every {every}"
        self._problem = problem
        self._every = every
        self._vertices = vertices
        self._update_seconds = update_seconds
        self._linear = LinearArgmax(
            ActionEncoding.of_problem(problem), solver, Limits(seconds=seconds)
        )
        # Episodes are played side by side, and each is known by its generator.
        self._last: dict[np.random.Generator, _Update] = {}

    def act(self, state: ArrayLike, step: int, rng: np.random.Generator) -> Decision:
        """Return the best decision in ``state``, ``(J,)``, at ``step``."""
        state = np.asarray(state)
        last = self._last.get(rng)
        if last is None or not 0 <= step - last.step < self._every:
            if len(self._last) >= _MAX_EPISODES:
                self._last.clear()
            self._last[rng] = last = _Update(step, self._find(state, step))
        return self._linear.decide(last.prices.weights(state, step - last.step))

    def _find(self, state: IntArray, step: int) -> Prices:
        left, seconds = max(self._problem.horizon - step, 1), self._update_seconds
        if self._vertices is not None:
            found = prices_over(
                self._problem, self._vertices, horizon=left, start=state, seconds=seconds
            )
            if found is not None:
                return found
        return relax(self._problem, horizon=left, start=state, seconds=seconds).prices


class _Update(NamedTuple):
    """Prices, and the step at which they were found."""

    step: int
    prices: Prices
