"""Following plans: the best first, what goes with it next, and never against a limit."""

import numpy as np
import pytest

from action_limit_cases import Doors
from sequoia.optimize.relu_net import ReluNet
from sequoia.policies import Lookahead, make_policy
from sequoia.policies.lookahead import ByPlans
from sequoia.simulate import Scenarios, rollout

WORTH = np.array([1.0, 1.5, 2.0, 2.5])


class Planned(Doors):
    """Doors with a plan for each: what is behind it, less a price."""

    price = 0.0

    def relaxed_plans(self, state, left):
        values = np.asarray(state) * WORTH - self.price
        return [(values[i], np.array([i])) for i in np.argsort(-values)]


def test_the_best_that_go_together_are_taken():
    doors = Planned()
    played = rollout(doors, ByPlans(doors), Scenarios.sample(doors, 20, 0))
    every = doors.space.enumerate(100)
    for states, actions in zip(played.states, played.actions, strict=True):
        for step in range(doors.horizon):
            now = states[step][None]
            allowed = every[doors.action_limits(now, np.array([step])).allowed(every)[0]]
            # Doors add up and cost the same, so that one after the other is best.
            earned = (allowed * now * WORTH).sum(axis=1)
            assert (actions[step] * now[0] * WORTH).sum() == earned.max()


def test_what_is_worth_nothing_is_left_alone_unless_it_is_forced():
    doors = Planned()
    doors.price = 100.0
    policy, rng = ByPlans(doors), np.random.default_rng(0)
    assert not policy.decide(np.array([2, 2, 2, 2]), 0, rng, 0).action.any()
    assert policy.decide(np.array([3, 2, 2, 2]), 0, rng, 0).action.tolist() == [1, 0, 0, 0]


class Told:
    """A model that says what each door is worth."""

    def __init__(self, worth):
        self._worth = np.asarray(worth)

    def fold(self, states, steps):
        return ReluNet.of_linear(np.asarray(states) * self._worth)


class Misled(Planned):
    """Doors whose plans know of the first one only."""

    def relaxed_plans(self, state, left):
        return [(1.0, np.array([0]))]


@pytest.mark.parametrize(
    ("doors", "worth", "kind"), [(Misled(), WORTH, Lookahead), (Planned(), -WORTH, ByPlans)]
)
def test_a_model_that_earns_more_is_looked_ahead_over(doors, worth, kind):
    assert isinstance(make_policy("lookahead", doors, Told(worth)), kind)
    assert isinstance(make_policy("lookahead", doors), ByPlans)
