"""What Q-learning learns from: targets, and the worth of the next state."""

import numpy as np
import pytest
import torch
from learning_cases import small, tiny

from sequoia.bounds.exact import joint_states
from sequoia.learn.q_network import QNetwork
from sequoia.optimize.encoding import ActionEncoding

PROBLEM = tiny(horizon=4)
STATES = joint_states(PROBLEM)
ACTIONS = np.eye(3, dtype=np.int8)[np.arange(len(STATES)) % 3]
STEPS = np.arange(len(STATES)) % 4
REWARDS, AHEAD = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])


def network(**changes):
    config = small(**changes)
    return QNetwork(PROBLEM, ActionEncoding.of(PROBLEM), config, np.random.default_rng(0))


def shaken(one):
    """Give every weight, online and target, a random value."""
    rng = np.random.default_rng(1)
    with torch.no_grad():
        for weights in (one.q.online, one.q.target):
            for weight in weights.values():
                weight.copy_(torch.from_numpy(np.asarray(rng.standard_normal(weight.shape))))
    return one


def said(one, parameters):
    net = one.model(parameters).fold(STATES, STEPS)
    return net.values(ActionEncoding.of(PROBLEM).encode(ACTIONS)[:, None])[:, 0]


def test_with_a_clock_the_last_step_is_worth_its_reward():
    found = network().targets(np.array([0, 2, 3]), REWARDS, AHEAD)
    assert found.tolist() == [11.0, 22.0, 3.0]


def test_without_a_clock_episodes_go_on():
    found = network(time_feature=False, gamma=0.5).targets(np.array([0, 2, 3]), REWARDS, AHEAD)
    assert found.tolist() == [6.0, 12.0, 18.0]


def test_worth_is_what_the_target_model_says_of_the_best_action():
    one = shaken(network())
    one.scale = 3.0
    found = one.worth(one.see(STATES, STEPS), ACTIONS)
    assert found == pytest.approx(said(one, one.q.target), abs=1e-3)
    assert np.abs(found - said(one, one.q.online)).max() > 1


def test_q_is_fitted_in_units_of_reward():
    one = network(learning_rate=1e-2)
    one.scale = 50.0
    goals = 20.0 + 5.0 * STATES.sum(axis=1) * ACTIONS[:, 0]
    seen = one.see(STATES, STEPS)
    for _ in range(400):
        one.fit(seen, ACTIONS, goals, np.ones(len(goals)))
    found = said(one, one.q.online)
    assert np.abs(found - goals).mean() < 2
    error = one.fit(seen, ACTIONS, goals, np.ones(len(goals)))
    assert error == pytest.approx((found - goals) / 50, abs=1e-3)


def test_a_model_is_a_copy():
    one = shaken(network())
    model = one.model()
    before = {name: part.copy() for name, part in model.parameters.items()}
    one.fit(one.see(STATES, STEPS), ACTIONS, np.ones(len(STATES)), np.ones(len(STATES)))
    for name, part in model.parameters.items():
        assert part.tolist() == before[name].tolist()
    assert any((part != before[name]).any() for name, part in one.model().parameters.items())
