"""Act by prices: what a dose is worth is said by an arm's own dynamic program.

Where arms interact, clusters of arms say it together.
"""

from collections.abc import Sequence

import numpy as np

from sequoia.bounds.factored.relax import relax_factored
from sequoia.bounds.factored.value import FactoredValue
from sequoia.bounds.lagrangian.prices import Prices
from sequoia.bounds.lagrangian.relax import relax, require_decoupled
from sequoia.defaults import DECISION_SECONDS
from sequoia.optimize.by_state import ByState
from sequoia.optimize.dose_groups import DoseGroup
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.linear.dose_tables import DoseTableArgmax
from sequoia.optimize.result import ArgmaxResult
from sequoia.policies.policy import LinearPolicy, Options, Policy, Style, require_problem
from sequoia.problem import Environment, Problem, limits_of
from sequoia.problem.environment import States
from sequoia.simulate import Decisions
from sequoia.solvers import Limits, Solver
from sequoia.validation import FloatArray


class ClusterPricePolicy(Policy):
    """Maximises, in every step, the reward and a factored value of the next state, exactly.

    Parameters
    ----------
    value
        From `relax_factored`; found from the problem's own start and horizon unless given.
    seconds
        Longest time for one decision; the best action found by then is taken, and said to be cut
        off.
    """

    name = "price"
    objective = "for the long run, as prices of clusters see it"
    needs_prices = True

    def __init__(
        self,
        problem: Problem,
        value: FactoredValue | None = None,
        *,
        solver: Solver | None = None,
        seconds: float = DECISION_SECONDS,
    ) -> None:
        self._problem = problem
        self._value = relax_factored(problem).value if value is None else value
        groups = [DoseGroup(table.arms, table.doses) for table in self._value.tables]
        encoding = ActionEncoding.of_problem(problem)
        most = Limits(seconds=seconds)
        self._argmax = ByState(
            encoding, lambda encoded: DoseTableArgmax(encoded, groups, solver, most)
        )

    def act(self, states: States, step: int, rngs: Sequence[np.random.Generator]) -> Decisions:
        """Return the best decisions, and what is proven about them."""
        tables = self._value.dose_values(states, step)
        limits = limits_of(self._problem, states, np.full(len(states), step))
        if limits is None:
            best = self._argmax.at(None).best(tables)
        else:
            each = [
                self._argmax.at(limits.only([row])).best([table[[row]] for table in tables])
                for row in range(len(states))
            ]
            best = ArgmaxResult.joined(each)
        plans = [self._problem.space.certify(action).plan for action in best.actions]
        is_late = best.is_late & ~best.is_proven
        return Decisions(best.actions, plans, best.values, best.bounds, ~best.is_proven, is_late)


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
        seconds: float = DECISION_SECONDS,
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

    def table(self, state: States, step: int, episode: int) -> FloatArray:
        """Return what each dose level is worth at the prices of ``step``, ``(J, L)``."""
        return self._prices.weights(state, step)
