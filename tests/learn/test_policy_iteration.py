"""Policy iteration on paired rollouts: it looks ahead, and is safe to interrupt."""

import numpy as np
import pytest

from sequoia.bounds import solve_exactly
from sequoia.learn import load_model, make_config, train
from sequoia.learn.greedy_model import GreedyModel
from sequoia.learn.held_out import HeldOut
from sequoia.learn.policy_iteration import _MORE, PolicyIteration
from sequoia.optimize.auto import RolloutAuto
from sequoia.policies import Myopic, Random, Sequoia
from sequoia.problem import Assignment, Budget, Dependencies, Rules
from sequoia.problem.families import epidemic, wildfire
from sequoia.simulate import Scenarios, rollout
from tiny_problems import earned, infected, random_problem

SMALL = {"rounds": 2, "states": 20, "candidates": 4, "rollouts": 2, "depth": 4}
QUICK = SMALL | {"gradient_steps": 20, "n_eval_episodes": 8}


def test_it_learns_what_looking_one_step_ahead_does_not_see():
    problem = epidemic(arms=6, budget=1, village=3, horizon=8, seed=3)
    trained = train(problem, make_config("interacting", rounds=2, n_eval_episodes=50), seed=1)
    scenarios = Scenarios.sample(problem, 300, seed=5)
    earned = {
        policy.name: rollout(problem, policy, scenarios).rewards.sum(axis=1).mean()
        for policy in (Random(problem), Myopic(problem), Sequoia(problem, trained.q))
    }
    optimum = solve_exactly(problem).value
    assert earned["random"] < earned["myopic"] < earned["sequoia"]
    assert optimum - earned["sequoia"] < 0.5 * (optimum - earned["myopic"])


class Crash(Exception):
    """Ends a training from inside."""


def crash(progress):
    if progress.round.round == 1:
        raise Crash


def test_resumed_and_read_again_it_is_the_same(tmp_path):
    problem = epidemic(arms=6, budget=2, horizon=4)
    config = make_config("interacting", **QUICK)
    whole = train(problem, config, seed=2)
    with pytest.raises(Crash):
        train(problem, config, seed=2, folder=tmp_path, on_event=crash)
    train(problem, config, seed=2, folder=tmp_path, resume=True)
    states = problem.draw_start(np.random.default_rng(0), 5)
    wanted = whole.q.fold(states, np.zeros(5, np.int64))
    found = load_model(tmp_path, problem).fold(states, np.zeros(5, np.int64))
    np.testing.assert_array_equal(found.linear, wanted.linear)


@pytest.mark.parametrize(
    "space",
    [
        Budget([1.0, 2.0, 1.0, 2.0, 1.0, 2.0], 3.0),
        Assignment([1.0, 2.0, 1.0, 2.0, 1.0, 2.0], [2.0, 1.0]),
    ],
)
def test_any_space_with_rules(space):
    plain = epidemic(arms=6, budget=2, horizon=3)
    problem = type(plain)(
        "any space",
        type(plain.arms)(
            plain.arms.rewards, plain.arms.doses, plain.arms.kernels, plain.arms.model
        ),
        space,
        plain.start,
        horizon=3,
        contagion=plain.contagion,
    ).with_rules(Rules(must=["arm 1"]))
    trained = train(problem, make_config("interacting", **QUICK))
    played = rollout(problem, Sequoia(problem, trained.q), Scenarios.sample(problem, 4, seed=0))
    assert (played.actions[:, :, 1] == 1).all()


def test_it_starts_from_what_a_factored_value_proposes():
    """Treating a fire earns nothing in the next step, so the myopic policy lets it burn."""
    problem = wildfire(arms=16, burning=2, budget=1, horizon=8, seed=1)
    scenarios = Scenarios.sample(problem, 100, seed=5)

    def earned(**changes):
        trained = train(problem, make_config("interacting", rounds=0, **changes))
        played = rollout(problem, Sequoia(problem, trained.q), scenarios)
        return played.rewards.sum(axis=1).mean(), trained.bound

    myopic = rollout(problem, Myopic(problem), scenarios).rewards.sum(axis=1).mean()
    with_start, bound = earned(table=100, price_rounds=60)
    assert myopic < with_start < bound * problem.horizon
    assert earned(price_rounds=0) == (myopic, None)


@pytest.mark.parametrize("rounds", [0, 1])
def test_price_is_the_result_where_nothing_better_is_learned(tmp_path, rounds):
    """One table holds a tiny problem, so the price policy is optimal."""
    problem = infected(random_problem("budget", 1), 1)
    config = make_config("interacting", **QUICK | {"rounds": rounds, "n_eval_episodes": 50})
    trained = train(problem, config, folder=tmp_path)
    best = solve_exactly(problem).value
    for q in (trained.q, load_model(tmp_path, problem)):
        assert earned(problem, Sequoia(problem, q)) == pytest.approx(best)
    assert trained.reward == pytest.approx(trained.history[-1]["best"])


