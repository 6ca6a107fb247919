"""What is learned from: targets, and the worth of the next state."""

import numpy as np
import pytest
import torch
from learning_cases import small, tiny

from sequoia.bounds.exact import joint_states
from sequoia.learn.price_start import priced
from sequoia.learn.q_and_critic import QAndCritic
from sequoia.optimize.encoding import ActionEncoding

PROBLEM = tiny(horizon=4)
STATES = joint_states(PROBLEM)
ACTIONS = np.eye(3, dtype=np.int8)[np.arange(len(STATES)) % 3]
STEPS = np.arange(len(STATES)) % 4
REWARDS, AHEAD = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])


def learner(problem=PROBLEM, **changes):
    config = small(**changes)
    found = priced(problem, config)
    rng = np.random.default_rng(0)
    one = QAndCritic(problem, ActionEncoding.of(problem), config, config.network.hidden, rng)
    one.prices = None if found is None else found.part
    return one


def shaken(one):
    """Give every weight, online and target, a random value."""
    rng = np.random.default_rng(1)
    with torch.no_grad():
        for weights in (one.q.online, one.q.target, one.critic.online, one.critic.target):
            for weight in weights.values():
                weight.copy_(torch.from_numpy(np.asarray(rng.standard_normal(weight.shape))))
    return one


def test_with_a_clock_the_last_step_is_worth_its_reward():
    found = learner().targets(np.array([0, 2, 3]), REWARDS, AHEAD)
    assert found.tolist() == [11.0, 22.0, 3.0]


def test_without_a_clock_episodes_go_on():
    found = learner(time_feature=False, gamma=0.5).targets(np.array([0, 2, 3]), REWARDS, AHEAD)
    assert found.tolist() == [6.0, 12.0, 18.0]


def test_prices_have_counted_the_reward_already():
    found = learner(prices="lp").targets(np.array([0, 2, 3]), REWARDS, AHEAD)
    assert found.tolist() == [10.0, 20.0, 0.0]


@pytest.mark.parametrize(
    ("changes", "discount"),
    [({}, 1.0), ({"time_feature": False}, 0.99), ({"gamma": 0.9}, 0.9)],
)
def test_the_discount_is_the_one_asked_for_or_that_of_the_problem(changes, discount):
    assert learner(**changes).discount == discount


@pytest.mark.parametrize("prices", ["none", "lp", "hull"])
def test_worth_by_action_is_what_the_target_model_says(prices):
    """Counted from what prices think of the state."""
    one = shaken(learner(prices=prices))
    one.scale = 3.0
    net = one.model(one.q.target).fold(STATES, STEPS)
    wanted = net.values(ActionEncoding.of(PROBLEM).encode(ACTIONS)[:, None])[:, 0]
    if one.prices is not None:
        wanted = wanted - one.prices.state_values(STATES, STEPS)
    assert one.worth_by_action(one.see(STATES, STEPS), ACTIONS) == pytest.approx(wanted, abs=1e-3)


def test_worth_by_critic_is_in_units_of_reward():
    one = learner(critic=16, target_update_interval=1, learning_rate=1e-2)
    one.scale = 50.0
    goals = 20.0 + 5.0 * STATES.sum(axis=1)
    seen = one.see(STATES, STEPS)
    first = np.abs(one.worth_by_critic(seen) - goals).mean()
    for _ in range(400):
        one.fit_critic(seen, goals)
    assert np.abs(one.worth_by_critic(seen) - goals).mean() < 0.05 * first


def test_q_is_fitted_in_units_of_reward():
    one = learner(learning_rate=1e-2)
    one.scale = 50.0
    goals = 20.0 + 5.0 * STATES.sum(axis=1) * ACTIONS[:, 0]
    for _ in range(400):
        one.fit_q(one.see(STATES, STEPS), ACTIONS, goals, np.ones(len(goals)))
    net = one.model().fold(STATES, STEPS)
    found = net.values(ActionEncoding.of(PROBLEM).encode(ACTIONS)[:, None])[:, 0]
    assert np.abs(found - goals).mean() < 2
    error = one.fit_q(one.see(STATES, STEPS), ACTIONS, goals, np.ones(len(goals)))
    assert error == pytest.approx((found - goals) / 50, abs=1e-3)


def test_a_model_is_a_copy():
    one = shaken(learner())
    model = one.model()
    before = {name: part.copy() for name, part in model.parameters.items()}
    one.fit_q(one.see(STATES, STEPS), ACTIONS, np.ones(len(STATES)), np.ones(len(STATES)))
    for name, part in model.parameters.items():
        assert part.tolist() == before[name].tolist()
