"""Which solver programs are given to."""

import threading

import numpy as np
import pytest

from sequoia.bounds import relax
from sequoia.errors import ProblemError, SolverUnavailable
from sequoia.optimize import ActionEncoding, Auto, LinearArgmax
from sequoia.optimize.engines.milp import Milp
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem.families import FAMILIES
from sequoia.solvers import default_solver, used_solver, using_solver
from sequoia.solvers.registry import SOLVERS, require_solver, solver

OTHERS = [name for name in SOLVERS if name != "highs"]
# Its best actions take a program each, which the licence that comes with Gurobi allows.
HARD = FAMILIES["scheduling"](arms=26, horizon=2, distinct_workers=True)


def require_here(name):
    try:
        require_solver(name)
    except SolverUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture
def count_solves(monkeypatch):
    """Count the programs that each solver is given."""
    counts = dict.fromkeys(SOLVERS, 0)

    def watch(name):
        kind = type(solver(name))
        solve = kind.solve

        def spy(self, *arguments):
            counts[name] += 1
            return solve(self, *arguments)

        monkeypatch.setattr(kind, "solve", spy)
        return counts

    return watch


def test_a_choice_lasts_as_long_as_it_is_asked_for():
    require_here("scip")
    assert used_solver() == default_solver().name == "highs"
    with using_solver("scip"):
        assert used_solver() == default_solver().name == "scip"
        with using_solver("highs"):
            assert used_solver() == "highs"
        assert used_solver() == "scip"
    assert used_solver() == "highs"


def test_a_choice_is_of_one_thread():
    require_here("scip")
    seen = []
    with using_solver("scip"):
        other = threading.Thread(target=lambda: seen.append(used_solver()))
        other.start()
        other.join()
    assert seen == ["highs"]


def test_options_are_those_of_the_solver_that_is_used():
    with pytest.raises(ProblemError, match="HiGHS has no option nonsense"):
        relax_with(default_solver(highs={"nonsense": 1}, scip={"also": 2}))


def relax_with(engine):
    return engine.solve(HARD.space.compact.program(np.ones(HARD.space.n_actions)))


def test_an_unknown_or_absent_solver_is_refused_at_once(monkeypatch):
    with pytest.raises(ProblemError, match="there is no solver 'cplex'"), using_solver("cplex"):
        pass
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(SolverUnavailable, match="sequoia-plan"), using_solver("scip"):
        pass
    assert used_solver() == "highs"


@pytest.mark.parametrize("name", OTHERS)
def test_best_actions_and_bounds_are_the_same(name, count_solves):
    require_here(name)
    counts = count_solves(name)
    weights = np.random.default_rng(0).random((2, HARD.space.n_actions))
    encoding = ActionEncoding.of_problem(HARD)
    wanted = LinearArgmax(encoding).maximise(weights).values
    lp, hull = (relax(HARD, kind).bound.total for kind in ("lp", "hull"))
    assert counts[name] == 0
    with using_solver(name):
        assert LinearArgmax(encoding).maximise(weights).values == pytest.approx(wanted)
        best = counts[name]
        assert best >= 2
        assert relax(HARD).bound.total == pytest.approx(lp, rel=1e-6)
        assert relax(HARD, "hull").bound.total == pytest.approx(hull, rel=2e-4)
    assert counts[name] > best


@pytest.mark.parametrize("name", OTHERS)
def test_networks_reach_it_through_auto(name, count_solves):
    require_here(name)
    counts = count_solves(name)
    encoding = ActionEncoding.of_problem(HARD)
    rng = np.random.default_rng(0)
    inputs = encoding.n_inputs
    net = ReluNet(
        weights=(rng.normal(size=(2, inputs)),),
        first_bias=rng.normal(size=(1, 2)),
        biases=(),
        output=np.ones(2),
        linear=np.zeros((1, inputs)),
        constant=np.zeros(1),
    )
    wanted = Auto(encoding).best(net).values
    assert counts[name] == 0
    with using_solver(name):
        assert Auto(encoding).best(net).values == pytest.approx(wanted, rel=1e-5)
        assert Milp(encoding).best(net).values == pytest.approx(wanted, rel=1e-5)
    assert counts[name] >= 2
