import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from real_command import PATIENCE, ended, start
from sequoia import save
from sequoia.problem.families import capacity, interventions

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
PROBLEM = capacity(arms=6, workers=2, horizon=4)
# Of Q-learning, whose rounds take no time.
SHORT = {
    "rounds": 2,
    "episodes": 2,
    "gradient_steps": 1,
    "batch_size": 8,
    "cache_rounds": 1,
    "n_eval_episodes": 2,
    "samples": 20,
    "epochs": 1,
    "hidden": [4],
    "keep_best": True,
}


def settings(**changes):
    pairs = [f"{name}={json.dumps(value)}" for name, value in (SHORT | changes).items()]
    return ["--preset", "paper", *(text for pair in pairs for text in ("--set", pair))]


@pytest.fixture
def run(command, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    save(PROBLEM, tmp_path / "p.npz")
    return command


def weights(folder="model"):
    return hashlib.sha256((Path(folder) / "weights.safetensors").read_bytes()).hexdigest()


def contents(folder="model"):
    return {file.name: file.read_bytes() for file in Path(folder).iterdir()}


def assert_one_line(outcome, words):
    assert outcome.code == 2
    assert outcome.out == ""
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_model_and_what_to_do_with_it(run):
    outcome = run("train", "p.npz", "-o", "model", "--set", "rounds=2")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0].startswith("Trained capacity, 6 arms, 2 workers, seed 0 in 2 rounds, ")
    assert lines[1].startswith("Reward per step in held-out episodes: ")
    assert "no policy earns more than" in lines[1]
    assert lines[2].startswith("Structure, declared: 6 components, each depending on 0.0 others; ")
    assert lines[3].startswith("Wrote model; next: sequoia evaluate p.npz ")
    assert "Training: round 0 of 2: reward " in outcome.err
    assert sorted(os.listdir("model")) == ["history.csv", "model.json", "weights.safetensors"]
    history = Path("model/history.csv").read_text().splitlines()
    assert history[0].startswith("round,epsilon,loss,reward,best,hit_rate,")
    assert len(history) == 4
    following = lines[3].split("sequoia ")[1].split()
    assert run(*following, "--episodes", 2).code == 0


def test_json_alone_on_stdout(run):
    outcome = run("train", "p.npz", "-o", "model", *settings(), "--json")
    found = json.loads(outcome.out)
    usual = ["problem", "start", "reward", "bound", "rounds", "seconds", "gain"]
    assert list(found) == [*usual, "solver", "bound_stopped_by"]
    assert found["reward"] >= found["start"]
    again = run("train", "p.npz", "-o", "model", *settings(), "--json", "--resume")
    assert json.loads(again.out) == found
    assert again.err == "model is trained already.\n"


def test_settings_and_presets_reach_the_model(run):
    run(
        *("train", "p.npz", "-o", "model", "--preset", "paper", "--seed", 4),
        *("--set", "rounds=1", "--set", "samples=40", "--set", "epochs=1"),
        *("--set", "hidden=[3, 2]", "--set", "n_eval_episodes=1"),
    )
    about = json.loads(Path("model/model.json").read_text())
    assert about["seed"] == 4
    assert about["config"]["network.hidden"] == [3, 2]
    assert about["config"]["rounds"] == 1
    assert about["config"]["learning_rate"] == 2.5e-4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--preset fast", "there is no preset 'fast'; known: default, paper, "),
        ("--preset scratch", "the preset 'scratch' is gone: one learner serves every environment"),
        ("--preset interacting", "the preset 'interacting' is gone: one learner serves every env"),
        ("--set rounds", "--set 'rounds' is not NAME=VALUE"),
        (
            "--set round=3",
            "train.round is unknown; did you mean rounds? known: rounds, seconds, patience.",
        ),
        ("--set rounds=many", "train.rounds is 'many': "),
        ("--set rounds=-1", "train.rounds is -1: "),
        ("--set gamma=0.5", "train.gamma is unknown; known: rounds, seconds, patience."),
        ("--preset paper --set hidden=[0]", "train.network.hidden.0 is 0: "),
        ("--preset paper --set gamma=5", "train.gamma is 5: "),
        ("--seed -1", "the seed is -1"),
        ("-o p.npz", "p.npz cannot be made"),
    ],
)
def test_what_goes_wrong_is_one_line(run, arguments, words):
    assert_one_line(run("train", "p.npz", "-o", "model", *arguments.split()), words)
    assert not Path("model").exists()


