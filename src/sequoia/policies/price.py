"""Act by prices: each arm's dose is worth what its own dynamic program says."""

from sequoia.bounds.lagrangian.prices import Prices
from sequoia.bounds.lagrangian.relax import relax, require_decoupled
from sequoia.policies.cluster_price import ClusterPricePolicy
from sequoia.policies.linear_policy import LinearPolicy
from sequoia.policies.policy import SECONDS, Options, Policy, Style, require_problem
from sequoia.problem import Environment, Problem
from sequoia.problem.environment import States
from sequoia.solvers import Solver
from sequoia.validation import FloatArray


class PricePolicy(LinearPolicy):
    """Maximises, in every step, the sum of what each arm's dose is worth at given prices.

    Index-like policies from the Lagrangian relaxation are asymptotically optimal for restless
    bandits (Gast, Gaujal and Yan 2023).

    Parameters
    ----------
    prices
        From `relax`: time-dependent ones are read by step, stationary ones in every step. Found
        from the problem's own start and horizon unless given.
    """

    name = "price"
    words = "the best decision at prices found once"
    objective = "for the long run, as prices see it"
    style = Style("#0072B2", "*")
    needs_prices = True

    def __init__(
        self,
        problem: Problem,
        prices: Prices | None = None,
        *,
        solver: Solver | None = None,
        seconds: float = SECONDS,
    ) -> None:
        require_decoupled(problem)
        super().__init__(problem, solver=solver, seconds=seconds)
        self._prices = relax(problem).prices if prices is None else prices

    @classmethod
    def make(cls, environment: Environment, options: Options) -> Policy:
        """Make it for a problem of arms; where they interact, by clusters of arms."""
        problem = require_problem(environment, cls.name)
        if not problem.is_decoupled:
            return ClusterPricePolicy(problem, seconds=options.seconds)
        return cls(problem, seconds=options.seconds)

    def table(self, state: States, step: int, episode: int) -> FloatArray:  # noqa: ARG002
        """Return what each dose level is worth at the prices of ``step``, ``(J, L)``."""
        return self._prices.weights(state, step)
