"""Training from outside: how long, from what at least, and what an interrupt leaves."""

import numpy as np
import pytest
from learning_cases import short, tiny

from learned_cases import Switches
from sequoia.errors import SequoiaError
from sequoia.learn import load_model, make_config, train
from sequoia.learn.checkpoint import NAME
from sequoia.models.folder import read_about
from sequoia.policies import Sequoia, make_policy
from sequoia.problem.families import trap
from sequoia.simulate import Scenarios, rollout

PROBLEM = tiny()


def interrupt_at(rounds):
    def watch(progress):
        if progress.round.round == rounds:
            raise KeyboardInterrupt

    return watch


def test_seconds_end_it_after_the_round_in_which_they_are_over():
    trained = train(PROBLEM, make_config("default", rounds=9), seconds=1e-9)
    assert [row["round"] for row in trained.history] == [0, 1]
    assert trained.config["seconds"] == 1e-9
    assert len(train(PROBLEM, short(), seconds=1e9).history) == len(train(PROBLEM, short()).history)


def test_interrupted_it_returns_the_best_so_far():
    config = make_config("default", rounds=9)
    trained = train(PROBLEM, config, on_event=interrupt_at(1))
    assert trained.history[-1]["round"] == 1
    state = PROBLEM.draw_start(np.random.default_rng(0), 1)
    made = Sequoia(PROBLEM, trained.model).act(state, 0, [np.random.default_rng(0)])
    assert PROBLEM.space.contains(made.actions).all()


@pytest.mark.parametrize("config", [make_config("default", rounds=3, patience=9), short()])
def test_interrupted_with_a_folder_it_can_be_used_and_resumed(tmp_path, config):
    whole = train(PROBLEM, config)
    with pytest.raises(KeyboardInterrupt):
        train(PROBLEM, config, folder=tmp_path, on_event=interrupt_at(2))
    load_model(tmp_path, PROBLEM)
    assert (tmp_path / NAME).exists()
    assert read_about(tmp_path)["rounds"] == 2
    resumed = train(PROBLEM, config, folder=tmp_path, resume=True)
    assert not (tmp_path / NAME).exists()
    states, steps = PROBLEM.draw_start(np.random.default_rng(0), 4), np.zeros(4, np.int64)
    assert np.array_equal(
        resumed.model.fold(states, steps).linear, whole.model.fold(states, steps).linear
    )
    assert resumed.reward == whole.reward
    assert [row["round"] for row in resumed.history] == [row["round"] for row in whole.history]


def test_interrupted_before_anything_is_known_nothing_is_left(tmp_path, monkeypatch):
    from sequoia.learn.q_learning import QLearning

    def press(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(QLearning, "begin", press)
    with pytest.raises(KeyboardInterrupt):
        train(PROBLEM, short(), folder=tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_base_policy_that_is_better_plays_in_place_of_what_was_learned():
    """Untrained, a network of the paper sees nothing of what waits beyond the trap."""
    problem = trap(horizon=5)
    untrained = short(rounds=0, samples=0)
    worse = train(problem, untrained)
    trained = train(problem, untrained, base="price")
    assert trained.played_by == "price"
    price = rollout(problem, make_policy("price", problem), Scenarios.sample(problem, 5, 0))
    assert trained.reward == pytest.approx(price.rewards.mean())
    assert trained.reward > worse.reward


def test_a_base_policy_that_is_not_better_changes_nothing():
    config = make_config("default", rounds=1)
    one, other = train(PROBLEM, config), train(PROBLEM, config, base="random")
    assert other.played_by == "sequoia"
    assert (other.reward, other.gain) == (one.reward, one.gain)


def test_an_unknown_base_policy_is_one_line():
    with pytest.raises(SequoiaError, match="magic") as error:
        train(PROBLEM, short(rounds=0), base="magic")
    assert "\n" not in str(error.value)


def test_an_environment_that_breaks_its_promises_is_refused_before_any_work():
    class Broken(Switches):
        def step(self, states, actions, noise):
            rewards, following = super().step(states, actions, noise)
            return rewards[:1], following

    with pytest.raises(SequoiaError) as error:
        train(Broken(), make_config("default", rounds=1))
    assert "\n" not in str(error.value)


def test_what_was_found_is_said_and_written(tmp_path):
    trained = train(Switches(), make_config("default", rounds=0), folder=tmp_path)
    assert trained.structure.startswith("Structure, found by asking step: 5 components, ")
    about = read_about(tmp_path)
    assert about["structure"] == trained.structure
    assert about["base"] in ("idle", "random")
