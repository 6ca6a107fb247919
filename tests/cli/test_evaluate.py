import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from real_command import PATIENCE, ended, start, wait_for
from sequoia import Rules, save
from sequoia.cli.evaluate import print_evaluation
from sequoia.evaluation import load_evaluation
from sequoia.problem.families import capacity, standard

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")


@pytest.fixture
def run(command, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    save(capacity(arms=6, workers=2, horizon=4), tmp_path / "p.npz")
    return command


def without_times(path: Path) -> dict:
    content = json.loads(path.read_text())
    for one in content["policies"].values():
        del one["ms_per_decision"]
    del content["data"]["seconds"]
    if content["bound"]:
        del content["bound"]["seconds"]
    return content


def test_a_table_and_a_file(run):
    outcome = run("evaluate", "p.npz", "--policies", "idle,random,price", "-o", "e.json")
    assert outcome.code == 0
    assert outcome.err == ""
    lines = outcome.out.splitlines()
    assert lines[0].strip() == "capacity, 6 arms, 2 workers, seed 0"
    for word in ("policy", "reward per step", "× random", "% of bound", "time", "minus price"):
        assert word in lines[1]
    assert [line.split()[0] for line in lines[2:5]] == ["idle", "random", "price"]
    assert all(re.search(r" [0-9.]+ m?s ", line) for line in lines[2:5])
    assert "cut off" not in outcome.out
    assert lines[7].startswith("Use price. ")
    assert lines[5].startswith("No policy earns more than")
    assert lines[-1] == "Wrote e.json; for pictures: sequoia report e.json -o report.html"
    assert sorted(os.listdir()) == ["e.json", "p.npz"]


def test_idle_is_left_out_where_doing_nothing_is_forbidden(run, tmp_path):
    problem = capacity(arms=6, workers=2, horizon=4).with_rules(Rules(must=["arm 1"]))
    save(problem, tmp_path / "must.npz")
    outcome = run("evaluate", "must.npz", "--episodes", "2")
    assert outcome.code == 0
    assert outcome.err == "idle is left out: doing nothing is not allowed.\n"
    assert "idle" not in outcome.out
    assert "price" in outcome.out


def test_decisions_that_were_cut_off_have_a_column(run, capsys):
    run("evaluate", "p.npz", "--policies", "random,price", "--episodes", 4, "-o", "e.json")
    found = load_evaluation("e.json")
    is_at_limit = found.is_at_limit.copy()
    is_at_limit[1, 2, 3] = True
    # Times decide how wide their column is, and with it whether another is wrapped.
    fixed = {"gaps": np.full(found.gaps.shape, 0.05), "seconds": np.full(found.seconds.shape, 0.01)}
    print_evaluation(replace(found, is_at_limit=is_at_limit, **fixed))
    out = capsys.readouterr().out
    assert "1 of 16, gap 5 %, at most 5 %" in next(
        line for line in out.splitlines() if line.startswith(" price ")
    )
    assert "Cut off: decisions that a limit ended" in out


def test_json_alone_on_stdout(run):
    outcome = run("evaluate", "p.npz", "--policies", "random, idle", "--episodes", 6, "--json")
    content = json.loads(outcome.out)
    assert list(content) == ["problem", "fingerprint", "solver", "bound", "policies"]
    assert list(content["policies"]) == ["random", "idle"]
    assert not list(Path("caches/sequoia").iterdir())


def test_a_world_that_is_not_what_the_file_says(run):
    arguments = ("evaluate", "p.npz", "--policies", "price,robust", "--episodes", "2", "--perturb")
    told = [json.loads(run(*arguments, share, "--json").out)["policies"] for share in (0, 0.5)]
    means = [{name: own["mean"] for name, own in one.items()} for one in told]
    assert list(means[0]) == ["price", "robust", "price-told"]
    assert means[0]["price"] == pytest.approx(means[0]["price-told"])
    assert means[1]["price"] != pytest.approx(means[0]["price"])


def test_hull_and_no_bound(run):
    run("evaluate", "p.npz", "--policies", "idle", "--bound", "hull", "-o", "h.json")
    assert json.loads(Path("h.json").read_text())["bound"]["kind"] == "hull"
    outcome = run("evaluate", "p.npz", "--policies", "idle", "--bound", "none", "--json")
    assert json.loads(outcome.out)["bound"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--policies nonsense", "there is no policy 'nonsense'"),
        ("--policies sequoia", "sequoia needs a trained model"),
        ("--policies whittle", "whittle: "),
        ("--policies ,", "policies is 0"),
        ("--model here", "here holds no trained model; model.json is missing"),
        ("--episodes 0", "episodes is 0"),
        ("--seed -1", "seed is -1"),
        ("--jobs 0", "jobs is 0"),
        ("--bound tight", "tight"),
        ("-o e.txt", "ends in '.txt'"),
        ("-o nowhere/e.json", "is not a folder"),
    ],
)
def test_what_goes_wrong_is_one_line(run, arguments, words):
    outcome = run("evaluate", "p.npz", *arguments.split())
    assert outcome.code == 2
    assert outcome.out == ""
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


