"""What is known without learning: its weights lead to the best action, whatever the rewards."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from action_limit_cases import Doors
from experiments.blind import Blind
from learned_cases import made
from sequoia import make
from sequoia.models.known import Chance, Listed, Nothing, known_parts
from sequoia.optimize.encoding import ActionEncoding
from sequoia.policies import make_policy
from sequoia.problem import Budget
from sequoia.simulate import Scenarios, rollout

SHOP = make("assortment", items=7, show=3, horizon=5, seed=2)
CAPACITY = make("capacity", arms=6, seed=1, horizon=4)


class Table:
    """Rewards of all actions by a table, which may be anything."""

    def __init__(self, space, values):
        self.space, self.actions, self._values = space, space.enumerate(1_000), values

    def reward_table(self, states, actions):
        assert np.array_equal(actions, self.actions)
        return np.repeat(self._values[None], len(states), axis=0)


def known_of(environment):
    return {own.name: own for own in known_parts(environment, ActionEncoding.of(environment))}


@given(st.integers(0, 10_000), st.booleans())
def test_max_marginals_lead_to_the_best_action_also_with_ties(seed, has_ties):
    rng = np.random.default_rng(seed)
    space = Budget(rng.integers(1, 3, 5), 4)
    count = len(space.enumerate(1_000))
    values = rng.integers(0, 3, count) * 1.0 if has_ties else rng.standard_normal(count)
    table = Table(space, values)
    scores = np.zeros((1, 5)) if has_ties else rng.standard_normal((1, 5))
    total = values + table.actions @ scores[0]
    weights = Listed(table, table.actions).weights(np.zeros((1, 1)), np.zeros(1), scores)
    found = table.actions[(table.actions @ weights[0]).argmax()]
    place = int((table.actions == found).all(axis=1).argmax())
    assert total[place] == pytest.approx(total.max(), abs=1e-12)
    # Nothing else is as good by these weights, so that no solver can choose otherwise.
    assert np.sort(table.actions @ weights[0])[-2] < table.actions[place] @ weights[0]


@pytest.mark.parametrize("environment", [SHOP, CAPACITY])
def test_a_model_that_learned_nothing_is_the_myopic_policy(environment):
    scenarios = Scenarios.sample(environment, 4, seed=1)
    model = made(environment, "myopic")
    ours = rollout(environment, make_policy("sequoia", environment, model), scenarios)
    theirs = rollout(environment, make_policy("myopic", environment), scenarios)
    assert ours.rewards == pytest.approx(theirs.rewards)


@pytest.mark.parametrize("environment", [SHOP, CAPACITY])
def test_gains_are_differences_of_expected_rewards(environment):
    rng = np.random.default_rng(3)
    states, steps = environment.draw_start(rng, 5), np.zeros(5, np.int64)
    one, two = (
        np.array([environment.space.sample(rng).action for _ in range(5)]) for _ in range(2)
    )
    expected = environment.expected_reward
    apart = expected(states, two) - expected(states, one)
    known = known_of(environment)
    assert known["myopic"].gains(states, steps, one, two) == pytest.approx(apart)
    assert not known["idle"].gains(states, steps, one, two).any()


def test_rewards_in_a_table_are_those_of_single_actions():
    rng = np.random.default_rng(0)
    states, actions = SHOP.draw_start(rng, 6), SHOP.space.enumerate(1_000)
    table = SHOP.reward_table(states, actions)
    for row, state in enumerate(states):
        many = np.repeat(state[None], len(actions), axis=0)
        assert table[row] == pytest.approx(SHOP.expected_reward(many, actions), rel=1e-12)


@pytest.mark.parametrize("environment", [SHOP, CAPACITY])
def test_whoever_sees_only_the_game_knows_nothing_and_chance(environment):
    assert list(known_of(environment)) == ["idle", "random", "myopic"]
    assert list(known_of(Blind(environment))) == ["idle", "random"]


def test_what_depends_on_the_state_is_not_listed():
    class Limited(Doors):
        def reward_table(self, *_):
            raise AssertionError

    assert list(known_of(Limited())) == ["idle", "random"]


def test_where_nothing_is_known_scores_are_all():
    scores = np.array([[0.0, 2.0, -1.0]])
    assert np.array_equal(Nothing().weights(np.zeros((1, 1)), np.zeros(1), scores), scores)


def test_chance_is_the_same_in_the_same_state_and_step_alone():
    rng = np.random.default_rng(0)
    states, zeros = rng.integers(0, 3, (50, 4)), np.zeros((50, 6))
    found = Chance().weights(states, np.arange(50), zeros)
    again = Chance().weights(states[::-1], np.arange(50)[::-1], zeros)[::-1]
    assert np.array_equal(found, again)
    assert len(np.unique(found)) > 0.9 * found.size
    assert (Chance().weights(states, np.arange(50) + 1, zeros) != found).all()
    assert 0.4 < found.mean() < 0.6
    assert not Chance().takes_scores
