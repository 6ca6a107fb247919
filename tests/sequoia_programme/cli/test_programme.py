"""``sequoia programme`` on the command line: what it prints, refuses and leaves alone."""

import json
import subprocess
import sys

import pytest

from real_command import PATIENCE

ROSTER = "name,group,cost\nAda,young,20\nGrace,old,30\n"
STAFF = "name,capacity\nNurse Anna,60\n"
TRANSITIONS = """dose,state,good,bad
none,good,0.7,0.3
none,bad,0,1
visit,good,0.9,0.1
visit,bad,0.6,0.4
"""
MONDAY = "2026-11-02"


@pytest.fixture
def clinic(command, tmp_path):
    """A programme with known transitions; returns the command."""
    (tmp_path / "roster.csv").write_text(ROSTER)
    (tmp_path / "staff.csv").write_text(STAFF)
    begun = command("programme", "init", "clinic", "--states", "good=1,bad=0", "--start", MONDAY)
    assert begun.code == 0, begun.err
    done = command(
        *("programme", "import", "clinic", "--roster", "roster.csv", "--staff", "staff.csv")
    )
    assert (done.code, done.out) == (0, "roster.csv: 2 new.\nstaff.csv: 1 new.\n")
    (tmp_path / "clinic" / "transitions.csv").write_text(TRANSITIONS)
    return command


def test_a_day(clinic, tmp_path):
    made = clinic("programme", "today", "clinic", "--yes", "--date", MONDAY, "-o", "plan.csv")
    assert made.code == 0, made.err
    assert "clinic, Monday 2 November 2026: " in made.out
    assert "Nurse Anna" in made.out
    assert "Why " in made.out
    assert (tmp_path / "plan.csv").exists()
    again = clinic("programme", "today", "clinic", "--yes", "--date", MONDAY, "-o", "plan.csv")
    assert again.code == 2
    assert again.err.startswith("FileError: plan.csv exists already")
    assert "Proposed, not published; sequoia programme publish clinic" in made.out
    held = clinic("programme", "publish", "clinic", "--yes", "--date", MONDAY)
    assert held.out == "Published the plan of Monday 2 November 2026: 2 tasks.\n"
    done = clinic("programme", "record", "clinic", "Ada=bad", "--date", MONDAY)
    assert (done.code, done.out) == (0, "Recorded: 1 new sighting and 1 new visit.\n")
    seen = clinic("programme", "history", "clinic", "--date", MONDAY)
    assert "visit, seen bad" in seen.out
    assert "not done" in seen.out
    told = json.loads(clinic("programme", "history", "clinic", "--date", MONDAY, "--json").out)
    [plan] = told["plans"]
    assert [task["visit"] and task["visit"]["state"] for task in plan["tasks"]] in (
        ["bad", None],
        [None, "bad"],
    )


def test_a_date_that_is_past_or_far_away_is_asked_about(clinic):
    for day, said in ((MONDAY, "is past"), ("2190-01-01", "days away")):
        for verb in ("today", "publish"):
            refused = clinic("programme", verb, "clinic", "--date", day)
            assert refused.code == 2
            assert f"{day} is" in refused.err
            assert said in refused.err
            assert "--yes plans it all the same" in refused.err


def test_a_published_plan_is_compared_and_cancelled(clinic):
    daily = ("clinic", "--yes", "--date", MONDAY)
    for never in ("Ada", "Grace"):
        made = clinic("programme", "today", *daily, "--never", never)
        told = clinic("programme", "publish", *daily)
        assert told.code == 0, told.err
    assert "Another plan is published for 2026-11-02" in made.out
    assert told.out.splitlines()[1] == ("Changed: Grace: Nurse Anna before; Ada: Nurse Anna now.")
    assert json.loads(clinic("programme", "today", *daily, "--json").out)["published"] is False
    off = clinic("programme", "cancel", "clinic", "--date", MONDAY, "--who", "ada")
    assert off.out == "Cancelled on 2026-11-02: Ada.\n"
    assert "cancelled" in clinic("programme", "history", "clinic", "--date", MONDAY).out
    back = clinic("programme", "cancel", "clinic", "--date", MONDAY)
    assert back.out == "Took back the plan of 2026-11-02.\n"
    clinic("programme", "cancel", "clinic", "--date", MONDAY)
    none = clinic("programme", "cancel", "clinic", "--date", MONDAY)
    assert (none.code, none.err) == (2, "ProblemError: no plan is published for 2026-11-02.\n")


