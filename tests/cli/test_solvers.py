"""``sequoia solvers``."""

import json

from sequoia.solvers.registry import SOLVERS


def test_every_solver_is_listed(command):
    outcome = command("solvers")
    assert outcome.code == 0
    listed = [line.split()[0] for line in outcome.out.splitlines()[1:]]
    assert listed == list(SOLVERS)
    assert "open source, the default" in outcome.out


def test_as_json(command):
    found = json.loads(command("solvers", "--json").out)
    assert [one["name"] for one in found] == list(SOLVERS)
    assert set(found[0]) == {"name", "version", "note"}
    assert found[0]["version"].count(".") == 2


def test_how_to_get_an_absent_one_is_said_in_full(command, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    outcome = command("solvers")
    assert outcome.code == 0
    assert 'not here  pip install "sequoia-plan[gurobi]"' in outcome.out
    assert json.loads(command("solvers", "--json").out)[1]["version"] is None


def test_the_help_names_it(command):
    assert "solvers" in command("--help").out
    assert "no licence is taken" in command("solvers", "--help").out
