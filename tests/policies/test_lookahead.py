"""Rollouts at decision time: feasible on every space, better than the base, or the base itself."""

import numpy as np
import pytest

from sequoia import Budget
from sequoia.policies import Idle, Lookahead, Myopic, make_policy
from sequoia.policies.lookahead import over_policy
from sequoia.problem.families import FAMILIES, epidemic
from sequoia.simulate import Scenarios, rollout


class Reservoir:
    """Four tanks; filling one pays only when the next is opened, two steps later."""

    name = "reservoir"
    fingerprint = "reservoir"
    space = Budget(np.ones(4), 1)
    horizon = 6
    discount = 1.0
    n_noise = 4

    def draw_start(self, rng, count):
        return np.zeros((count, 4), dtype=int)

    def features(self, states):
        return states.astype(float)

    def step(self, states, actions, noise):
        full = np.where(actions == 1, 1, states)
        paid = full.all(axis=1).astype(float)
        return paid, np.where((noise < 0.05) & (full == 1), 0, full)


class Tolls(Reservoir):
    """Filling costs 1 and earns nothing."""

    def step(self, states, actions, noise):
        _, after = super().step(states, actions, noise)
        return -actions.sum(axis=1).astype(float), after


def rewards(environment, policy, episodes=30):
    played = rollout(environment, policy, Scenarios.sample(environment, episodes, seed=5))
    return played.rewards.sum(axis=1)


@pytest.mark.parametrize("family", FAMILIES)
def test_decisions_are_feasible_on_every_space(family):
    sizes = {} if family == "trap" else {"arms": 8}
    problem = FAMILIES[family](horizon=2, **sizes)
    assert np.isfinite(rewards(problem, make_policy("lookahead", problem, rollouts=16), 1)).all()


def test_it_improves_on_myopic_where_arms_interact():
    problem = epidemic(arms=8, seed=12, horizon=12)
    gain = rewards(problem, make_policy("lookahead", problem)) - rewards(problem, Myopic(problem))
    assert gain.mean() > 2 * gain.std() / np.sqrt(len(gain))


def test_it_needs_no_arms_and_no_graph():
    environment = Reservoir()
    assert rewards(environment, make_policy("lookahead", environment)).mean() > 1.5 * max(
        rewards(environment, make_policy("random", environment)).mean(), 0.1
    )


def test_what_does_not_pay_is_left_out():
    """The base always acts; nothing but acting less is better."""
    assert (rewards(Tolls(), make_policy("lookahead", Tolls(), rollouts=32), 5) == 0).all()


def test_the_base_stays_where_nothing_is_gained():
    problem = epidemic(arms=6, seed=1, horizon=1)
    base = Myopic(problem)
    ahead = Lookahead(problem, over_policy(base), rollouts=64)
    np.testing.assert_allclose(rewards(problem, ahead, 10), rewards(problem, base, 10))


def test_any_policy_can_be_the_base():
    problem = epidemic(arms=8, seed=3, horizon=8)
    ahead = Lookahead(problem, over_policy(Idle(problem)), rollouts=128)
    assert rewards(problem, ahead, 10).mean() > rewards(problem, Idle(problem), 10).mean()


def test_the_same_generator_gives_the_same_decisions():
    problem = epidemic(arms=8, seed=2, horizon=4)
    first, second = (
        rewards(problem, make_policy("lookahead", problem, rollouts=32), 3) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
