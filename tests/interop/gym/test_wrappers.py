"""Scores in, feasible action out; and one column at a time with a mask."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from sequoia.errors import ProblemError
from sequoia.interop.gym import OneByOne, ScoresToAction, as_gym
from sequoia.problem import Budget, Problem, Rules, with_rules
from sequoia.problem.families import capacity, interventions, routing, scheduling, standard, trap

PROBLEMS = {
    "capacity": capacity(arms=8),
    "interventions": interventions(arms=8),
    "routing": routing(arms=8),
    "scheduling": scheduling(arms=8),
    "standard": standard(arms=8),
}
STEPWISE = [name for name in PROBLEMS if name != "routing"]


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
@pytest.mark.parametrize("name", PROBLEMS)
def test_scores_become_the_best_feasible_action(name):
    problem = PROBLEMS[name]
    env = ScoresToAction(as_gym(problem))
    check_env(env, skip_render_check=True)
    every = problem.space.enumerate(100_000)
    for scores in np.random.default_rng(0).uniform(-1, 1, (10, problem.space.n_actions)):
        assert scores @ env.action(scores) == pytest.approx((every @ scores).max())


@pytest.mark.parametrize("name", STEPWISE)
def test_what_the_mask_allows_is_carried_out(name):
    problem = PROBLEMS[name]
    env = OneByOne(as_gym(problem))
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    days, reached = 0, set()
    while days < problem.horizon:
        choice = int(rng.choice(np.flatnonzero(env.action_masks())))
        seen, reward, is_terminal, is_cut, _ = env.step(choice)
        chosen = seen[-problem.space.n_actions :].astype(np.int8)
        assert problem.space.contains(chosen[None])[0]
        assert not is_terminal
        reached.add(int(chosen.sum()))
        if choice == problem.space.n_actions:
            days += 1
            assert not chosen.any()
            assert is_cut == (days == problem.horizon)
        else:
            assert reward == 0
    assert max(reached) > 1


def test_a_column_that_the_mask_forbids_is_refused():
    env = OneByOne(as_gym(trap()))
    env.reset(seed=0)
    column = int(np.flatnonzero(env.action_masks())[0])
    env.step(column)
    with pytest.raises(ProblemError, match=r"cannot be added to .*; ask action_masks first"):
        env.step(column)


@pytest.mark.parametrize("scores", [[np.nan, 0, 0], [1.0, 0]])
def test_scores_that_say_nothing_are_refused(scores):
    env = ScoresToAction(as_gym(standard(arms=3)))
    env.reset(seed=0)
    with pytest.raises(ProblemError, match=r"the scores are .*; \(3,\) of numbers is wanted"):
        env.step(np.array(scores, dtype=np.float32))


@pytest.mark.parametrize("action", [-1, 4])
def test_a_choice_outside_of_the_space_is_refused(action):
    env = OneByOne(as_gym(standard(arms=3)))
    env.reset(seed=0)
    with pytest.raises(ProblemError, match=f"the action is {action}; 0 to 3 is wanted"):
        env.step(action)


def test_what_cannot_be_built_by_columns_is_refused():
    with pytest.raises(ProblemError, match="one column at a time: "):
        OneByOne(as_gym(PROBLEMS["routing"]))
    plain = PROBLEMS["standard"]
    must = with_rules(plain.space, Rules(must=[plain.space.names[0]]))
    problem = Problem("must", plain.arms, must, plain.start)
    with pytest.raises(ProblemError, match="the rules forbid to begin with nothing"):
        OneByOne(as_gym(problem))
    assert isinstance(plain.space, Budget)


def test_learners_of_other_people_act_here():
    sb3 = pytest.importorskip("stable_baselines3", reason="sb3-contrib is not installed")
    contrib = pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed")
    problem = standard(arms=4, horizon=5)
    ppo = sb3.PPO("MlpPolicy", ScoresToAction(as_gym(problem)), n_steps=32, batch_size=32, seed=0)
    masked = contrib.MaskablePPO(
        "MlpPolicy", OneByOne(as_gym(problem)), n_steps=32, batch_size=32, seed=0
    )
    for learner in (ppo, masked):
        learner.learn(64)
    env = ScoresToAction(as_gym(problem))
    seen, _ = env.reset(seed=1)
    assert problem.space.contains(env.action(ppo.predict(seen)[0])[None])[0]
    stepwise = OneByOne(as_gym(problem))
    seen, _ = stepwise.reset(seed=1)
    masks = stepwise.action_masks()
    assert masks[int(masked.predict(seen, action_masks=masks)[0])]
