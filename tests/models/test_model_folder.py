"""Models on disk: what is read is what was written, and what is wrong is said."""

import csv
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file

from policy_cases import joint_states, tiny
from real_command import PATIENCE
from sequoia.errors import FileError
from sequoia.models.folder import Trained, load_model, read_about, save_model
from sequoia.models.q_model import QModel, View, shapes
from sequoia.optimize.encoding import ActionEncoding

PROBLEM = tiny("doses", 1, horizon=3)


def trained(hidden=(4,)):
    rng = np.random.default_rng(0)
    columns, view = ActionEncoding.of_problem(PROBLEM), View(time_feature=False)
    sizes = shapes(6, columns.n_inputs, hidden, 5, True)
    own = {
        name: np.asarray(rng.standard_normal(shape), np.float32) for name, shape in sizes.items()
    }
    history = [
        {"round": 0, "reward": 1.0, "seconds": 0.1},
        {"round": 1, "reward": None, "seconds": 0.2},
        {"round": 2, "reward": 1.5, "seconds": 0.3},
    ]
    q = QModel(PROBLEM, columns, view, own, 2.5)
    return Trained(q, "q-learning", {"rounds": 2, "hidden": [4]}, 7, 1.5, 2.0, None, 0.4, history)


@pytest.mark.parametrize("hidden", [(), (4,), (4, 3)])
def test_what_is_read_is_what_was_written(tmp_path, hidden):
    one = trained(hidden)
    save_model(tmp_path / "deep" / "model", one)
    other = load_model(tmp_path / "deep" / "model", PROBLEM)
    states = joint_states(PROBLEM)
    steps = np.arange(len(states)) % 3
    for part in ("first_bias", "linear", "constant", "output"):
        values = getattr(one.model.fold(states, steps), part)
        assert values.tobytes() == getattr(other.fold(states, steps), part).tobytes()
    assert other.view == one.model.view


def test_a_person_can_read_it(tmp_path):
    save_model(tmp_path, trained())
    about = json.loads((tmp_path / "model.json").read_text())
    assert about["problem"] == PROBLEM.name
    assert about["fingerprint"] == PROBLEM.fingerprint
    assert about["config"] == {"rounds": 2, "hidden": [4]}
    wanted = {"seed": 7, "rounds": 2, "start": 1.0, "reward": 1.5, "bound": 2.0, "seconds": 0.4}
    assert {name: about[name] for name in wanted} == wanted
    with open(tmp_path / "history.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["reward"] for row in rows] == ["1.0", "", "1.5"]
    names = load_file(tmp_path / "weights.safetensors")
    assert {"network.output", "network.linear.bias"} <= set(names)


def test_a_model_for_another_problem_is_refused(tmp_path):
    save_model(tmp_path, trained())
    other = replace(PROBLEM, name="another")
    with pytest.raises(
        FileError, match=r"was trained for tiny doses 1 .* not for another"
    ) as error:
        load_model(tmp_path, other)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("model.json", None, "holds no trained model; model.json is missing"),
        ("model.json", b"{", "cannot be read as JSON"),
        ("model.json", b"\xff\xfe\x00", "cannot be read as JSON"),
        ("model.json", b"[1]", "is not a table of settings"),
        ("model.json", b'{"format": 99}', "has format 99; this version reads 2"),
        ("weights.safetensors", None, "weights.safetensors does not exist"),
        ("weights.safetensors", b"", "is not the file that .* describes"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, file, content, words):
    save_model(tmp_path, trained())
    (tmp_path / file).unlink()
    if content is not None:
        (tmp_path / file).write_bytes(content)
    with pytest.raises(FileError, match=words) as error:
        load_model(tmp_path, PROBLEM)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["scale", "time_feature", "indicators"])
def test_a_missing_setting_is_named(tmp_path, name):
    save_model(tmp_path, trained())
    about = read_about(tmp_path)
    del about["facts"][name]
    (tmp_path / "model.json").write_text(json.dumps(about))
    with pytest.raises(FileError, match=f"is damaged: '{name}'"):
        load_model(tmp_path, PROBLEM)


@pytest.mark.parametrize("facts", [{"indicators": False}, {"time_feature": True}])
def test_weights_for_other_features_are_refused(tmp_path, facts):
    save_model(tmp_path, trained())
    about = read_about(tmp_path)
    about["facts"] |= facts
    (tmp_path / "model.json").write_text(json.dumps(about))
    with pytest.raises(FileError, match="is damaged"):
        load_model(tmp_path, PROBLEM)


@pytest.mark.parametrize("kind", ["graph-network", "priced-q-network", None])
def test_a_kind_of_another_version_is_one_line(tmp_path, kind):
    save_model(tmp_path, trained())
    about = read_about(tmp_path)
    about["kind"] = kind
    (tmp_path / "model.json").write_text(json.dumps(about))
    with pytest.raises(FileError, match="which this version does not know: train the") as error:
        load_model(tmp_path, PROBLEM)
    assert "\n" not in str(error.value)


def test_one_flipped_bit_is_found(tmp_path):
    save_model(tmp_path, trained())
    path = tmp_path / "weights.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(FileError, match="is not the file that"):
        load_model(tmp_path, PROBLEM)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match="holds no trained model"):
        load_model(tmp_path / "nowhere", PROBLEM)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="holds no trained model"):
        load_model(tmp_path / "file", PROBLEM)
    with pytest.raises(FileError, match="cannot be made"):
        save_model(tmp_path / "file", trained())


ACT = """
import sys
sys.modules["torch"] = None
from pathlib import Path
import numpy as np
from sequoia import load
from sequoia.policies import IterativeDqn, Sequoia
from sequoia.models.folder import load_model
problem = load(Path("p.npz"))
q = load_model(Path("model"), problem)
state, rng = np.zeros(problem.arms.n_arms, np.int64), np.random.default_rng(0)
print(Sequoia(problem, q).act(state[None], 1, [rng]).actions[0].tolist())
print(IterativeDqn(problem, q).act(state[None], 1, [rng]).actions[0].tolist())
"""


def test_a_trained_policy_acts_without_torch(tmp_path):
    from sequoia import save
    from sequoia.policies import Sequoia

    save(PROBLEM, tmp_path / "p.npz")
    one = trained()
    save_model(tmp_path / "model", one)
    done = subprocess.run(
        [sys.executable, "-c", ACT], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    state, rng = np.zeros(3, np.int64), np.random.default_rng(0)
    wanted = Sequoia(PROBLEM, one.model).act(state[None], 1, [rng]).actions[0].tolist()
    assert done.stdout.splitlines()[0] == str(wanted)
