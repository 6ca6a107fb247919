import csv
import json
from functools import partial
from pathlib import Path

import pytest

from sequoia import Promise, Promises, Rules, SpendingLimit, save
from sequoia.bounds import relax
from sequoia.planning.planner import Planner
from sequoia.problem.families import capacity, rota, routing, scheduling


@pytest.fixture
def run(command, tmp_path):
    for name, problem in {
        "cap": capacity(arms=8, workers=3),
        "week": scheduling(arms=8, workers=3),
        "tube": routing(arms=8, budget=3),
    }.items():
        save(problem, tmp_path / f"{name}.npz")
        rows = [f"{arm},{number % 3}\n" for number, arm in enumerate(problem.arms.names)]
        (tmp_path / f"{name}.csv").write_text("arm,state\n" + "".join(rows))
    return command


@pytest.mark.parametrize("name", ["cap", "week", "tube"])
@pytest.mark.parametrize("policy", ["price", "myopic", "sampling"])
def test_a_plan_in_words(run, name, policy):
    outcome = run("plan", f"{name}.npz", "--state", f"{name}.csv", "--policy", policy)
    assert outcome.code == 0
    assert outcome.err == ""
    lines = outcome.out.splitlines()
    assert lines[0].endswith(f": {policy} plan")
    assert lines[1].split()[-1] == "do"
    assert any(line.startswith("Next step: ") for line in lines)
    assert any(line.startswith("Long run: ") for line in lines)
    said = {
        "price": "Proven: no plan is better for the long run, as prices see it.",
        "myopic": "Proven: no plan is better for the next step.",
        "sampling": "Nothing is proven about sampling plans.",
    }
    assert said[policy] in lines
    other = any(line.startswith("The best plan as prices see it is better by") for line in lines)
    assert other == (policy == "sampling")


def test_with_a_model_the_plan_is_that_of_the_model(run):
    assert run("train", "cap.npz", "-o", "model", "--set", "rounds=0").code == 0
    asked = ("plan", "cap.npz", "--state", "cap.csv", "--model", "model")
    content = json.loads(run(*asked, "--json").out)
    assert content["policy"] == "sequoia"
    assert content["proof"]["no_plan_is_better"] == "by what the model has learned"
    assert "Proven: no plan is better by what the model has learned." in run(*asked).out


def test_ctrl_c_takes_the_best_until_then(run, monkeypatch):
    plan, asked = Planner.plan, []

    def stopped_once(self, *arguments, **more):
        asked.append(self._seconds)
        if len(asked) == 1:
            raise KeyboardInterrupt
        return plan(self, *arguments, **more)

    monkeypatch.setattr(Planner, "plan", stopped_once)
    outcome = run("plan", "cap.npz", "--state", "cap.csv", "--seconds", "7")
    assert asked[:2] == [7.0, 0.5]
    assert "Stopped; this is the best that was found until then." in outcome.err
    assert "Next step: " in outcome.out


def test_what_is_special_today(run):
    outcome = run(
        *("plan", "cap.npz", "--state", "cap.csv", "--absent", "worker:1", "--must", "arm:7"),
        *("--never", "arm:2", "--why", "arm:3", "--why", "arm:7", "--json", "--seconds", 5),
    )
    content = json.loads(outcome.out)
    assert "arm 7" in content["action"]
    assert "arm 2" not in content["action"]
    assert "worker 1" not in {one["who"] for one in content["errands"]}
    first, second = content["why"]
    assert first["name"] == "arm 3"
    assert first["cost"]["long_run"] >= -1e-9
    assert second["cost"] is None
    assert "must act on arm 7 | never act on arm 7" in second["reason"]
    gain = content["value"]["long_run"] - content["doing_nothing"]["long_run"]
    assert content["gain"]["long_run"] == pytest.approx(gain)
    assert content["gap"] == {"of": "long run", "at_most": pytest.approx(0, abs=1e-6)}
    saved = sum(one["long_run"] for one in content["arms"])
    assert saved == pytest.approx(gain)


def test_locks_hours_and_overtime_in_words(run):
    asked = ("plan", "week.npz", "--state", "week.csv", "--lock", "worker:1=arm:4")
    asked += ("--hours", "worker:0=2", "--must", "arm:4")
    lines = run(*asked).out.splitlines()
    assert any(line.startswith("That worker 1 visits arm 4 costs ") for line in lines)
    assert any(line.startswith("That worker 0 has 2 hours costs ") for line in lines)
    content = json.loads(run(*asked, "--json").out)
    assert {"who": "worker 1", "where": "arm 4"}.items() <= {
        key: value
        for one in content["errands"]
        if (one["who"], one["where"]) == ("worker 1", "arm 4")
        for key, value in one.items()
    }.items()
    assert sum(one["who"] == "worker 0" for one in content["errands"]) <= 2
    assert [one["wish"] for one in content["wishes"]] == [
        "arm 4 is acted on",
        "worker 1 visits arm 4",
        "worker 0 has 2 hours",
    ]
    assert all(one["cost"]["long_run"] >= -1e-6 for one in content["wishes"])
    offered = ("plan", "cap.npz", "--state", "cap.csv", "--overtime", "worker:1=2@1e6")
    assert "at a price of 2e+06, so it is left." in run(*offered).out
    assert json.loads(run(*offered, "--json").out)["overtime"][0]["is_taken"] is False


