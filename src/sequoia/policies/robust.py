"""Act by the prices of several worlds, none of which is sure to be the true one."""

import numpy as np

from sequoia.bounds.lagrangian.relax import relax, require_decoupled
from sequoia.defaults import DECISION_SECONDS
from sequoia.policies.policy import LinearPolicy, Options, Policy, Style, require_problem
from sequoia.problem import Environment, Problem
from sequoia.problem.environment import States
from sequoia.problem.perturbed import perturbed
from sequoia.solvers import Solver
from sequoia.validation import FloatArray

# Unless the worlds are given: as many, whose transitions differ by such a share. Measured in
# docs/wrong-models.md: more worlds decide alike.
_WORLDS, _SHARE = 8, 0.3


class RobustPolicy(LinearPolicy):
    """Maximises the sum of what each arm's dose gains, on average over several worlds.

    In each world, prices say what a dose gains an arm. Their mean is drawn less to a dose that one
    world alone makes dear.

    Parameters
    ----------
    worlds
        Problems with the same arms and actions: draws from a posterior of a fit (`with_kernels`),
        or, unless given, the problem with other transitions (`perturbed`).
    """

    name = "robust"
    words = "the best decision at the prices of several worlds that may be true"
    objective = "for the long run, as prices of several worlds see it"
    style = Style("#0072B2", "P", ":")

    def __init__(
        self,
        problem: Problem,
        worlds: list[Problem] | None = None,
        *,
        solver: Solver | None = None,
        seconds: float = DECISION_SECONDS,
    ) -> None:
        require_decoupled(problem)
        super().__init__(problem, solver=solver, seconds=seconds)
        if worlds is None:
            worlds = [problem, *(perturbed(problem, _SHARE, seed) for seed in range(1, _WORLDS))]
        self._prices = [relax(world).prices for world in worlds]

    @classmethod
    def make(cls, environment: Environment, options: Options) -> Policy:
        """Make it for a problem of arms."""
        return cls(require_problem(environment, cls.name), seconds=options.seconds)

    def table(self, state: States, step: int, episode: int) -> FloatArray:
        """Return what each dose level is worth, on average over the worlds, ``(J, L)``."""
        worth = np.array([prices.weights(state, step) for prices in self._prices])
        mean: FloatArray = worth.mean(axis=0)
        return mean
