"""Act by prices where arms interact: clusters of arms say what their doses are worth together."""

from collections.abc import Sequence

import numpy as np

from sequoia.bounds.factored.relax import relax_factored
from sequoia.bounds.factored.value import FactoredValue
from sequoia.optimize.by_state import ByState
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.linear.dose_tables import DoseGroup, DoseTableArgmax
from sequoia.optimize.result import ArgmaxResult
from sequoia.policies.policy import SECONDS, Policy
from sequoia.problem import Problem, limits_of
from sequoia.problem.environment import States
from sequoia.simulate import Decisions
from sequoia.solvers import Limits, Solver


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
        seconds: float = SECONDS,
    ) -> None:
        self._problem = problem
        self._value = relax_factored(problem).value if value is None else value
        groups = [DoseGroup(table.arms, table.doses) for table in self._value.tables]
        encoding = ActionEncoding.of_problem(problem)
        most = Limits(seconds=seconds)
        self._argmax = ByState(encoding, lambda own: DoseTableArgmax(own, groups, solver, most))

    def act(self, states: States, step: int, rngs: Sequence[np.random.Generator]) -> Decisions:  # noqa: ARG002
        """Return the best decisions, and what is proven about them."""
        tables = self._value.dose_values(states, step)
        limits = limits_of(self._problem, states, np.full(len(states), step))
        if limits is None:
            found = self._argmax.at(None).best(tables)
        else:
            each = [
                self._argmax.at(limits.only([row])).best([table[[row]] for table in tables])
                for row in range(len(states))
            ]
            found = ArgmaxResult.joined(each)
        plans = [self._problem.space.certify(action).plan for action in found.actions]
        return Decisions(found.actions, plans, found.values, found.bounds, ~found.is_proven)