def test_promises_and_budgets_of_today(run, tmp_path):
    plain = capacity(arms=4, workers=2, horizon=6)
    names = plain.arms.names
    promised = plain.with_promises(Promises.of(names, [Promise(names[2:], every=4)]))
    save(promised.with_budgets([SpendingLimit("a month", 9, 6)]), tmp_path / "kept.npz")
    Path("kept.csv").write_text(
        "arm,state,since\n"
        + "".join(f"{n},0,{s}\n" for n, s in zip(names, (0, 0, 4, 1), strict=True))
    )
    asked = ("plan", "kept.npz", "--state", "kept.csv", "--json")
    assert "arm 2" in json.loads(run(*asked).out)["action"]
    # One visit is left, and a turn of each promise is still to come.
    assert json.loads(run(*asked, "--spent", "a month=8@5").out)["action"] == ["arm 2"]
    assert "is not what is spent" in run(*asked, "--spent", "a month=8").err
    shown = run("show", "kept.npz").out
    assert "2 arms are visited at least every 4 steps" in shown
    assert "a month: at most 9 visits in 6 steps" in shown


def test_the_same_worker_as_last_time(run, tmp_path):
    problem = rota(arms=6, workers=2, may_visit=1.0, slots_per_worker=3)
    save(problem, tmp_path / "rota.npz")
    Path("rota.csv").write_text("arm,state\n" + "".join(f"arm {j},0\n" for j in range(6)))
    asked = ("plan", "rota.npz", "--state", "rota.csv", "--last", "last.csv")
    for worker in (0, 1):
        Path("last.csv").write_text(
            "arm,worker\n" + "".join(f"arm {j},worker {worker}\n" for j in range(6))
        )
        content = json.loads(run(*asked, "--continuity", "100", "--json").out)
        who = [one["who"] for one in content["errands"]]
        assert who.count(f"worker {worker}") == content["continuity"]["same"] >= 1
        assert "by the same worker as last time, worth" in run(*asked).out
    Path("last.csv").write_text("arm,nurse\n")
    assert "arm and worker are wanted" in run(*asked).err


def test_files(run):
    assert run("plan", "week.npz", "--state", "week.csv", "-o", "p.csv").code == 0
    with Path("p.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["who", "when", "where", "do"]
    assert {row["do"] for row in rows} == {"visit"}
    run("plan", "week.npz", "--state", "week.csv", "-o", "p.json")
    assert [one["where"] for one in json.loads(Path("p.json").read_text())["errands"]] == [
        row["where"] for row in rows
    ]


def test_nothing_to_do(run, tmp_path):
    problem = capacity(arms=3, workers=1)
    save(problem.with_rules(Rules(absent=["worker 0"])), tmp_path / "off.npz")
    Path("off.csv").write_text("arm,state\narm 0,0\narm 1,0\narm 2,0\n")
    outcome = run("plan", "off.npz", "--state", "off.csv", "-o", "off-plan.csv")
    assert outcome.code == 0
    assert "nothing to do today" in outcome.out
    assert Path("off-plan.csv").read_text() == "who,when,where,do\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("cap.npz", "--state"),
        ("cap.npz --state nowhere.csv", "does not exist"),
        ("cap.npz --state tube.csv", "is unknown; names run from 'arm 0' to 'arm 7'"),
        ("cap.npz --state cap.csv --absent worker:9", "names no worker"),
        ("tube.npz --state tube.csv --absent worker:1", "a walk problem has none"),
        ("cap.npz --state cap.csv --must arm:8", "names no arm"),
        ("cap.npz --state cap.csv --overtime worker:1=2", "is no overtime"),
        ("tube.npz --state tube.csv --lock worker:1=arm:2", "a walk problem has none"),
        ("cap.npz --state cap.csv --never arm:x", "names no arm"),
        ("cap.npz --state cap.csv --why arm:x", "names no arm"),
        ("cap.npz --state cap.csv --must arm:1 --never arm:1", "these contradict"),
        ("cap.npz --state cap.csv --policy nonsense", "no policy 'nonsense'"),
        ("cap.npz --state cap.csv --policy sequoia", "needs a trained model"),
        ("cap.npz --state cap.csv --policy sequoia --model here", "here holds no trained model"),
        ("tube.npz --state tube.csv --policy iterative-myopic", "one stop at a time"),
        ("cap.npz --state cap.csv --seconds 0", "more than 0 seconds"),
        ("cap.npz --state cap.csv --seconds nan", "more than 0 seconds"),
        ("cap.npz --state cap.csv -o plan.txt", ".csv or .json is wanted"),
        ("cap.npz --state cap.csv -o nowhere/plan.csv", "is not a folder"),
    ],
)
def test_what_goes_wrong_is_one_line(run, arguments, words):
    outcome = run("plan", *arguments.split())
    assert outcome.code == 2
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


def test_prices_that_the_clock_cut_off_are_said(run, monkeypatch):
    asked = ("plan", "cap.npz", "--state", "cap.csv", "--policy", "price")
    said = "The clock stopped the search for prices: another machine may find others."
    assert json.loads(run(*asked, "--json").out)["prices_stopped_by"] == "optimum"
    assert said not in run(*asked).out
    monkeypatch.setattr("sequoia.bounds.lagrangian.relax.MAX_LP_CLASSES", 0)
    monkeypatch.setattr("sequoia.planning.planner.relax", partial(relax, seconds=0.0))
    assert json.loads(run(*asked, "--json").out)["prices_stopped_by"] == "clock"
    assert said in run(*asked).out
