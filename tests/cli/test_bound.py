"""``sequoia bound`` prints what `relax` finds, and the optimum beside it where it can."""

import json

import pytest

from sequoia.bounds import relax, solve_exactly
from sequoia.cli import main
from sequoia.problem import save
from sequoia.problem.families import capacity, trap


def run(*arguments):
    with pytest.raises(SystemExit) as exit_:
        main(["bound", *map(str, arguments)])
    return exit_.value.code


def test_json_has_the_promised_keys(tmp_path, capsys):
    save(capacity(arms=6, workers=2), tmp_path / "p.npz")
    assert run(tmp_path / "p.npz", "--kind", "hull", "--json") in (0, None)
    printed = json.loads(capsys.readouterr().out)
    keys = {"kind", "per_step", "total", "gap", "stopped_by", "seconds", "solver"}
    assert set(printed) == keys
    wanted = relax(capacity(arms=6, workers=2), "hull").bound
    assert printed["total"] == pytest.approx(wanted.total)
    assert printed["per_step"] == pytest.approx(wanted.total / 20)
    assert printed["kind"] == "hull"


def test_a_tiny_problem_shows_the_optimum(tmp_path, capsys):
    save(trap(), tmp_path / "trap.npz")
    run(tmp_path / "trap.npz")
    assert f"{solve_exactly(trap()).value:.6g} in all" in capsys.readouterr().out


def test_a_shorter_horizon_bounds_less(tmp_path, capsys):
    save(trap(), tmp_path / "trap.npz")
    run(tmp_path / "trap.npz", "--horizon", 2, "--json")
    assert json.loads(capsys.readouterr().out)["total"] == pytest.approx(0.2 + 10.1)


@pytest.mark.parametrize("wrong", [["--kind", "best"], ["--horizon", "0"], ["--seconds", "-1"]])
def test_bad_input_is_one_line(tmp_path, capsys, wrong):
    save(trap(), tmp_path / "trap.npz")
    assert run(tmp_path / "trap.npz", *wrong) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_the_clock_is_named_when_it_ends_a_bound(tmp_path, capsys):
    save(capacity(arms=20, horizon=5), tmp_path / "p.npz")
    run(tmp_path / "p.npz", "--kind", "hull", "--rounds", 1)
    assert "stopped by" not in capsys.readouterr().out
    run(tmp_path / "p.npz", "--kind", "hull", "--seconds", 0)
    printed = capsys.readouterr().out
    assert "stopped by" in printed
    assert "the clock: another machine may find another number" in printed
    run(tmp_path / "p.npz", "--kind", "hull", "--seconds", 0, "--json")
    assert json.loads(capsys.readouterr().out)["stopped_by"] == "clock"


def test_rounds_are_the_work_of_a_hull_bound(tmp_path, capsys):
    save(capacity(arms=20, horizon=5), tmp_path / "p.npz")
    run(tmp_path / "p.npz", "--kind", "hull", "--rounds", 1, "--json")
    once = json.loads(capsys.readouterr().out)
    assert once["stopped_by"] == "work"
    run(tmp_path / "p.npz", "--kind", "hull", "--json")
    assert json.loads(capsys.readouterr().out)["total"] <= once["total"]
    assert run(tmp_path / "p.npz", "--kind", "lp", "--rounds", 1) == 2
    assert capsys.readouterr().err == "ProblemError: lp has no --rounds.\n"