def test_an_output_is_asked_for(run):
    assert_one_line(run("train", "p.npz"), "--output")


def test_it_says_when_learning_gained_nothing(run):
    """After no rounds at all, there is nothing to gain."""
    nothing = ("--set", "rounds=0")
    outcome = run("train", "p.npz", "-o", "model", *nothing)
    assert outcome.code == 0
    assert outcome.out.splitlines()[-1] == (
        "Learning gained nothing that is more than luck over price; that policy is kept."
    )
    gain = json.loads(run("train", "p.npz", "-o", "other", *nothing, "--json").out)["gain"]
    assert gain == [0.0, 0.0, 0.0]


def test_a_model_is_not_overwritten(run):
    run("train", "p.npz", "-o", "model", *settings())
    before = contents()
    outcome = run("train", "p.npz", "-o", "model", *settings())
    assert_one_line(outcome, "model holds model.json already; --resume goes on with it")
    assert contents() == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (("p.npz", *settings(batch_size=9)), "written with batch_size 8; 9 is asked for"),
        (("p.npz", *settings(), "--seed", "1"), "written with seed 0; 1 is asked for"),
        (("q.npz", *settings()), "written with fingerprint "),
    ],
)
@pytest.mark.parametrize("is_done", [True, False])
def test_something_else_is_not_resumed(run, tmp_path, monkeypatch, changes, words, is_done):
    """Neither a model nor a checkpoint."""
    save(capacity(arms=6, workers=2, horizon=4, seed=1), tmp_path / "q.npz")
    if is_done:
        run("train", "p.npz", "-o", "model", *settings())
    else:
        interrupt(run, monkeypatch, 1)
    before = contents()
    file, *rest = changes
    assert_one_line(run("train", file, "-o", "model", *rest, "--resume"), words)
    assert contents() == before
    assert run("train", "p.npz", "-o", "model", *settings(), "--resume").code == 0


def interrupt(run, monkeypatch, rounds):
    """Press Ctrl-C in the round after ``rounds``."""

    from sequoia.learn.q_learning import QLearning

    play = QLearning.play_round

    def press(self):
        if self.rounds == rounds:
            raise KeyboardInterrupt
        return play(self)

    monkeypatch.setattr(QLearning, "play_round", press)
    outcome = run("train", "p.npz", "-o", "model", *settings())
    monkeypatch.setattr(QLearning, "play_round", play)
    return outcome


def test_ctrl_c_says_what_is_kept(run, monkeypatch):
    outcome = interrupt(run, monkeypatch, 1)
    assert outcome.code == 130
    assert outcome.out == ""
    assert outcome.err.splitlines()[-1] == (
        "Stopped. Everything up to round 1 is kept in model; the same command with --resume goes "
        "on from there."
    )
    # The best so far can be used at once.
    whole = ["history.csv", "model.json", "weights.safetensors"]
    assert sorted(os.listdir("model")) == ["checkpoint.safetensors", *whole]
    asked = ("evaluate", "p.npz", "--policies", "sequoia", "--model", "model", "--episodes", 2)
    assert run(*asked).code == 0
    refused = run("train", "p.npz", "-o", "model", *settings())
    assert_one_line(refused, "model holds model.json already")
    resumed = run("train", "p.npz", "-o", "model", *settings(), "--resume")
    assert resumed.code == 0
    assert sorted(os.listdir("model")) == whole
    run("train", "p.npz", "-o", "whole", *settings())
    assert weights("model") == weights("whole")


@pytest.mark.parametrize("content", [b"", b"nonsense"])
def test_a_damaged_checkpoint(run, monkeypatch, content):
    interrupt(run, monkeypatch, 1)
    Path("model/checkpoint.safetensors").write_bytes(content)
    outcome = run("train", "p.npz", "-o", "model", *settings(), "--resume")
    assert_one_line(outcome, "model/checkpoint.safetensors is not a checkpoint that can be read")
    assert Path("model/checkpoint.safetensors").read_bytes() == content


