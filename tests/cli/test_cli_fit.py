"""``sequoia fit`` and ``sequoia regret``: from tables to transitions, and what learning costs."""

import csv
import json

import numpy as np
import pytest

from sequoia.policies import make_policy
from sequoia.problem import Arms, Budget, Problem, load, save
from sequoia.records import Seen, simulate_log


@pytest.fixture
def clinic(tmp_path):
    kernels = [[[[0.9, 0.1], [0.3, 0.7]], [[0.3, 0.7], [0.1, 0.9]]]]
    arms = Arms(
        [[0.0, 1.0]],
        [[0.0, 1.0]],
        kernels,
        np.zeros(12),
        state_names=["at risk", "well"],
    )
    problem = Problem("clinic", arms, Budget(np.ones(12), 4), np.full((12, 2), 0.5), discount=0.9)
    save(problem, tmp_path / "clinic")
    policy = make_policy("random", problem)
    log = simulate_log(problem, policy, 30, Seen(0.5), np.random.default_rng(2))
    names, states = problem.arms.names, problem.arms.state_names
    seen = [(names[j], t, states[s]) for j, t, s in log.sightings.tolist()]
    given = [(names[j], t, d) for j, t, d in log.visits.tolist()]
    for name, head, rows in (
        ("seen.csv", ("arm", "step", "state"), seen),
        ("given.csv", ("arm", "step", "dose"), given),
    ):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows([head, *rows])
    return problem


def test_fit_writes_a_problem_a_table_and_pictures(command, clinic, tmp_path):
    files = ("-o", "fitted", "--table", "t.csv", "--picture", "f.png", "--calibration", "c.png")
    given = ("clinic", "--sightings", "seen.csv", "--visits", "given.csv")
    done = command("fit", *given, *files, "--never-hurts")
    assert done.code == 0, done.err
    assert "of the log" in done.out
    assert "predictions for" in done.out
    fitted = load(tmp_path / "fitted")
    assert np.abs(fitted.arms.kernels - clinic.arms.kernels).max() < 0.25
    assert fitted.arms.state_names == ("at risk", "well")
    with (tmp_path / "t.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert rows[0]["state"] == "at risk"
    assert (tmp_path / "f.png").stat().st_size > 1000
    assert (tmp_path / "c.png").stat().st_size > 1000
    again = command("fit", *given, *files)
    assert again.code == 2
    assert "exists already" in again.err


def test_fit_as_json(command, clinic):
    done = command("fit", "clinic", "--sightings", "seen.csv", "--visits", "given.csv", "--json")
    content = json.loads(done.out)
    assert len(content["transitions"]) == 8
    assert content["log_likelihood"] < 0
    assert clinic.arms.n_models == 1


@pytest.mark.parametrize(
    ("seen", "given", "words"),
    [
        ("arm,state\narm 0,well\n", None, "arm and step and state are wanted"),
        ("arm,step,state\narm 0,0,wel\narm 99,1,well\n", None, "'well' is meant"),
        ("arm,step,state\narm 0,0,well\narm 0,0,well\n", None, "at step 0 again"),
        ("arm,step,state\narm 0,-1,well\n", None, "at least 0 is wanted"),
        ("arm,step,state\narm 0,0,well\n", "arm,step,dose\narm 0,0,7\n", "a dose of the arm"),
        ("arm,step,state\narm 0,0,well\n", "arm\narm 0\n", "arm and step are wanted"),
    ],
)
def test_wrong_rows_are_said(command, clinic, tmp_path, seen, given, words):
    (tmp_path / "wrong.csv").write_text(seen)
    more = ()
    if given is not None:
        (tmp_path / "doses.csv").write_text(given)
        more = ("--visits", "doses.csv")
    done = command("fit", "clinic", "--sightings", "wrong.csv", *more)
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err
    assert clinic.arms.n_arms == 12


def test_regret_prints_a_table(command, clinic, tmp_path):
    options = ("--steps", 12, "--episodes", 2, "--learner", "refit", "--learner", "groups")
    done = command("regret", "clinic", *options, "--table", "r.csv", "--picture", "r.png")
    assert done.code == 0, done.err
    assert "refit" in done.out
    assert "regret after 12" in done.out
    with (tmp_path / "r.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 2 * 2 * 12
    assert (tmp_path / "r.png").stat().st_size > 1000
    content = json.loads(command("regret", "clinic", *options, "--json").out)
    assert set(content["regret"]) == {"refit", "groups"}
    wrong = command("regret", "clinic", "--learner", "best")
    assert wrong.code == 2
    assert "no learner 'best'" in wrong.err
    assert clinic.is_decoupled
