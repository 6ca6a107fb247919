import os
import re
import signal
import sys
from pathlib import Path

import pytest

from real_command import ended, start, wait_for

PLAN = """
policies = ["random", "sampling", "price"]
seeds = 3
episodes = 12
{more}

[[problems]]
family = "standard"
arms = 20
"""
TINY = """
policies = ["random"]
episodes = 1
[[problems]]
family = "trap"
"""
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")


def test_a_plan_is_computed_and_the_status_says_so(command):
    Path("plan.toml").write_text(TINY)
    for words in (("sweep", "plan.toml"), ("sweep", "run", "plan.toml")):
        outcome = command(*words, "-o", "results", "--jobs", 1)
        assert outcome == (0, "Wrote results/numbers.csv and results/times.csv: 1 cell.\n", "")
    outcome = command("sweep", "status", "results")
    assert outcome.code == 0
    assert [line.split() for line in outcome.out.splitlines()] == [
        ["cells"],
        ["1", "done"],
        ["0", "running"],
        ["0", "failed"],
        ["0", "left"],
    ]


def test_what_failed_is_said_and_shown(command):
    Path("plan.toml").write_text(TINY.replace('"trap"', '"capacity"\narms = -1'))
    outcome = command("sweep", "-o", "results", "plan.toml", "--jobs", 1)
    assert outcome.code == 1
    first, second = outcome.err.splitlines()
    assert re.match(r"Failed: capacity--1-seed1-[0-9a-f]{16}: .*arms is -1", first)
    assert "1 cell failed; the errors are in results/cells/*/error.txt" in second
    shown = command("sweep", "status", "results")
    assert re.search(r"^failed .*arms is -1", shown.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("plan.toml", "--output"),
        ("nowhere.toml -o results", "nowhere.toml does not exist"),
        ("wrong.toml -o results", "wrong.toml: episode: Extra inputs are not permitted"),
        ("plan.toml -o results --jobs 0", "jobs"),
        ("plan.toml -o results --jobs 2 --ray auto", "--jobs goes with this machine"),
        ("plan.toml -o plan.toml", "cannot be made"),
        ("status nowhere", "nowhere is not a folder"),
        ("status .", "is not the folder of a sweep"),
    ],
)
def test_what_goes_wrong_is_one_line(command, arguments, words):
    Path("plan.toml").write_text(TINY)
    Path("wrong.toml").write_text(f"episode = 3\n{TINY}")
    outcome = command("sweep", *arguments.split())
    assert outcome.code == 2
    assert outcome.out == ""
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


def test_without_ray_it_is_one_line(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "sequoia.sweep.ray", raising=False)
    Path("plan.toml").write_text(TINY)
    outcome = command("sweep", "plan.toml", "-o", "results", "--ray", "local")
    assert outcome.code == 2
    assert 'pip install "sequoia-plan[ray]"' in outcome.err


@POSIX
def test_killed_at_any_moment_and_run_again_gives_the_same_numbers(command, tmp_path):
    Path("plan.toml").write_text(PLAN.format(more=""))
    assert command("sweep", "plan.toml", "-o", "whole", "--jobs", 2).code == 0
    # Before anything is done, in the middle of the first cells, and after one of them.
    for pattern, count in (
        ("lock", 1),
        ("cells/*/work/*.npz", 3),
        ("cells/*/result.json", 1),
    ):
        process = start(tmp_path, "sweep", "plan.toml", "-o", "killed", "--jobs", "2")
        wait_for(tmp_path / "killed", pattern, count, process)
        process.kill()
        ended(process)
        assert not (tmp_path / "killed" / "numbers.csv").exists()
    assert "once it is started again" in command("sweep", "status", "killed").out
    assert command("sweep", "plan.toml", "-o", "killed", "--jobs", 2).code == 0
    numbers = [Path(name, "numbers.csv").read_bytes() for name in ("whole", "killed")]
    assert numbers[0] == numbers[1]
    assert not list(Path("killed").glob("cells/*/work"))


@POSIX
def test_two_at_once_and_ctrl_c(command, tmp_path):
    Path("plan.toml").write_text(PLAN.format(more='bound = "hull"'))
    process = start(tmp_path, "sweep", "plan.toml", "-o", "results", "--jobs", "1")
    wait_for(tmp_path / "results", "cells/*/work/*.npz", 1, process)
    second = command("sweep", "plan.toml", "-o", "results", "--jobs", 1)
    assert second.code == 2
    assert second.err == (
        f"FileError: results is in use: the sweep with process id {process.pid} is writing to it.\n"
    )
    shown = command("sweep", "status", "results").out
    assert "1  running" in shown
    assert re.search(r"^running  standard-20-seed1-", shown, re.MULTILINE)
    process.send_signal(signal.SIGINT)
    out, err = ended(process)
    assert process.returncode == 130
    assert out == ""
    assert err.strip().splitlines()[-1] == (
        "Stopped. What is done is kept in results; the same command goes on from there."
    )
    assert "0  running" in command("sweep", "status", "results").out
    assert os.path.exists("results/plan.toml")
