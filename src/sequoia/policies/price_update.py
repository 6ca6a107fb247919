"""Act by prices that are found anew as an episode goes on."""

from typing import NamedTuple

import numpy as np

from sequoia.bounds.lagrangian.prices import Prices
from sequoia.bounds.lagrangian.relax import prices_over, relax, why_no_prices
from sequoia.defaults import BOUND_SECONDS, DECISION_SECONDS
from sequoia.errors import ProblemError
from sequoia.policies.policy import LinearPolicy, Options, Style, require_problem
from sequoia.problem import Environment, Problem
from sequoia.problem.environment import States
from sequoia.simulate import Decided
from sequoia.solvers import Solver
from sequoia.validation import FloatArray

# Between updates of the policy that is made by name: a fifth of the work, and hardly a loss.
_UPDATE_EVERY = 5


class PriceUpdatePolicy(LinearPolicy):
    """A `PricePolicy` whose prices are found anew from the current state every few steps.

    Parameters
    ----------
    every
        Number of steps between two updates.
    vertices
        Whole actions from ``relax(problem, "hull")``: updates then look for the best mixture of
        these, rather than of fractions of actions.
    update_seconds
        Longest time for one update; a last resort. Decisions at prices that it cut off count as
        cut off, too.
    """

    name = "price-update"
    words = "the best decision at prices found anew every five steps"
    objective = "for the long run, as prices see it"
    style = Style("#882255", "X", "--")
    needs_prices = True

    def __init__(
        self,
        problem: Problem,
        every: int = 1,
        *,
        vertices: FloatArray | None = None,
        solver: Solver | None = None,
        seconds: float = DECISION_SECONDS,
        update_seconds: float = BOUND_SECONDS,
    ) -> None:
        if every < 1:
            raise ProblemError(f"every is {every}; at least 1 is wanted.")
        reason = why_no_prices(problem)
        if reason is not None:
            raise ProblemError(f"{reason} The policy price takes them in clusters; use that.")
        super().__init__(problem, solver=solver, seconds=seconds)
        self._every = every
        self._vertices = vertices
        self._update_seconds = update_seconds
        self._last: dict[int, _Update] = {}

    @classmethod
    def make(cls, environment: Environment, options: Options) -> "PriceUpdatePolicy":
        """Make it for a problem of arms."""
        problem = require_problem(environment, cls.name)
        return cls(problem, _UPDATE_EVERY, seconds=options.seconds)

    def reset(self, episodes: int) -> None:
        """Forget the prices of earlier episodes."""
        self._last.clear()

    def table(self, state: States, step: int, episode: int) -> FloatArray:
        """Return what each dose level is worth at the last prices of the episode, ``(J, L)``."""
        last = self._last.get(episode)
        if last is None or not 0 <= step - last.step < self._every:
            last = self._last[episode] = self._find(np.asarray(state), step)
        return last.prices.weights(state, step - last.step)

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decided:
        """Return the best decision at the last prices, and what is proven about it."""
        decided = super().decide(state, step, rng, episode)
        if self._last[episode].is_cut:
            return decided._replace(stopped_by="clock")
        return decided

    def _find(self, state: States, step: int) -> "_Update":
        left, seconds = max(self._problem.horizon - step, 1), self._update_seconds
        if self._vertices is not None:
            fresh = prices_over(
                self._problem, self._vertices, horizon=left, start=state, seconds=seconds
            )
            if fresh is not None:
                return _Update(step, fresh)
        relaxed = relax(self._problem, horizon=left, start=state, seconds=seconds)
        return _Update(step, relaxed.prices, relaxed.bound.stopped_by == "clock")


class _Update(NamedTuple):
    """Prices, the step at which they were found, and whether the clock cut the search off."""

    step: int
    prices: Prices
    is_cut: bool = False
