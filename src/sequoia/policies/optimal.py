"""The optimum itself, where it can be computed."""

import numpy as np

from sequoia.bounds.exact import solve_exactly
from sequoia.policies.policy import Options, StatewisePolicy, Style, require_problem
from sequoia.problem import Environment, capabilities_of
from sequoia.problem.capabilities import KnowsChances
from sequoia.problem.environment import States
from sequoia.simulate import Decided


class Optimal(StatewisePolicy):
    """Acts by exact dynamic programming over joint states: no policy earns more.

    Raises
    ------
    TooLarge
        When there are too many joint states or actions, with their number.
    """

    name = "exact"
    words = "the optimum by dynamic programming; for tiny problems"
    objective = "at all"
    style = Style("#000000", "H")

    def __init__(self, problem: KnowsChances) -> None:
        self._best = solve_exactly(problem)
        self._last = problem.horizon - 1

    @classmethod
    def make(cls, environment: Environment, options: Options) -> "Optimal":
        """Make it for a problem of arms, or what else says the chances of its next states."""
        return cls(capabilities_of(environment).chances or require_problem(environment, cls.name))

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decided:
        """Return a best decision in ``state``, ``(J,)``; later steps are the last one."""
        step = min(step, self._last)
        value = self._best.value_of(state, step)
        return Decided(self._best.act(state, step), value, value)