def test_json_has_the_plan_and_why(clinic):
    made = clinic(
        "programme", "today", "clinic", "--yes", "--date", MONDAY, "--json", "--never", "Ada"
    )
    told = json.loads(made.out)
    assert told["date"] == MONDAY
    assert [task["who"] for task in told["tasks"]] == ["Grace"]
    assert told["overrides"] == {"never": ["Ada"]}
    assert told["reason"]
    [wish] = told["wishes"]
    assert wish["wish"] == "Ada is not acted on"
    assert set(wish["cost"]) == {"next_step", "long_run"}
    said = clinic("programme", "today", "clinic", "--yes", "--date", MONDAY, "--never", "Ada").out
    assert "That Ada is not acted on costs" in said


def test_the_problem_as_it_is_now_goes_to_other_commands(clinic):
    done = clinic(
        *("programme", "export", "clinic", "--problem", "now.npz", "--states", "now.csv"),
        *("--date", MONDAY),
    )
    assert done.out == "Wrote now.npz.\nWrote now.csv.\n"
    assert clinic("plan", "now.npz", "--state", "now.csv").code == 0
    again = clinic("programme", "export", "clinic", "--problem", "now.npz", "--date", MONDAY)
    assert again.err.startswith("FileError: now.npz exists already")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ("init clinic --states good=1,bad=0", "clinic/programme.toml exists already"),
        ("init other --states good", "NAME=REWARD, such as 'good=1', is wanted"),
        ("init other --states good=1", "names 1; two are wanted"),
        ("init other --states good=1,bad=0 --kind budget", "a budget needs --limit"),
        ("init other --states good=1,bad=0 --kind bugdet", "perhaps 'budget' is meant"),
        ("import clinic", "--roster, --staff or --log is wanted"),
        ("import clinic --roster nowhere.csv", "nowhere.csv does not exist"),
        ("record clinic", "or --file is wanted"),
        ("record clinic Ada=godo", "perhaps 'good' is meant"),
        ("record clinic Ada=good --date 2/11/2026", "may mean two dates"),
        ("record nowhere Ada=good", "holds no programme"),
        ("today clinic --yes --must Adda", "perhaps 'Ada' is meant"),
        ("today clinic -o plan.doc", ".html or .ics is wanted"),
        ("today clinic --seconds 0", "more than 0 seconds"),
        ("plan clinic --seconds 0", "more than 0 seconds"),
        ("today clinic --explore --cautious", "choose one"),
        ("today clinic --policy prise", "perhaps 'price' is meant"),
        ("history clinic --who Adda", "perhaps 'Ada' is meant"),
        ("export clinic", "--output, --problem or --states is wanted"),
        ("absent clinic Adda", "perhaps 'Ada' is meant"),
        ("rename clinic Adda Ida", "perhaps 'Ada' is meant"),
        ("fit clinic", "says the transitions"),
    ],
)
def test_what_is_wrong_is_one_line(clinic, tmp_path, arguments, wanted):
    before = sorted(path.name for path in tmp_path.iterdir())
    outcome = clinic("programme", *arguments.split())
    assert outcome.code == 2, outcome.out
    assert wanted in outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_recording_imports_neither_matrices_nor_policies_nor_solvers(clinic, tmp_path):
    assert clinic("programme", "record", "clinic", "Ada=bad", "--date", MONDAY).code == 0
    code = """
import sys
from sequoia.cli import main
try:
    main(["programme", "record", "clinic", "Grace=good", "--date", "2026-11-02"])
except SystemExit as stop:
    print(*sys.modules, file=sys.stderr)
    sys.exit(stop.code)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    modules = set(done.stderr.split())
    heavy = {"highspy", "matplotlib", "torch", "openpyxl", "rich", "scipy", "sequoia.policies"}
    assert not modules & heavy
