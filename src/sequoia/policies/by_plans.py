"""Decide by relaxed plans, where an environment can make some."""

import numpy as np

from sequoia.policies.greedy import what_is_forced
from sequoia.policies.policy import StatewisePolicy
from sequoia.problem import Decision, Environment, capabilities_of, space_at
from sequoia.problem.capabilities import MakesPlans
from sequoia.problem.environment import States


class ByPlans(StatewisePolicy):
    """Takes the first actions of the best plan, then those of the next that go with them.

    So agents that the best plan does not need follow another one. Plans that are worth nothing are
    not followed; where there is no other, nothing is done but what a state forces.

    Raises
    ------
    InfeasibleDecision
        When what a state forces breaks a rule unless more is done: there is nothing to add to.
    """

    name = "lookahead"

    def __init__(self, environment: MakesPlans) -> None:
        self._environment = environment

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decision:
        """Return what plans begin with."""
        space = space_at(self._environment, state, step)
        action = what_is_forced(self._environment, self.name, state, step).action
        left = self._environment.horizon - step
        for worth, columns in self._environment.relaxed_plans(state, left):
            if worth <= 0:
                break
            for column in columns:
                more = action.copy()
                more[column] = 1
                if space.contains(more[None])[0]:
                    action = more
        return space.certify(action)


def plans_for(environment: Environment) -> ByPlans | None:
    """Return the policy, where plans have something to do in the first step and are worth it."""
    planner = capabilities_of(environment).plans
    if planner is None:
        return None
    first = environment.draw_start(np.random.default_rng(0), 1)[0]
    plans = planner.relaxed_plans(first, environment.horizon)
    is_worth_it = any(worth > 0 and len(columns) > 0 for worth, columns in plans)
    return ByPlans(planner) if is_worth_it else None
