"""Hill climbing on prospects: what is allowed, what promises the most, else anything."""

import numpy as np

from action_limit_cases import Doors
from sequoia.policies.by_prospects import ByProspects
from sequoia.simulate import Scenarios, rollout


class Promising(Doors):
    """Doors that promise what is behind them."""

    def prospects(self, states, actions):
        return self.step(states, actions, np.ones((len(states), self.n_noise)))[0]


def test_it_takes_what_promises_the_most_within_limits():
    doors = Promising()
    played = rollout(doors, ByProspects(doors), Scenarios.sample(doors, 20, 0))
    every = doors.space.enumerate(100)
    for states, actions in zip(played.states, played.actions, strict=True):
        for step in range(doors.horizon):
            now = states[step][None]
            allowed = every[doors.action_limits(now, np.array([step])).allowed(every)[0]]
            many = np.repeat(now, len(allowed), axis=0)
            # Doors add up and cost the same, so that one after the other is best.
            best = doors.prospects(many, allowed).max()
            assert doors.prospects(now, actions[step][None])[0] == best


def test_where_nothing_promises_more_it_acts_at_random():
    class Silent(Doors):
        def prospects(self, states, actions):
            return np.zeros(len(states)) - actions.sum(axis=1)

    doors = Silent()
    state = np.array([1, 2, 1, 2])
    policy = ByProspects(doors)
    drawn = [policy.decide(state, 0, np.random.default_rng(s), 0).action for s in range(20)]
    assert len({tuple(action) for action in drawn}) > 3
