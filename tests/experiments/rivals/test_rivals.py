"""Every rival learns, goes on where it was stopped, and says what it needs."""

import tempfile
from importlib import util

import numpy as np
import pytest

from experiments.rivals import ppo
from experiments.rivals.srl import Srl
from sequoia.errors import ConfigError, ProblemError
from sequoia.evaluation import evaluate
from sequoia.learn import base, make_config, train
from sequoia.learn.checkpoint import NAME
from sequoia.learn.registry import LEARNERS
from sequoia.models.folder import load_model
from sequoia.policies import make_policy
from sequoia.problem.families import routing, standard, trap

RIVALS = list(LEARNERS.added)
BANDIT = standard(arms=4, budget=1, horizon=8, seed=3)
# As few steps of everything as there can be.
SHORT = {"rounds": 3, "episodes": 4, "selection.eval_freq": 1, "selection.n_eval_episodes": 2}
# Enough for a bandit of four arms, on which looking one step ahead earns 57 % of the optimum.
ENOUGH = {
    "ppo-scores": {"rounds": 30},
    "ppo-masked": {"rounds": 12},
    "srl": {"rounds": 40},
    "cascade-dqn": {"rounds": 20},
    "lsflow": {"rounds": 40},
}


@pytest.fixture(autouse=True)
def _needs_the_extra():
    pytest.importorskip("sb3_contrib")


def played(problem, trained):
    found = evaluate(problem, [trained.played_by], 50, 1, model=trained.model, bound="none")
    return found.mean(trained.played_by).mean


@pytest.mark.parametrize("name", RIVALS)
def test_it_sees_through_the_trap(name, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    problem = trap(horizon=8)
    few = {"episodes": 32, "selection.n_eval_episodes": 1}
    trained = train(problem, make_config(name, rounds=10, **few))
    best = evaluate(problem, ["exact"], 1, bound="none").mean("exact").mean
    assert played(problem, trained) >= 0.95 * best
    assert not list(tmp_path.glob("SB3*"))  # Its logs, that nobody asked for.


@pytest.mark.parametrize("name", RIVALS)
def test_it_learns_a_small_bandit(name):
    trained = train(BANDIT, make_config(name, **ENOUGH[name]))
    found = evaluate(BANDIT, ["exact", "myopic"], 50, 1, bound="none")
    assert played(BANDIT, trained) >= 0.95 * found.mean("exact").mean
    assert found.mean("myopic").mean < 0.7 * found.mean("exact").mean


class Crash(Exception):
    """Ends a training from inside."""


def crash(progress):
    if progress.round.round == 2:
        raise Crash


@pytest.mark.parametrize("name", RIVALS)
def test_ended_in_the_middle_and_resumed_it_is_the_same(name, tmp_path):
    config = make_config(name, **SHORT)
    whole = train(BANDIT, config, seed=5)
    with pytest.raises(Crash):
        train(BANDIT, config, seed=5, folder=tmp_path, on_event=crash)
    assert (tmp_path / NAME).exists()
    resumed = train(BANDIT, config, seed=5, folder=tmp_path, resume=True)
    assert resumed.reward == whole.reward
    states, steps = BANDIT.draw_start(np.random.default_rng(0), 3), np.arange(3)
    one, other = whole.model.fold(states, steps), load_model(tmp_path, BANDIT).fold(states, steps)
    assert np.array_equal(one.linear, other.linear)
    assert np.array_equal(one.first_bias, other.first_bias)


@pytest.mark.parametrize("name", RIVALS)
def test_the_round_in_which_the_time_is_over_is_the_last_and_is_played(name, tmp_path):
    config = make_config(name, **{**SHORT, "selection.eval_freq": 50, "seconds": 1e-9})
    trained = train(BANDIT, config, folder=tmp_path)
    assert [row["round"] for row in trained.history] == [0, 1]
    assert trained.history[-1]["reward"] is not None


def test_srl_ends_within_a_round_when_its_time_is_over():
    for seconds, steps in ((1e-9, 1), (None, BANDIT.horizon)):
        config = make_config("srl", **{**SHORT, "rounds": 1, "seconds": seconds})
        rival = Srl(BANDIT, config, 0)
        rival.begin()
        rival.play_round()
        assert rival.state()[1]["replay"] == config.episodes * steps


def test_time_that_was_spent_before_a_crash_is_not_given_again(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(base.time, "process_time", lambda: clock[0])

    def watch(progress):
        clock[0] += 10.0
        crash(progress)

    config = make_config("srl", **{**SHORT, "rounds": 50, "seconds": 35.0})
    with pytest.raises(Crash):
        train(BANDIT, config, folder=tmp_path, on_event=watch)
    trained = train(BANDIT, config, folder=tmp_path, resume=True, on_event=watch)
    # 20 of 35 seconds went into the first two rounds, the 10 of the crash were lost.
    assert trained.history[-1]["round"] == 5


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(
        ppo, "find_spec", lambda name: None if "sb3" in name else util.find_spec(name)
    )
    with pytest.raises(ConfigError, match=r"ppo-scores needs sb3_contrib.*--editable experiments"):
        train(BANDIT, make_config("ppo-scores"))


def test_a_walk_cannot_be_built_column_by_column():
    with pytest.raises(ProblemError, match="ppo-masked does not apply to"):
        train(routing(arms=20), make_config("ppo-masked", **SHORT))


def test_a_policy_that_does_not_play_a_model_says_which_does():
    trained = train(BANDIT, make_config("ppo-masked", **SHORT))
    with pytest.raises(ProblemError, match="sequoia: does not play this model; one-by-one does"):
        make_policy("sequoia", BANDIT, trained.model)
    other = train(BANDIT, make_config("srl", **SHORT))
    with pytest.raises(ProblemError, match="one-by-one: needs a model that chooses columns"):
        make_policy("one-by-one", BANDIT, other.model)