def wait_for_change(path: Path, before: float, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        if path.exists() and path.stat().st_mtime_ns != before:
            return
        time.sleep(0.002)
    raise AssertionError(f"ended too early: {process.communicate()[1]}")


LONG = settings(rounds=60, gradient_steps=2, eval_freq=20, keep_best=False)


@POSIX
def test_killed_at_random_moments_it_ends_with_the_same_weights(run, tmp_path):
    assert run("train", "p.npz", "-o", "whole", *LONG).code == 0
    checkpoint = tmp_path / "model" / "checkpoint.safetensors"
    luck = random.Random(0)
    for _ in range(2):
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        process = start(tmp_path, "train", "p.npz", "-o", "model", *LONG, "--resume")
        wait_for_change(checkpoint, before, process)
        time.sleep(luck.random() * 0.2)
        process.kill()
        ended(process)
    assert checkpoint.exists()
    assert run("train", "p.npz", "-o", "model", *LONG, "--resume").code == 0
    assert weights("model") == weights("whole")
    assert sorted(os.listdir("model")) == ["history.csv", "model.json", "weights.safetensors"]


@POSIX
@pytest.mark.usefixtures("run")
def test_a_real_ctrl_c(tmp_path):
    process = start(
        tmp_path, "train", "p.npz", "-o", "model", *settings(rounds=5000, keep_best=False)
    )
    wait_for_change(tmp_path / "model" / "checkpoint.safetensors", 0, process)
    process.send_signal(signal.SIGINT)
    out, err = ended(process)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith("Stopped. ")
    assert err.endswith("is kept in model; the same command with --resume goes on from there.\n")


def test_tensorboard_that_is_not_installed(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    outcome = run("train", "p.npz", "-o", "model", *settings(), "--tensorboard")
    assert_one_line(outcome, 'pip install "sequoia-plan[tensorboard]"')
    assert not Path("model").exists()


def test_evaluate_asks_the_model(run):
    run("train", "p.npz", "-o", "model", *settings())
    outcome = run(
        *("evaluate", "p.npz", "--policies", "random,iterative-dqn,sequoia", "--model", "model"),
        *("--episodes", 4, "--json"),
    )
    assert list(json.loads(outcome.out)["policies"]) == ["random", "iterative-dqn", "sequoia"]


def test_evaluate_refuses_a_model_of_another_problem(run, tmp_path):
    run("train", "p.npz", "-o", "model", *settings())
    save(capacity(arms=6, workers=2, horizon=4, seed=1), tmp_path / "q.npz")
    outcome = run("evaluate", "q.npz", "--policies", "sequoia", "--model", "model")
    assert_one_line(outcome, "model was trained for capacity, 6 arms, 2 workers, seed 0")
    Path("model/weights.safetensors").write_bytes(b"")
    outcome = run("evaluate", "p.npz", "--policies", "sequoia", "--model", "model")
    assert_one_line(outcome, "is not the file that model/model.json describes")


@pytest.mark.parametrize("family", ["capacity", "interventions"])
def test_todays_rules_on_top_of_a_model(run, tmp_path, family):
    """The model knows nothing of them; the plan keeps them all the same."""
    problem = PROBLEM if family == "capacity" else interventions(arms=6, budget=2, horizon=4)
    save(problem, tmp_path / "r.npz")
    rows = "".join(f"{name},0\n" for name in problem.arms.names)
    Path("state.csv").write_text("arm,state\n" + rows)
    assert run("train", "r.npz", "-o", "m", *settings()).code == 0
    plan = ("plan", "r.npz", "--state", "state.csv", "--policy", "sequoia", "--model", "m")
    free = json.loads(run(*plan, "--json").out)["action"]
    names = list(problem.space.names)
    other = next(name for name in names if name not in free)
    outcome = run(*plan, "--json", "--never", free[0], "--must", other)
    assert outcome.code == 0, outcome.err
    ruled = json.loads(outcome.out)["action"]
    assert free[0] not in ruled
    assert other in ruled
    assert np.isin(ruled, names).all()
