"""Where learning starts: with prices, where there are some."""

from dataclasses import replace

import pytest
from learning_cases import small, tiny

from sequoia.bounds.exact import solve_exactly
from sequoia.errors import ConfigError, ProblemError
from sequoia.learn import train, usual_preset
from sequoia.learn.price_start import loosened, priced
from sequoia.problem.families import epidemic, routing

PROBLEM = tiny(horizon=4)


def test_prices_are_for_problems_whose_arms_evolve_on_their_own():
    assert priced(PROBLEM, small(prices="none")) is None
    assert priced(epidemic(arms=6, budget=2), small(prices="hull")) is None
    assert priced(PROBLEM, small(prices="hull")).part.q_values.shape == (4, 3, 3, 2)


@pytest.mark.parametrize("kind", ["lp", "hull"])
def test_the_bound_is_one_per_step(kind):
    bound = priced(PROBLEM, small(prices=kind)).bound
    optimum = solve_exactly(PROBLEM).value / 4
    assert optimum <= bound.per_step + 1e-9 <= 1.2 * optimum
    assert bound.kind == kind


def test_without_a_clock_prices_are_stationary():
    config = small(prices="lp", time_feature=False)
    assert len(priced(PROBLEM, config).part.q_values) == 1
    other = priced(PROBLEM, small(prices="lp", time_feature=False, gamma=0.5)).part
    assert other.values.max() < priced(PROBLEM, config).part.values.max()


def test_an_episode_that_ends_counts_all_steps_the_same():
    with pytest.raises(ConfigError, match=r"train\.gamma must be 1 with a time feature and prices"):
        priced(PROBLEM, small(prices="lp", gamma=0.9))
    assert priced(PROBLEM, small(prices="lp", gamma=1.0)) is not None


def test_endless_prices_need_a_discount():
    with pytest.raises(ProblemError, match="less than 1 is wanted"):
        priced(replace(PROBLEM, discount=1.0), small(prices="lp", time_feature=False))


def test_a_route_is_loosened_to_its_budget():
    problem = routing(arms=6, budget=2, horizon=3)
    assert len(loosened(problem).space.enumerate(1000)) == 1 + 6 + 15
    assert len(problem.space.enumerate(1000)) < 22


def test_contagion_is_learned_without_prices():
    problem = epidemic(arms=5, budget=1, horizon=3)
    trained = train(problem, small(prices="hull", rounds=1, epochs=1))
    assert trained.bound is None
    assert trained.q.prices is None


def test_the_usual_preset_is_the_one_for_what_there_is():
    assert usual_preset(PROBLEM) == "default"
    assert usual_preset(epidemic(arms=5, budget=1, horizon=3)) == "interacting"
