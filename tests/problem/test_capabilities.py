"""Each optional ability is found where it is offered, and is None where it is not."""

import numpy as np
import pytest

import sequoia
from sequoia.errors import ProblemError
from sequoia.problem import Budget, Dependencies, capabilities_of, limits_of
from sequoia.problem.capabilities import component_names


class Bare:
    """Two numbers that stay, and nothing else than an environment needs."""

    name = "bare"
    fingerprint = "bare 1"
    space = Budget(np.ones(2), 1)
    horizon = 2
    discount = 1.0
    n_noise = 0

    def draw_start(self, _, count):
        return np.zeros((count, 2))

    def features(self, states):
        return states

    def step(self, states, actions, _):
        return actions.sum(axis=1).astype(float), states


def with_(**members):
    return type("More", (Bare,), members)()


ABILITIES = {
    "limits": {"action_limits": lambda *_: None},
    "dependencies": {"dependencies": Dependencies(np.zeros((2, 2)), np.eye(2))},
    "reward_shares": {"component_rewards": lambda *_: None},
    "rewards": {"expected_reward": lambda *_: None},
    "chances": {"next_shares": lambda *_: None},
    "relevance": {"relevance": np.ones(2)},
    "plans": {"relaxed_plans": lambda *_: []},
    "names": {"component_names": ["a", "b"]},
}


def offered(environment):
    return {ability.name for ability in capabilities_of(environment).table() if ability.is_offered}


def test_a_bare_environment_offers_nothing():
    assert offered(Bare()) == set()
    assert capabilities_of(Bare()).problem is None


@pytest.mark.parametrize("ability", ABILITIES)
def test_an_ability_is_the_environment_itself(ability):
    environment = with_(**ABILITIES[ability])
    assert getattr(capabilities_of(environment), ability) is environment
    assert offered(environment) == set(ABILITIES[ability])
    assert getattr(capabilities_of(Bare()), ability) is None


def test_an_ability_that_is_none_is_missing():
    assert capabilities_of(with_(dependencies=None)).dependencies is None


def test_a_table_of_rewards_needs_expected_rewards_too():
    alone = with_(reward_table=lambda *_: None)
    assert capabilities_of(alone).reward_table is None
    both = with_(reward_table=lambda *_: None, expected_reward=lambda *_: None)
    assert capabilities_of(both).reward_table is both


def test_a_problem_of_arms_offers_itself():
    problem = sequoia.make("interventions", arms=3, budget=2, seed=0)
    assert capabilities_of(problem).problem is problem
    assert {"a problem of arms", "next_shares", "component_rewards"} <= offered(problem)


def test_limits_of_another_size_are_refused():
    wrong = with_(action_limits=lambda *_: "all")
    with pytest.raises(ProblemError, match="action_limits of bare are str"):
        limits_of(wrong, np.zeros((1, 2)), np.zeros(1, int))


def test_components_without_names_are_numbered():
    assert component_names(Bare()) == ["0", "1"]
    assert component_names(with_(component_names=["a", "b"])) == ["a", "b"]
