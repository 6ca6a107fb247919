"""Which component earns what: found where rewards add up, asked for where it is said."""

import numpy as np
import pytest

from experiments.blind import Blind
from sequoia.learn.play import Play
from sequoia.learn.reward_shares import DeclaredShares, RewardShares, find_shares
from sequoia.models.sight import Sight
from sequoia.problem import Dependencies
from sequoia.problem.families import epidemic

COMPONENTS, ROWS = 4, 3_000
NO_GRAPH = Dependencies(np.zeros((COMPONENTS, COMPONENTS)), np.eye(COMPONENTS))
VALUES = np.array([1.0, 2.0, -3.0, 0.0])
LATER = np.array([0.0, 0.5, 0.0, 4.0])
COSTS = np.array([1.0, 0.0, 2.0, 0.5])


class Nowhere:
    """Says nothing of rewards."""


def transitions(rewards, seed=0):
    """Return random transitions that earn what ``rewards`` returns of them."""
    rng = np.random.default_rng(seed)
    states, following = rng.integers(0, 3, (2, ROWS, COMPONENTS))
    actions = rng.integers(0, 2, (ROWS, COMPONENTS)).astype(np.int8)
    earned = rewards(states, actions, following)
    steps = np.zeros(ROWS, np.int64)
    return Play(states, steps, actions, earned, following, np.zeros(ROWS, np.bool_))


def by_component(states, actions, following):
    return VALUES * (states == 2) + LATER * (following == 1) - COSTS * actions * (states > 0)


def shares_of(played):
    sight = Sight.of(played.states, NO_GRAPH, 5, False)
    return find_shares(Nowhere(), played, sight, np.random.default_rng(0))


def test_rewards_that_add_up_are_explained_in_full():
    played = transitions(lambda *given: by_component(*given).sum(axis=1))
    shares = shares_of(played)
    assert isinstance(shares, RewardShares)
    assert shares.explained == pytest.approx(1, abs=1e-3)
    fresh = transitions(lambda *given: by_component(*given).sum(axis=1), seed=1)
    found = shares.of(fresh.states, fresh.actions, fresh.following).sum(axis=1)
    apart = found - fresh.rewards
    assert np.abs(apart - apart.mean()).max() < 0.02


def test_each_component_gets_what_it_earns_up_to_a_constant():
    played = transitions(lambda *given: by_component(*given).sum(axis=1))
    fresh = transitions(lambda *given: by_component(*given).sum(axis=1), seed=1)
    given = (fresh.states, fresh.actions, fresh.following)
    apart = shares_of(played).of(*given) - by_component(*given)
    assert np.abs(apart - apart.mean(axis=0)).max() < 0.02


def test_what_is_no_sum_is_said_to_be_explained_in_part():
    def product(states, actions, following):  # noqa: ARG001
        return ((states[:, 0] == 2) ^ (states[:, 1] == 2)).astype(float)

    assert shares_of(transitions(product)).explained < 0.5


def test_rewards_that_never_change_are_explained():
    shares = shares_of(transitions(lambda states, *_: np.full(len(states), 7.0)))
    assert shares.explained == 1
    assert not np.abs(shares.before).max() > 1e-9


def test_with_more_numbers_than_transitions_it_is_the_same_regression():
    played = transitions(lambda *given: by_component(*given).sum(axis=1))
    few = Play(**{name: value[:30] for name, value in vars(played).items()})
    assert np.isfinite(shares_of(few).before).all()


def test_an_environment_that_says_what_components_earn_is_asked():
    problem = epidemic(arms=6, budget=2, horizon=4)
    rng = np.random.default_rng(0)
    states = problem.draw_start(rng, 50)
    actions = np.zeros((50, 6), np.int8)
    rewards, following = problem.step(states, actions, rng.random((50, problem.n_noise)))
    steps = np.zeros(50, np.int64)
    played = Play(states, steps, actions, rewards, following, np.zeros(50, np.bool_))
    sight = Sight.of(states, problem.dependencies, 4, False)
    shares = find_shares(problem, played, sight, rng)
    assert isinstance(shares, DeclaredShares)
    wanted = problem.component_rewards(states, actions)
    assert np.array_equal(shares.of(states, actions, following), wanted)
    assert isinstance(find_shares(Blind(problem), played, sight, rng), RewardShares)
