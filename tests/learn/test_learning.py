"""Q-learning learns: thresholds that a broken learner does not reach."""

import numpy as np
import pytest
from learning_cases import long_trap, small, tiny, value_of

from policy_cases import decide
from sequoia.bounds.exact import joint_states, solve_exactly
from sequoia.learn import make_config, train
from sequoia.optimize.engines.enumeration import Enumeration
from sequoia.policies import Myopic, Sequoia
from sequoia.problem.families import capacity, interventions, routing, scheduling, trap
from sequoia.simulate import Scenarios, rollout

SEED = 0


def share_of_optimum(problem, config, seed=0) -> float:
    trained = train(problem, config, seed)
    return value_of(problem, Sequoia(problem, trained.model)) / solve_exactly(problem).value


def test_it_walks_through_the_trap():
    """From (0, 0), and without a warm start, which sees states anywhere."""
    problem = trap(horizon=5)
    optimum = solve_exactly(problem).value
    assert value_of(problem, Myopic(problem)) < 0.2 * optimum
    config = small(rounds=10, samples=0)
    trained = train(problem, config)
    assert trained.history[0]["reward"] * problem.horizon < 0.2 * optimum
    assert value_of(problem, Sequoia(problem, trained.model)) == pytest.approx(optimum)


def test_worth_travels_back_many_steps():
    """Four steps of a dip: only a target that follows the network sees beyond it."""
    problem = long_trap()
    config = small(rounds=16)
    assert share_of_optimum(problem, config) == pytest.approx(1)


def test_chance_is_weighed_right():
    """A policy close to the optimum, and values close to the optimal ones in every state."""
    problem = tiny()
    exact = solve_exactly(problem)
    assert value_of(problem, Myopic(problem)) < 0.92 * exact.value
    trained = train(problem, small(rounds=30))
    assert value_of(problem, Sequoia(problem, trained.model)) > 0.98 * exact.value
    states = joint_states(problem)
    net = trained.model.fold(states, np.zeros(len(states), np.int64))
    said = Enumeration(trained.model.columns).best(net).values
    assert np.abs(said - exact.values[0]).mean() < 0.05 * exact.values[0].mean()


@pytest.mark.parametrize("keep_best", [True, False])
def test_the_model_earns_what_it_says(keep_best):
    """The network that is returned is the best one seen, or the last one."""
    problem = tiny()
    config = small(rounds=4, eval_freq=1, n_eval_episodes=30, keep_best=keep_best)
    trained = train(problem, config, seed=SEED)
    held_out = Scenarios.sample(problem, 30, seed=SEED + 1_000_003)
    played = rollout(problem, Sequoia(problem, trained.model), held_out)
    rewards = [row["reward"] for row in trained.history]
    assert trained.reward == (max(rewards) if keep_best else rewards[-1])
    assert played.rewards.mean() == pytest.approx(trained.reward)


SETTINGS = {
    "capacity": capacity(arms=6, workers=2, horizon=3),
    "scheduling": scheduling(arms=6, workers=2, horizon=3),
    "interventions": interventions(arms=6, budget=2, horizon=3),
    "routing": routing(arms=6, budget=2, horizon=3),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_papers_preset_runs_to_the_end(name):
    problem = SETTINGS[name]
    few = {"rounds": 6, "samples": 60, "epochs": 2, "n_eval_episodes": 2}
    config = make_config("paper", **few)
    trained = train(problem, config)
    assert [row["round"] for row in trained.history] == list(range(7))
    assert trained.history[0]["epsilon"] == pytest.approx(0.9)
    assert {part.shape for part in trained.model.parameters.values()} >= {(32, 32), (32,)}
    policy = Sequoia(problem, trained.model)
    for state in problem.draw_start(np.random.default_rng(0), 3):
        decision = decide(policy, state, 0, np.random.default_rng(0))
        problem.space.system.require(decision)