def children_of(process: subprocess.Popen) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:
            continue
        if f"\nPPid:\t{process.pid}\n" in text:
            found.append(int(status.parent.name))
    return found


ARGUMENTS = ("--policies", "sampling,price,random", "--episodes", "40", "--seed", "5")


@POSIX
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_killed_half_way_and_run_again_gives_the_same_file(run, tmp_path, jobs):
    save(standard(arms=40, horizon=20), tmp_path / "q.npz")
    whole = run("evaluate", "q.npz", *ARGUMENTS, "-o", "whole.json")
    assert whole.code == 0
    process = start(tmp_path, "evaluate", "q.npz", *ARGUMENTS, "-o", "e.json", "--jobs", jobs)
    parts = tmp_path / "e.json.parts"
    wait_for(parts, "*.npz", 4, process)
    children = children_of(process)
    process.kill()
    ended(process)
    assert not (tmp_path / "e.json").exists()
    kept = {file.name: file.read_bytes() for file in parts.glob("*.npz")}
    assert 4 <= len(kept) < 24
    again = run("evaluate", "q.npz", *ARGUMENTS, "-o", "e.json", "--jobs", jobs)
    assert again.code == 0
    assert f"Picked up {len(kept)} finished blocks." in again.err
    assert without_times(tmp_path / "e.json") == without_times(tmp_path / "whole.json")
    assert not parts.exists()
    # The processes of a killed evaluation end with it.
    deadline = time.monotonic() + PATIENCE
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.1)


@POSIX
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_keeps_what_is_finished(tmp_path, jobs):
    save(standard(arms=40, horizon=20), tmp_path / "q.npz")
    # So many episodes that it cannot end before the signal comes.
    arguments = (*ARGUMENTS, "--episodes", "4000", "-o", "e.json", "--jobs", jobs)
    process = start(tmp_path, "evaluate", "q.npz", *arguments)
    parts = tmp_path / "e.json.parts"
    wait_for(parts, "*.npz", 3, process)
    process.send_signal(signal.SIGINT)
    out, err = ended(process)
    assert process.returncode == 130
    assert out == ""
    assert err.startswith("Stopped. ")
    assert err.count("\n") == 1
    assert "the same command goes on from there" in err
    assert len(list(parts.glob("*.npz"))) >= 3


def test_a_line_now_and_then_without_a_terminal(capsys):
    from sequoia.cli import progress
    from sequoia.evaluation import Progress

    with progress.showing("Evaluating", "blocks") as show:
        show(Progress(1, 4, 0, 5.0))
        assert capsys.readouterr().err == ""
        show._last -= 60
        show(Progress(2, 4, 0, 300.0))
    assert capsys.readouterr().err == "Evaluating: 2 of 4 blocks, about 5 min left\n"
