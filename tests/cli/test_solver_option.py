"""``--solver``, end to end."""

import json

import numpy as np
import pytest

from sequoia import save
from sequoia.errors import FileError, ProblemError, SolverUnavailable
from sequoia.evaluation import evaluate, load_evaluation, save_evaluation
from sequoia.problem.families import capacity, interventions, scheduling
from sequoia.solvers import used_solver, using_solver
from sequoia.solvers.registry import SOLVERS, require_solver
from sequoia.sweep import make_plan
from sequoia.sweep.run_cell import run_cell

OTHERS = [name for name in SOLVERS if name != "highs"]
# Its best actions take a program each, small enough for the licence that comes with Gurobi.
HARD = scheduling(arms=26, horizon=2, distinct_workers=True)


def require_here(name):
    try:
        require_solver(name)
    except SolverUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture
def run(command, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    save(HARD, tmp_path / "p.npz")
    rows = [f"arm {arm},0" for arm in range(26)]
    (tmp_path / "today.csv").write_text("\n".join(["arm,state", *rows]))
    return command


@pytest.fixture
def solves(monkeypatch):
    """Count the programs that each solver is given."""
    counts = dict.fromkeys(SOLVERS, 0)
    for name, entry in SOLVERS.items():
        try:
            kind = type(entry.load())
        except SolverUnavailable:
            continue

        def spy(self, *arguments, _solve=kind.solve, _name=name):
            counts[_name] += 1
            return _solve(self, *arguments)

        monkeypatch.setattr(kind, "solve", spy)
    return counts


def numbers(command, *arguments):
    outcome = command(*arguments, "--json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


@pytest.mark.parametrize("name", OTHERS)
def test_bounds_evaluations_and_plans_agree_with_highs(run, name, solves):
    require_here(name)
    asked = {
        "bound": ("bound", "p.npz", "--kind", "hull"),
        "evaluate": ("evaluate", "p.npz", "--policies", "myopic", "--episodes", 2),
        "plan": ("plan", "p.npz", "--state", "today.csv", "--policy", "myopic"),
    }
    usual = {what: numbers(run, *arguments) for what, arguments in asked.items()}
    assert solves[name] == 0
    found = {}
    for what, arguments in asked.items():
        before = solves[name]
        found[what] = numbers(run, *arguments, "--solver", name)
        assert solves[name] > before, what
        assert usual[what]["solver"] == "highs"
        assert found[what]["solver"] == name
    assert found["bound"]["total"] == pytest.approx(usual["bound"]["total"], rel=2e-4)
    ours, theirs = (one["evaluate"]["bound"]["total"] for one in (found, usual))
    assert ours == pytest.approx(theirs, rel=1e-6)
    ours, theirs = (one["plan"]["value"]["next_step"] for one in (found, usual))
    assert ours == pytest.approx(theirs)
    # The choice ends with the command.
    assert used_solver() == "highs"


@pytest.mark.parametrize("name", OTHERS)
def test_a_model_says_who_solved_its_programs(run, name, solves, tmp_path):
    require_here(name)
    save(capacity(arms=6, workers=2, horizon=3), tmp_path / "small.npz")
    arguments = ("train", "small.npz", "-o", "model", "--set", "rounds=0")
    assert numbers(run, *arguments, "--solver", name)["solver"] == name
    assert solves[name] > 0
    assert json.loads((tmp_path / "model" / "model.json").read_text())["solver"] == name
    outcome = run(*arguments, "--resume")
    assert outcome.code == 2
    assert f"was written with solver {name}; highs is asked for now" in outcome.err


@pytest.mark.parametrize("what", ["bound", "evaluate", "plan", "train"])
def test_an_unknown_or_absent_solver_is_one_line(run, what, monkeypatch):
    more = {"plan": ("--state", "today.csv"), "train": ("-o", "model")}.get(what, ())
    outcome = run(what, "p.npz", *more, "--solver", "cplex")
    assert outcome.code == 2
    wanted = "there is no solver 'cplex'; highs, gurobi, scip are known."
    assert outcome.err == f"ProblemError: {wanted}\n"
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    outcome = run(what, "p.npz", *more, "--solver", "scip")
    assert outcome.code == 2
    assert outcome.err == (
        'SolverUnavailable: pyscipopt is not installed; pip install "sequoia-plan[scip]" or use '
        "--solver highs.\n"
    )


def test_a_licence_that_is_too_small_is_one_line(run, tmp_path):
    require_here("gurobi")
    save(interventions(arms=100), tmp_path / "large.npz")
    outcome = run("bound", "large.npz", "--solver", "gurobi")
    if outcome.code == 0:
        pytest.skip("the Gurobi licence here is not limited in size")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "limited in size" in outcome.err or "no licence" in outcome.err
    assert "use --solver highs" in outcome.err


def say_solver(problem):
    raise ProblemError(f"the solver here is {used_solver()}, for {problem.name}")


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_process_uses_it(jobs):
    require_here("scip")
    problem = capacity(arms=6, workers=2, horizon=3)
    with using_solver("scip"), pytest.raises(ProblemError, match="the solver here is scip"):
        evaluate(problem, {"spy": say_solver}, 12, jobs=jobs, bound="none")


def test_pieces_of_two_solvers_are_not_mixed(tmp_path, solves):
    require_here("scip")
    work = tmp_path / "parts"
    evaluate(HARD, ["myopic"], 2, work=work)
    files = set(work.iterdir())
    with using_solver("scip"):
        found = evaluate(HARD, ["myopic"], 2, work=work)
        assert solves["scip"] > 0
        assert set(work.iterdir()) > files
        before = solves["scip"]
        again = evaluate(HARD, ["myopic"], 2, work=work)
        assert solves["scip"] == before
    np.testing.assert_array_equal(found.rewards, again.rewards)
    save_evaluation(found, tmp_path / "e.json")
    assert load_evaluation(tmp_path / "e.json").solver == "scip"


def test_a_sweep_may_name_it(tmp_path, solves):
    require_here("scip")
    problem = {"family": "scheduling", "arms": 26, "horizon": 2, "distinct_workers": True}
    base = {"policies": ["myopic"], "episodes": 1, "problems": [problem]}
    (usual,) = make_plan(base, "plan").cells()
    (cell,) = make_plan(base | {"solver": "scip"}, "plan").cells()
    (own,) = make_plan(base | {"problems": [problem | {"solver": "scip"}]}, "plan").cells()
    assert usual.key != cell.key == own.key
    assert run_cell(cell, tmp_path).numbers["myopic"].rewards
    assert solves["scip"] > 0
    with pytest.raises(FileError, match="plan: solver: there is no solver 'cplex'"):
        make_plan(base | {"solver": "cplex"}, "plan")
