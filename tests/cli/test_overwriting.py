"""No command replaces what it did not write, unless told --force."""

import os
from pathlib import Path

import pytest

from sequoia import load, save
from sequoia.io import UNFINISHED, locked
from sequoia.problem.families import standard, trap

MINE = "dear to me\n"
PLAN = """# my plan, my words
policies = ["random"]
episodes = 1

[[problems]]
family = "trap"
"""


@pytest.fixture
def run(command):
    save(trap(), "p.npz")
    Path("today.csv").write_text("arm,state\narm 0,0\narm 1,0\n")
    Path("plan.toml").write_text(PLAN)
    assert command("evaluate", "p.npz", "--policies", "random", "--episodes", 1, "-o", "e.json")[
        0
    ] == (0)
    return command


WRITING = [
    ("make trap -o", "mine.npz"),
    ("show p.npz --plot", "mine.png"),
    ("evaluate p.npz --policies random --episodes 1 -o", "mine.json"),
    ("plan p.npz --state today.csv -o", "mine.csv"),
    ("plan p.npz --state today.csv -o", "mine.json"),
    ("report e.json -o", "mine.html"),
    ("train p.npz --set rounds=0 -o", "m/weights.safetensors"),
    ("train p.npz --set rounds=0 -o", "m/history.csv"),
    ("gallery -o", "m/capacity.png"),
    ("gallery -o", "m/standard.npz"),
    ("demo -o", "m/report.html"),
    ("sweep plan.toml -o", "m/numbers.csv"),
    ("sweep plan.toml -o", "m/plan.toml"),
]


@pytest.mark.parametrize(("line", "file"), WRITING)
def test_nothing_is_overwritten_without_force(run, line, file):
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(MINE)
    outcome = run(*line.split(), path.parts[0])
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "--force" in outcome.err
    assert path.read_text() == MINE


@pytest.mark.parametrize(("line", "file"), [one for one in WRITING[:6] if "mine" in one[1]])
def test_with_force_it_is_overwritten_through_a_link(run, line, file):
    Path("real").write_text(MINE)
    Path(file).symlink_to("real")
    assert run(*line.split(), file, "--force").code == 0
    assert Path(file).is_symlink()
    assert Path("real").read_bytes() != MINE.encode()


def test_a_folder_is_made_anew_with_force_but_never_with_files_of_others(run):
    assert run("make", "capacity", "-o", "p").code == 0
    assert run("make", "trap", "-o", "p", "--force").code == 0
    assert load("p").fingerprint == trap().fingerprint
    for name in ("my-budget.csv", "workers.csv"):
        Path("p", name).write_text(MINE)
        outcome = run("make", "capacity", "-o", "p", "--force")
        assert outcome.code == 2
        assert f"holds other things than a problem: {name}" in outcome.err
        assert Path("p", name).read_text() == MINE
        assert load("p").fingerprint == trap().fingerprint
        Path("p", name).unlink()
    Path("link").symlink_to("p")
    assert run("make", "standard", "-o", "link", "--force").code == 0
    assert Path("link").is_symlink()
    assert load("p").fingerprint == standard().fingerprint


def test_a_table_of_the_users_need_not_be_readable(run):
    run("make", "trap", "-o", "p")
    Path("p/my-budget.csv").write_text('"never closed')
    assert run("show", "p").code == 0
    assert "my-budget.csv is not used" in run("check", "p").out


def test_a_plan_keeps_its_comments_and_a_written_one_is_replaced(run):
    Path("s").mkdir()
    Path("plan.toml").rename("s/plan.toml")
    assert run("sweep", "s/plan.toml", "-o", "s", "--jobs", 1).code == 0
    assert Path("s/plan.toml").read_text() == PLAN
    Path("other.toml").write_text(PLAN.replace("episodes = 1", "episodes = 2"))
    assert "--force" in run("sweep", "other.toml", "-o", "s", "--jobs", 1).err
    assert Path("s/plan.toml").read_text() == PLAN
    for plan in ("other.toml", "s/plan.toml"):
        assert run("sweep", plan, "-o", "fresh", "--jobs", 1).code == 0
    assert run("sweep", "other.toml", "-o", "s", "--jobs", 1, "--force").code == 0
    assert "episodes = 2" in Path("s/plan.toml").read_text()


def test_training_begins_anew_with_force(run):
    arguments = ("train", "p.npz", "-o", "m", "--set", "rounds=0")
    assert run(*arguments).code == 0
    assert "--force" in run(*arguments, "--seed", 1).err
    assert run(*arguments, "--seed", 1, "--force").code == 0
    assert '"seed": 1' in Path("m/model.json").read_text()


def test_one_training_and_one_evaluation_at_a_time(run):
    for folder, what, line in (
        ("m", "training", "train p.npz -o m --set rounds=0"),
        ("new.json.parts", "evaluation", "evaluate p.npz --policies random -o new.json"),
    ):
        with locked(Path(folder), what):
            outcome = run(*line.split())
        assert outcome.code == 2
        assert outcome.err == (
            f"FileError: {folder} is in use: the {what} with process id {os.getpid()} is writing "
            "to it.\n"
        )
        assert run(*line.split()).code == 0
        assert not Path(folder, "lock").exists()


def test_what_a_kill_left_is_cleared_by_the_next_run(run):
    places = ("new.json.parts", "m", "s", "s/cells/x", "s/cells/x/work", "s/cells/x/work/model-1")
    left = [Path(place, f"{UNFINISHED}abc") for place in (".", *places)]
    for file in left:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("half")
    assert run("evaluate", "p.npz", "--policies", "random", "-o", "new.json").code == 0
    assert run("train", "p.npz", "-o", "m", "--set", "rounds=0").code == 0
    assert run("sweep", "plan.toml", "-o", "s", "--jobs", 1).code == 0
    assert not any(file.exists() for file in left)
    left[0].write_text("half")
    assert run("make", "trap", "-o", "q.npz").code == 0
    assert not left[0].exists()
