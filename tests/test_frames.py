"""Tables in and out: pandas, polars and plain columns give the same problem, log and plan."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sequoia
from sequoia import Assignment, Budget, Log, Problem
from sequoia.errors import MissingPackage, ProblemError

PATIENTS = {
    "arm": ["Ada", "Ben", "Cleo", "Dora"],
    "model": ["young", "old", "young", "old"],
    "state": ["well", "ill", "ill", "well"],
}
MOVES = {
    "model": ["young"] * 6 + ["old"] * 6,
    "dose": [0, 0, 0, 1, 1, 1] * 2,
    "state": ["ill", "well", "well", "ill", "ill", "well"] * 2,
    "to": ["ill", "ill", "well", "ill", "well", "well"] * 2,
    "probability": [1.0, 0.4, 0.6, 0.2, 0.8, 1.0, 1.0, 0.7, 0.3, 0.5, 0.5, 1.0],
}
REWARDS = {"ill": 0, "well": 1}
KINDS = {"columns": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame}
SPACE = Budget([1, 1, 1, 1], 2)


def make(kind=dict, **changes):
    arms, moves = kind(PATIENTS | changes), kind(MOVES)
    return Problem.from_frames(arms, moves, SPACE, rewards=REWARDS, horizon=8)


@pytest.mark.parametrize("kind", KINDS)
def test_a_problem_comes_from_any_kind_of_table(kind):
    problem = make(KINDS[kind])
    assert problem.fingerprint == make().fingerprint
    assert list(problem.arms.names) == list(problem.space.names) == PATIENTS["arm"]
    assert list(problem.arms.state_names) == ["ill", "well"]
    assert problem.arms.kernels[1, 1].tolist() == [[0.5, 0.5], [0, 1]]
    assert problem.start.argmax(axis=1).tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_problem_goes_out_and_comes_back(library):
    problem = sequoia.make("capacity", arms=5, workers=2)
    arms = problem.arms
    again = Problem.from_frames(
        problem.to_frame(library),
        arms.to_frame(library),
        problem.space,
        rewards=arms.rewards_frame(library),
    )
    assert np.allclose(again.arms.kernels, arms.kernels)
    assert np.allclose(again.arms.rewards, arms.rewards)
    assert np.allclose(again.start, problem.start)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"state": ["well", "il", "ill", "well"]}, "arms row 1.*'il'.*perhaps 'ill' is meant"),
        ({"arm": ["Ada", "Ada", "Cleo", "Dora"]}, "arms row 1.*repeats 'Ada'"),
        ({"model": ["young", "odd", "young", "old"]}, "arms row 1.*'odd'"),
    ],
)
def test_a_wrong_cell_is_said_with_its_row(change, said):
    with pytest.raises(ProblemError, match=said):
        make(**change)


def test_moves_that_do_not_sum_to_one_are_said():
    moves = MOVES | {"probability": [0.9, *MOVES["probability"][1:]]}
    with pytest.raises(ProblemError, match=r"ill.* sum to 0"):
        Problem.from_frames(PATIENTS, moves, SPACE, rewards=REWARDS)


def test_what_is_no_table_and_what_lacks_a_column_is_said():
    with pytest.raises(ProblemError, match="arms is of type int"):
        Problem.from_frames(3, MOVES, SPACE, rewards=REWARDS)
    with pytest.raises(ProblemError, match="arms has the columns name; arm is wanted"):
        Problem.from_frames({"name": ["Ada"]}, MOVES, SPACE, rewards=REWARDS)
    with pytest.raises(ProblemError, match="library is 'excel'; pandas, polars, pyarrow"):
        make().to_frame("excel")


def test_a_missing_library_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackage, match="pip install pandas"):
        make().to_frame()


@pytest.mark.parametrize(
    "state",
    [
        [1, 0, 0, 1],
        ["well", "ill", "ill", "well"],
        pd.Series(["well", "ill", "ill", "well"]),
        {"Dora": "well", "Ben": "ill", "Cleo": "ill", "Ada": "well"},
        pd.DataFrame(PATIENTS)[::-1],
        pl.DataFrame(PATIENTS),
    ],
    ids=["numbers", "names", "series", "mapping", "pandas", "polars"],
)
def test_todays_states_by_number_by_name_or_in_a_table(state):
    plan = sequoia.plan(make(), state)
    assert plan.state.tolist() == [1, 0, 0, 1]
    assert {task.where for task in plan.tasks} <= set(PATIENTS["arm"])
    assert set(plan.to_frame()["state"]) <= {"ill", "well"}


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (["well", "ill", "ill"], "state has 3 entries; 4 are wanted"),
        (["well", "ill", "ill", "wel"], "state row 3.*'wel'.*perhaps 'well'"),
        ({"Ada": "well", "Ben": "ill"}, "does not have Cleo, Dora"),
        ({"Ada": 0, "Ben": 0, "Cleo": 0, "Eve": 0}, "names 'Eve'"),
        (["a", "b", "c", "d"], r"state row 0 and below.*'a'"),
        ([0, 1, 2, 1], "state row 2.*'2'.*run from 0 to 1"),
    ],
)
def test_wrong_states_are_said(state, said):
    with pytest.raises(ProblemError, match=said):
        sequoia.plan(make(), state)


def visits():
    """Return a log of 60 arms in which visits help the young and not the old."""
    rng = np.random.default_rng(3)
    names = [f"p{number}" for number in range(60)]
    rows = []
    for number, name in enumerate(names):
        state = int(rng.integers(2))
        for step in range(12):
            dose = int(rng.random() < 0.4)
            rows.append((name, step, ["ill", "well"][state], dose or None))
            up = (0.9 if number < 30 else 0.1) if dose else 0.1
            state = int(rng.random() < (0.95 if state else up))
    arms = {"arm": names, "model": ["young"] * 30 + ["old"] * 30, "state": ["ill"] * 60}
    return arms, dict(zip(("arm", "step", "state", "dose"), zip(*rows, strict=True), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_from_a_table_and_a_log_to_a_plan(kind):
    arms, log = (KINDS[kind](table) for table in visits())
    known = Log.from_frame(log, arms, states=["ill", "well"])
    assert (known.n_arms, known.n_steps) == (60, 12)
    fitted = sequoia.fit(known)
    table = fitted.to_frame("polars")
    helped = table.filter(state="ill", to="well", dose=1.0)
    by_model = dict(zip(helped["model"], helped["probability"], strict=True))
    assert by_model["young"] > 0.6
    assert by_model["old"] < 0.4
    space = Assignment([1] * 60, [3, 4], worker_names=["Eve", "Finn"])
    problem = Problem.from_frames(arms, table, space, rewards=REWARDS)
    tasks = sequoia.plan(problem, arms["state"]).to_frame("polars")
    assert set(tasks["who"]) == {"Eve", "Finn"}
    assert all(int(name[1:]) < 30 for name in tasks["where"])


def test_a_log_says_what_is_wrong():
    with pytest.raises(ProblemError, match=r"log row 1.*'I'"):
        Log.from_frame(
            {"arm": ["a", "I"], "step": [0, 1], "state": ["ill", ""]}, {"arm": ["a"]}, ["ill"]
        )
    with pytest.raises(ProblemError, match=r"log row 2.*'sick'"):
        Log.from_frame(
            {"arm": ["a"] * 3, "step": [0, 1, 2], "state": ["ill", None, "sick"]},
            {"arm": ["a"]},
            ["ill", "well"],
        )


def test_an_evaluation_in_long_form():
    found = sequoia.evaluate(make(), ["random", "price"], episodes=3)
    long = found.to_frame("polars")
    assert long.height == 2 * 3 * 8
    mean = long.filter(policy="price")["reward"].mean()
    assert mean == pytest.approx(found.mean("price").mean)
    summary = found.summary()
    assert list(summary["policy"]) == ["price", "random"]
    assert summary["to_best"][0] == 0
