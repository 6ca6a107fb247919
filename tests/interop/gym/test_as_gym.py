import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from sequoia.errors import InfeasibleDecision, ProblemError
from sequoia.interop.gym import as_gym
from sequoia.problem.families import (
    FAMILIES,
    capacity,
    epidemic,
    interventions,
    routing,
    standard,
)

PROBLEMS = {
    "capacity": capacity(arms=8),
    "epidemic": epidemic(arms=8),
    "interventions": interventions(arms=8),
    "routing": routing(arms=8),
    "standard": standard(arms=8),
}


@pytest.mark.parametrize("family", PROBLEMS)
def test_gymnasium_finds_nothing_to_complain_about(family):
    env = gymnasium.make(f"sequoia/{family}-v0", arms=8, render_mode="rgb_array")
    check_env(env.unwrapped)


def test_an_episode_is_truncated_at_the_horizon():
    env = as_gym(standard(arms=4, horizon=3))
    env.reset(seed=0)
    ends = [env.step(env.action_space.sample())[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]


def test_observations_are_features_and_time_left_and_rewards_are_expected_ones():
    problem = PROBLEMS["epidemic"]
    env = as_gym(problem)
    seen, info = env.reset(seed=5)
    env.action_space.seed(0)
    for step in range(5):
        assert seen in env.observation_space
        assert seen[:-1].tolist() == pytest.approx(problem.features(info["state"][None])[0])
        assert seen[-1] == pytest.approx(1 - step / problem.horizon)
        action = env.action_space.sample()
        wanted = problem.expected_reward(info["state"][None], action[None])[0]
        seen, reward, _, _, info = env.step(action)
        assert reward == wanted


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_a_name_of_gymnasiums(family):
    knobs = {} if family == "trap" else {"arms": 9}
    env = gymnasium.make(f"sequoia/{family}-v0", **knobs)
    env.reset(seed=0)
    assert np.isfinite(env.step(env.action_space.sample())[1])


def test_a_picture_shows_the_last_decision():
    env = as_gym(PROBLEMS["capacity"], render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    env.step(env.action_space.sample())
    after = env.render()
    assert before.dtype == after.dtype == np.uint8
    assert before.shape[2] == after.shape[2] == 3
    assert before.shape != after.shape or (before != after).any()


def test_pictures_that_cannot_be_drawn_are_refused():
    with pytest.raises(ProblemError, match=r"render_mode is 'human'; None or 'rgb_array'"):
        as_gym(PROBLEMS["capacity"], render_mode="human")


def test_an_action_against_the_rules_is_refused():
    env = as_gym(PROBLEMS["standard"])
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(8, dtype=np.int8))
    env.reset(seed=0)
    with pytest.raises(InfeasibleDecision, match=r"is not in Feasible\(budget, 8 columns\)"):
        env.step(np.ones(8, dtype=np.int8))
