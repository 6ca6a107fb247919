"""What is known of the next step: its weights lead to the best action, whatever the rewards."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sequoia import make
from sequoia.learn import load_model, make_config, train, usual_preset
from sequoia.models.graph_model import GraphModel
from sequoia.models.next_step import ListedNext, UnknownNext, next_step_of
from sequoia.optimize import ActionEncoding
from sequoia.policies import make_policy
from sequoia.problem import Budget
from sequoia.simulate import Scenarios, rollout

SHOP = make("assortment", items=7, show=3, horizon=5, seed=2)


class Table:
    """Rewards of all actions by a table, which may be anything."""

    def __init__(self, space, values):
        self.space, self.actions, self._values = space, space.enumerate(1_000), values

    def reward_table(self, states, actions):
        assert np.array_equal(actions, self.actions)
        return np.repeat(self._values[None], len(states), axis=0)


@given(st.integers(0, 10_000), st.booleans())
def test_max_marginals_lead_to_the_best_action_also_with_ties(seed, has_ties):
    rng = np.random.default_rng(seed)
    space = Budget(rng.integers(1, 3, 5), 4)
    count = len(space.enumerate(1_000))
    values = rng.integers(0, 3, count) * 1.0 if has_ties else rng.standard_normal(count)
    table = Table(space, values)
    scores = np.zeros((1, 5)) if has_ties else rng.standard_normal((1, 5))
    total = values + table.actions @ scores[0]
    weights = ListedNext(table, table.actions).weights(np.zeros((1, 1)), scores)
    found = table.actions[(table.actions @ weights[0]).argmax()]
    place = int((table.actions == found).all(axis=1).argmax())
    assert total[place] == pytest.approx(total.max(), abs=1e-12)
    # Nothing else is as good by these weights, so that no solver can choose otherwise.
    assert np.sort(table.actions @ weights[0])[-2] < table.actions[place] @ weights[0]


def test_an_untrained_model_is_the_myopic_policy_where_rewards_are_no_sums():
    model = train(SHOP, make_config(usual_preset(SHOP), rounds=0), seed=0).q
    scenarios = Scenarios.sample(SHOP, 4, seed=1)
    ours = rollout(SHOP, make_policy("sequoia", SHOP, model), scenarios)
    theirs = rollout(SHOP, make_policy("myopic", SHOP), scenarios)
    assert np.array_equal(ours.actions, theirs.actions)


def test_rewards_in_a_table_are_those_of_single_actions():
    rng = np.random.default_rng(0)
    states, actions = SHOP.draw_start(rng, 6), SHOP.space.enumerate(1_000)
    table = SHOP.reward_table(states, actions)
    for row, state in enumerate(states):
        many = np.repeat(state[None], len(actions), axis=0)
        assert table[row] == pytest.approx(SHOP.expected_reward(many, actions), rel=1e-12)


def test_gains_are_differences_of_rewards():
    rng = np.random.default_rng(3)
    problem = make("capacity", arms=6, seed=1)
    for environment in (SHOP, problem):
        known = next_step_of(environment, ActionEncoding.of(environment))
        states = environment.draw_start(rng, 5)
        one, two = (
            np.array([environment.space.sample(rng).action for _ in range(5)]) for _ in range(2)
        )
        expected = environment.expected_reward
        apart = expected(states, two) - expected(states, one)
        assert known.gains(states, one, two) == pytest.approx(apart)


def test_what_depends_on_the_state_is_not_listed():
    class Limited:
        space = SHOP.space
        reward_table = SHOP.reward_table

        def action_limits(self, *_):
            raise AssertionError

    limited = Limited()
    assert isinstance(next_step_of(limited, ActionEncoding.of_space(SHOP.space)), UnknownNext)


class Climb:
    """Resting pays 1 in each step; climbing pays nothing until the top, and there 5."""

    name, fingerprint = "climb", "climb 1"
    space = Budget(np.ones(2), 1, ["rest", "climb"])
    horizon, discount, n_noise = 6, 1.0, 1

    def draw_start(self, rng, count):  # noqa: ARG002
        return np.zeros((count, 1))

    def features(self, states):
        return states / 2

    def expected_reward(self, states, actions):
        return actions[:, 0] + 5.0 * actions[:, 1] * (states[:, 0] >= 2)

    def reward_table(self, states, actions):
        every = [self.expected_reward(states, np.tile(one, (len(states), 1))) for one in actions]
        return np.stack(every, axis=1)

    def step(self, states, actions, noise):  # noqa: ARG002
        return self.expected_reward(states, actions), np.minimum(states + actions[:, 1:], 2.0)


def test_learning_adds_what_comes_later(tmp_path):
    climb = Climb()
    assert usual_preset(climb) == "interacting"
    changes = {"rounds": 3, "comparisons.states": 60, "n_eval_episodes": 4}
    trained = train(climb, make_config("interacting", **changes), seed=0, folder=tmp_path / "m")
    assert isinstance(trained.q, GraphModel)
    # Resting earns 6; climbing twice, and then staying at the top, 20.
    assert trained.history[0]["reward"] * climb.horizon == pytest.approx(6)
    assert trained.reward * climb.horizon == pytest.approx(20)
    read = load_model(tmp_path / "m", climb)
    states, steps = climb.draw_start(None, 1), np.zeros(1, np.int64)
    assert np.array_equal(read.weights(states, steps), trained.q.weights(states, steps))
