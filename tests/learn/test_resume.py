"""Ended in the middle and resumed, training ends with the same weights, bit for bit."""

import json
import os

import numpy as np
import pytest
import torch
from learning_cases import short, tiny
from safetensors import safe_open
from safetensors.torch import save

from policy_cases import decide
from sequoia.errors import FileError
from sequoia.learn import load_model, make_config, train
from sequoia.learn.checkpoint import NAME
from sequoia.learn.registry import LEARNERS
from sequoia.policies import Sequoia
from sequoia.problem.families import epidemic, scheduling

PROBLEM = tiny()
FORMS = {
    "small": (PROBLEM, short(rounds=5)),
    "remembering": (PROBLEM, short(rounds=7, cache_rounds=3)),
    "stopping early": (PROBLEM, short(rounds=9, keep_best=True, patience=1, eval_freq=1)),
    "ring": (PROBLEM, short(rounds=5, buffer_size=25)),
    "paper": (
        PROBLEM,
        make_config("paper", rounds=7, cache_rounds=2, samples=40, epochs=1, n_eval_episodes=2),
    ),
    "contagion": (epidemic(arms=5, budget=1, horizon=3), short(rounds=4)),
    "local search": (scheduling(arms=30, workers=4, horizon=2), short(rounds=3)),
}


class Crash(Exception):
    """Ends a training from inside."""


def crash_at(rounds):
    def watch(progress):
        if progress.round.round == rounds:
            raise Crash

    return watch


def without_seconds(trained):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in trained.history]


def assert_same(one, other):
    assert one.model.parameters.keys() == other.model.parameters.keys()
    for name, part in one.model.parameters.items():
        assert part.tobytes() == other.model.parameters[name].tobytes(), name
    assert one.model.scale == other.model.scale
    assert without_seconds(one) == without_seconds(other)
    assert (one.reward, one.bound) == (other.reward, other.bound)


@pytest.mark.parametrize("name", FORMS)
def test_crashed_at_random_rounds_it_ends_alike(name, tmp_path):
    problem, config = FORMS[name]
    whole = train(problem, config, 3)
    folder = tmp_path / "model"
    rng = np.random.default_rng(sorted(FORMS).index(name))
    last = whole.history[-1]["round"]
    for stop in sorted(rng.choice(last + 1, min(3, last + 1), replace=False)):
        with pytest.raises(Crash):
            train(problem, config, 3, folder=folder, resume=True, on_event=crash_at(stop))
        assert [file.name for file in folder.iterdir()] == [NAME]
    resumed = train(problem, config, 3, folder=folder, resume=True)
    assert_same(whole, resumed)
    names = sorted(file.name for file in folder.iterdir())
    assert names == ["history.csv", "model.json", "weights.safetensors"]


def test_another_seed_gives_other_weights():
    one, other = (train(PROBLEM, short(), seed) for seed in (0, 1))
    with pytest.raises(AssertionError):
        assert_same(one, other)


def test_how_much_is_kept_is_said(tmp_path):
    said = []
    train(PROBLEM, short(rounds=5, cache_rounds=2), folder=tmp_path, on_event=said.append)
    assert [one.kept for one in said] == [0, 0, 2, 2, 4, 4]
    assert [one.round.round for one in said] == list(range(6))
    assert all(one.rounds == 5 for one in said)
    assert said[0].seconds_left != said[0].seconds_left
    assert said[-1].seconds_left == 0
    said.clear()
    train(PROBLEM, short(rounds=1), on_event=said.append)
    assert [one.kept for one in said] == [None, None]


