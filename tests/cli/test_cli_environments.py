"""Commands take RDDL and environments of the user's own wherever a problem file goes."""

import json
from pathlib import Path

import pytest

OWN = """
import numpy as np
from sequoia import Budget

class Line:
    name, fingerprint = "line", "line 1"
    space = Budget(np.ones(3), 1)
    horizon, discount, n_noise = 4, 1.0, 3

    def draw_start(self, rng, count):
        return np.zeros((count, 3), dtype=int)

    def features(self, states):
        return states / 2

    def step(self, states, actions, noise):
        wear = np.where(actions == 1, 0, states)
        return -wear.sum(axis=1) * 1.0, np.minimum(wear + (noise < 0.5), 2)

broken = 3
"""


@pytest.fixture
def own(command):
    def run(*arguments):
        Path("own.py").write_text(OWN)
        return command(*arguments)

    return run


def test_an_environment_of_ones_own_is_shown_checked_evaluated_and_planned(own):
    assert "3 numbers; 3 uniforms of luck a step" in own("show", "own.py:Line").out
    assert json.loads(own("show", "own.py:Line", "--json").out)["components"] == 3
    assert "its promises hold" in own("check", "own.py:Line").out
    found = own("evaluate", "own.py:Line", "--episodes", 4, "--rollouts", 16, "--json")
    assert set(json.loads(found.out)["policies"]) == {"idle", "random", "lookahead"}
    Path("today.csv").write_text("component,value\n1,2\n")
    planned = json.loads(own("plan", "own.py:Line", "--state", "today.csv", "--json").out)
    assert planned["action"] == ["arm 1"]
    bound = own("bound", "own.py:Line", "--scenarios", 5)
    assert "clairvoyant: of one who knows the luck; an estimate" in bound.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "gone.py:Line"), "gone.py does not exist"),
        (("show", "own.py:Lines"), "own.py has no 'Lines'"),
        (("check", "own.py:broken"), "int has no name; see the protocol Environment"),
        (("exact", "own.py:Line"), "does not say the chances of its next states"),
        (("show", "own.py:Line", "i.rddl"), "only DOMAIN.rddl has an instance beside it"),
        (("show", "own.py:Line", "--plot", "p.png"), "--plot needs a problem of arms"),
        (("plan", "own.py:Line", "--must", "arm:1"), "need a problem of arms"),
        (("bound", "own.py:Line", "--table", 9), "clairvoyant has no --table"),
        (("evaluate", "own.py:Line", "--jobs", 2), "is evaluated in one process"),
        (("evaluate", "own.py:Line", "--policies", "myopic"), "needs a problem of arms"),
    ],
)
def test_what_does_not_apply_is_one_line(own, arguments, said):
    found = own(*arguments)
    assert found.code == 2
    assert said in found.err
    assert found.err.count("\n") == 1


def test_rddl_goes_where_a_problem_goes(command):
    pytest.importorskip("pyRDDLGym", reason="the extra rddl is not installed")
    name = "rddl:GameOfLife_MDP_ippc2011/1"
    assert "9 columns" in command("show", name).out
    assert command("check", name).code == 0
    exact = json.loads(command("exact", name, "--json").out)
    assert exact["value"] == pytest.approx(209.4349, abs=1e-3)
    assert exact["action"] == ["set(x3, y2)"]
    trained = command("train", name, "-o", "m", "--set", "rounds=1")
    assert trained.code == 0, trained.err
    found = command(
        *("evaluate", name, "--policies", "idle,random,sequoia", "--model", "m"),
        *("--episodes", 2, "--json", "--bound", "none"),
    )
    assert found.code == 0, found.err
    Path("today.csv").write_text('component,value\n"alive(x1, y1)",false\n')
    planned = command("plan", name, "--state", "today.csv", "--policy", "exact", "--json")
    assert len(json.loads(planned.out)["action"]) <= 1
    Path("today.csv").write_text('component,value\n"alive(x1, y1)",perhaps\n')
    assert "alive(x1, y1) is 'perhaps'" in command("plan", name, "--state", "today.csv").err


def test_rddl_without_its_packages_says_what_to_install(command, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyRDDLGym", None)
    found = command("show", "rddl:GameOfLife_MDP_ippc2011/1")
    assert found.code == 2
    assert 'pip install "sequoia-plan[rddl]"' in found.err
