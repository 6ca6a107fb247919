"""What a blind learner sees of an environment."""

import numpy as np

from action_limit_cases import Doors
from experiments.blind import Blind
from experiments.field.maintenance import make
from sequoia.problem import Environment, check_environment, families, limits_of

SHOWN = {
    *("name", "fingerprint", "space", "horizon", "discount", "n_noise"),
    *("draw_start", "features", "step"),
}


def shown(environment: Environment) -> set[str]:
    return {name for name in dir(environment) if not name.startswith("_")}


def test_only_the_game_is_shown():
    assortment = families.assortment(seed=0)
    blind = Blind(assortment)
    assert {"expected_reward", "reward_table"} <= shown(assortment)
    assert shown(blind) == SHOWN
    check_environment(blind)
    check_environment(Blind(make(1)))


def test_a_problem_is_played_as_it_is():
    problem = families.epidemic(seed=0)
    blind = Blind(problem)
    assert {"dependencies", "component_rewards"} <= shown(problem)
    assert shown(blind) == SHOWN | {"action_limits"}
    check_environment(blind)
    rng = np.random.default_rng(0)
    states = problem.draw_start(rng, 6)
    assert limits_of(blind, states, np.zeros(6, np.int64)) is None
    actions = np.zeros((6, problem.space.n_actions), np.int8)
    noise = rng.random((6, problem.n_noise))
    played, wanted = (world.step(states, actions, noise) for world in (blind, problem))
    assert np.array_equal(played[0], wanted[0])
    assert np.array_equal(played[1], wanted[1])


def test_rules_that_depend_on_the_state_are_shown():
    doors = Doors()
    blind = Blind(doors)
    assert shown(blind) == SHOWN | {"action_limits"}
    states, steps = doors.draw_start(np.random.default_rng(0), 5), np.arange(5)
    assert np.array_equal(
        limits_of(blind, states, steps).upper, limits_of(doors, states, steps).upper
    )
    check_environment(blind)