class Chain:
    """Switches that can be set in order only; all on earns 1 a step, anything less nothing."""

    name, fingerprint = "chain", "chain 1"
    space = Budget(np.ones(5), 1)
    horizon, discount, n_noise = 10, 1.0, 5
    dependencies = Dependencies(np.eye(5, k=-1), np.eye(5), features=np.eye(5))

    def draw_start(self, rng, count):  # noqa: ARG002
        return np.zeros((count, 5), dtype=np.int64)

    def features(self, states):
        return states.astype(float)

    def step(self, states, actions, noise):
        ready = np.concatenate([np.ones((len(states), 1)), states[:, :-1]], axis=1)
        after = np.where((actions == 1) & (ready == 1) & (noise < 0.9), 1, states)
        return states.all(axis=1).astype(float), after


def test_rare_rewards_are_found_by_way_of_milestones():
    """Random play nearly never sets five switches in order."""
    chain = Chain()
    config = make_config("interacting", rounds=3, states=60, gradient_steps=100, n_eval_episodes=10)
    trained = train(chain, config, seed=2)
    assert trained.reward * chain.horizon > 1


class Toil(Chain):
    """Whatever is tried costs, and only the end pays."""

    def step(self, states, actions, noise):
        rewards, after = super().step(states, actions, noise)
        return 10 * rewards - actions @ np.linspace(1, 2, 5), after


def test_what_pays_only_in_the_end_is_begun():
    """Comparisons say that every action is wasted; after rounds in vain, milestones count."""
    toil = Toil()
    small = {"states": 60, "gradient_steps": 100, "n_eval_episodes": 10}
    trained = train(toil, make_config("interacting", rounds=8, patience=8, **small), seed=4)
    assert trained.reward * toil.horizon > 1


def test_where_all_rounds_were_in_vain_some_more_are_played():
    toil, small = Toil(), {"states": 60, "gradient_steps": 100, "n_eval_episodes": 10}
    trained = train(toil, make_config("interacting", rounds=3, patience=3, **small), seed=4)
    assert 3 < trained.history[-1]["round"] <= 3 + _MORE
    assert trained.reward * toil.horizon > 1

    class Hopeless(Toil):
        def step(self, states, actions, noise):
            rewards, after = super().step(states, actions, noise)
            return np.minimum(rewards, 0.0), after

    few = {"states": 4, "gradient_steps": 2, "n_eval_episodes": 2}
    trained = train(Hopeless(), make_config("interacting", rounds=3, patience=3, **few), seed=4)
    assert trained.history[-1]["round"] == 3 + _MORE


def test_luck_does_not_replace_what_is_optimal(monkeypatch):
    """One table holds a tiny problem: `price` stays, whatever others earn in a few episodes."""
    problem = infected(random_problem("budget", 1), 1)
    learner = PolicyIteration(problem, make_config("interacting", **QUICK), seed=0)
    learner.begin()

    monkeypatch.setattr(learner, "_play", lambda model: np.arange(8.0) - model.is_joint)
    learner.selection.best_rewards = np.arange(8.0)
    assert learner.result().is_joint


@pytest.mark.parametrize("best", ["price", "learned", "both"])
def test_the_best_of_what_was_learned_and_of_what_prices_know_is_kept(best, monkeypatch):
    problem = epidemic(arms=20, budget=4, horizon=5, seed=1)
    config = make_config("interacting", **QUICK | {"table": 60, "price_rounds": 5})
    learner = PolicyIteration(problem, config, seed=0)
    learner.begin()
    learner.play_round()
    learner.selection.best = learner.parameters  # what was learned, whether it is better yet or not
    assert len(learner.model(learner.selection.best).factored.tables) > 1

    def kind(model):
        if not model.is_joint:
            return "learned"
        return "both" if model.parameters["out"].any() else "price"

    monkeypatch.setattr(learner, "_play", lambda model: np.full(8, float(kind(model) == best)))
    learner.selection.best_rewards = np.full(8, float(best == "learned"))
    assert kind(learner.result()) == best
    assert learner.result_reward == 1


def test_all_finalists_play_the_same_episodes():
    problem = epidemic(arms=20, budget=4, horizon=5, seed=1)
    config = make_config("interacting", **QUICK | {"table": 60, "price_rounds": 5, "rounds": 1})
    trained = train(problem, config, seed=0)
    again = GreedyModel(trained.q, RolloutAuto(trained.q.encoding))
    assert HeldOut(problem, 8, 0).play(again).mean() == pytest.approx(trained.reward)
