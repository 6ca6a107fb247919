import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from sequoia.errors import InfeasibleDecision
from sequoia.interop.gym import as_gym
from sequoia.problem.families import capacity, epidemic, interventions, routing, standard

PROBLEMS = {
    "capacity": capacity(arms=8),
    "epidemic": epidemic(arms=8),
    "interventions": interventions(arms=8),
    "routing": routing(arms=8),
    "standard": standard(arms=8),
}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_gymnasium_finds_nothing_to_complain_about(problem):
    check_env(as_gym(problem), skip_render_check=True)


def test_an_episode_is_truncated_at_the_horizon():
    env = as_gym(standard(arms=4, horizon=3))
    env.reset(seed=0)
    ends = [env.step(env.action_space.sample())[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]


def test_observations_are_states_and_rewards_are_expected_ones():
    problem = PROBLEMS["epidemic"]
    env = as_gym(problem)
    state, _ = env.reset(seed=5)
    env.action_space.seed(0)
    for _ in range(5):
        action = env.action_space.sample()
        wanted = problem.expected_reward(state[None], action[None])[0]
        state, reward, *_ = env.step(action)
        assert reward == wanted
        assert state in env.observation_space


def test_an_action_against_the_rules_is_refused():
    env = as_gym(PROBLEMS["standard"])
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(8, dtype=np.int8))
    env.reset(seed=0)
    with pytest.raises(InfeasibleDecision, match=r"is not in Feasible\(budget, 8 columns\)"):
        env.step(np.ones(8, dtype=np.int8))
