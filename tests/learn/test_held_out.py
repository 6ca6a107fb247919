"""Held-out episodes, with most of the luck taken off."""

import numpy as np

from sequoia import make
from sequoia.learn.held_out import HeldOut
from sequoia.policies import make_policy


def test_no_luck_is_left_where_values_are_those_of_the_policy():
    problem = make("standard", arms=4)
    arms, model = problem.arms, problem.arms.model
    values = np.zeros((problem.horizon + 1, arms.n_arms, arms.n_states))
    for step in reversed(range(problem.horizon)):
        ahead = arms.kernels[model, 0] @ values[step + 1][:, :, None]
        values[step] = arms.next_rewards[model, 0] + ahead[:, :, 0]
    held_out = HeldOut(problem, 20, seed=0)
    idle = make_policy("idle", problem)
    start = held_out._scenarios.start
    expected = values[0][np.arange(4), start].sum(axis=1) / problem.horizon
    np.testing.assert_allclose(held_out.play(idle, values[:-1]), expected)
    assert np.abs(held_out.play(idle) - expected).max() > 0.01


def test_values_of_others_change_no_mean():
    problem = make("capacity", arms=6)
    values = np.random.default_rng(0).normal(size=(problem.horizon, 6, problem.arms.n_states))
    held_out = HeldOut(problem, 400, seed=0)
    policy = make_policy("random", problem)
    change = held_out.play(policy, values) - held_out.play(policy)
    assert abs(change.mean()) < 4 * change.std() / np.sqrt(len(change))
