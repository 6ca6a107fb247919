"""Act by prices: each arm's dose is worth what its own dynamic program says."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sequoia.arrays import FloatArray, IntArray
from sequoia.bounds.prices import Prices
from sequoia.bounds.relaxation import prices_over, relax
from sequoia.bounds.step import Step
from sequoia.errors import ProblemError, SolverFailed
from sequoia.problem import Decision, Problem
from sequoia.solve import Limits, Solver

_SECONDS = 10.0
_MAX_EPISODES = 10_000


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
        self._problem = problem
        self._prices = relax(problem).prices if prices is None else prices
        self._step = Step(problem, solver=solver)
        self._limits = Limits(seconds=seconds)

    def act(self, state: ArrayLike, step: int, rng: np.random.Generator) -> Decision:  # noqa: ARG002
        """Return the best decision in ``state``, ``(J,)``, at ``step``."""
        best = self._step.best(self._prices.weights(state, step), self._limits)
        if best.action is None:
            raise SolverFailed(f"no decision was found in {self._limits.seconds:g} seconds.")
        return self._problem.space.certify(best.action)


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
        self.name = "price update" if every == 1 else f"price update every {every}"
        self._problem = problem
        self._every = every
        self._vertices = vertices
        self._update_seconds = update_seconds
        self._step = Step(problem, solver=solver)
        self._limits = Limits(seconds=seconds)
        self._last: dict[int, _Update] = {}

    def act(self, state: ArrayLike, step: int, rng: np.random.Generator) -> Decision:
        """Return the best decision in ``state``, ``(J,)``, at ``step``."""
        state = np.asarray(state)
        update = self._update(state, step, rng)
        best = self._step.best(update.prices.weights(state, step - update.step), self._limits)
        if best.action is None:
            raise SolverFailed(f"no decision was found in {self._limits.seconds:g} seconds.")
        return self._problem.space.certify(best.action)

    def _update(self, state: IntArray, step: int, rng: np.random.Generator) -> "_Update":
        """Return prices found in this episode at most ``every`` steps ago."""
        # Episodes are played side by side; each has a generator of its own, which tells them apart.
        last = self._last.get(id(rng))
        if last is not None and last.rng is rng and 0 <= step - last.step < self._every:
            return last
        if len(self._last) >= _MAX_EPISODES:
            self._last.clear()
        self._last[id(rng)] = update = _Update(step, rng, self._find(state, step))
        return update

    def _find(self, state: IntArray, step: int) -> Prices:
        left, seconds = max(self._problem.horizon - step, 1), self._update_seconds
        if self._vertices is not None:
            found = prices_over(
                self._problem, self._vertices, horizon=left, start=state, seconds=seconds
            )
            if found is not None:
                return found
        return relax(self._problem, horizon=left, start=state, seconds=seconds).prices


@dataclass(frozen=True, eq=False)
class _Update:
    """Prices, and the step at which they were found."""

    step: int
    rng: np.random.Generator
    prices: Prices