def test_time_spent_before_a_crash_counts(tmp_path):
    with pytest.raises(Crash):
        train(PROBLEM, short(), folder=tmp_path, on_event=crash_at(2))
    with safe_open(tmp_path / NAME, framework="pt") as file:
        before = json.loads(file.metadata()["about"])["extra"]["seconds"]
    trained = train(PROBLEM, short(), folder=tmp_path, resume=True)
    assert trained.seconds > before > 0
    times = [row["seconds"] for row in trained.history]
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"environment": tiny(8)}, "was written with fingerprint .*; .* is asked for now"),
        ({"seed": 5}, "was written with seed 0; 5 is asked for now"),
        ({"config": short(batch_size=9)}, "was written with batch_size 8; 9 is asked for now"),
    ],
)
def test_a_checkpoint_of_something_else_is_refused(tmp_path, changed, words):
    with pytest.raises(Crash):
        train(PROBLEM, short(), folder=tmp_path, on_event=crash_at(2))
    before = (tmp_path / NAME).read_bytes()
    own = {"environment": PROBLEM, "config": short(), "seed": 0} | changed
    with pytest.raises(FileError, match=words) as error:
        train(**own, folder=tmp_path, resume=True)
    assert "\n" not in str(error.value)
    assert (tmp_path / NAME).read_bytes() == before
    assert_same(
        train(PROBLEM, short(), folder=tmp_path, resume=True), train(PROBLEM, short(), seed=0)
    )


@pytest.mark.parametrize("damage", ["empty", "cut", "text", "no metadata"])
def test_a_damaged_checkpoint_is_said_to_be_one(tmp_path, damage):
    with pytest.raises(Crash):
        train(PROBLEM, short(), folder=tmp_path, on_event=crash_at(2))
    path = tmp_path / NAME
    content = path.read_bytes()
    path.write_bytes(
        {
            "empty": b"",
            "cut": content[: len(content) // 2],
            "text": b"not a checkpoint" * 100,
            "no metadata": save({"a": torch.zeros(2)}),
        }[damage]
    )
    with pytest.raises(FileError, match="is not a checkpoint that can be read"):
        train(PROBLEM, short(), folder=tmp_path, resume=True)
    assert path.exists()


def test_a_failed_write_leaves_the_checkpoint_before(tmp_path, monkeypatch):
    """The rename is the last thing that happens."""
    with pytest.raises(Crash):
        train(PROBLEM, short(), folder=tmp_path, on_event=crash_at(1))
    before = (tmp_path / NAME).read_bytes()

    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", no_space)
    with pytest.raises(FileError, match="No space left"):
        train(PROBLEM, short(), folder=tmp_path, resume=True)
    monkeypatch.undo()
    assert (tmp_path / NAME).read_bytes() == before
    assert_same(train(PROBLEM, short(), folder=tmp_path, resume=True), train(PROBLEM, short()))


def test_resuming_nothing_begins(tmp_path):
    assert_same(train(PROBLEM, short(), folder=tmp_path, resume=True), train(PROBLEM, short()))


def test_what_is_loaded_is_what_was_trained(tmp_path):
    trained = train(PROBLEM, short(), folder=tmp_path)
    loaded = load_model(tmp_path, PROBLEM)
    one, other = Sequoia(PROBLEM, trained.model), Sequoia(PROBLEM, loaded)
    rng = np.random.default_rng(0)
    for step in range(PROBLEM.horizon):
        for state in rng.integers(0, 3, (5, 3)):
            action = decide(one, state, step, rng).action
            assert decide(other, state, step, rng).action.tolist() == action.tolist()


def test_torchs_threads_are_given_back():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        train(PROBLEM, short(rounds=0))
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 4}, "was written with seed 3; 4 is asked for now"),
        ({"environment": tiny(8)}, "was written with fingerprint"),
        ({"config": short(rounds=5)}, "was written with rounds 4; 5 is asked for now"),
    ],
)
def test_another_training_is_refused_before_any_work(change, words, tmp_path, monkeypatch):
    given = {"environment": PROBLEM, "config": short(), "seed": 3}
    with pytest.raises(Crash):
        train(**given, folder=tmp_path, on_event=crash_at(2))
    monkeypatch.setitem(LEARNERS.library, "q-learning", None)
    with pytest.raises(FileError, match=words):
        train(**given | change, folder=tmp_path, resume=True)
