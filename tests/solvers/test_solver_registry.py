"""Every solver that is here, on the same programs: they must not be told apart by their answers."""

import itertools
import subprocess
import sys
import threading

import numpy as np
import pytest
from test_highs import holds, knapsacks, program, random_rows

from sequoia.errors import ProblemError, SolverFailed, SolverUnavailable
from sequoia.solvers import Highs, Limits, Status
from sequoia.solvers.registry import SOLVERS, available, solver

every_solver = pytest.mark.parametrize("name", SOLVERS)


def here(name):
    try:
        return solver(name)
    except SolverUnavailable as error:
        pytest.skip(str(error))


def mixed(seed):
    """A program with whole and continuous columns, one-sided, two-sided and equal rows."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(6, 10)) * (rng.random((6, 10)) < 0.8)
    is_integer = rng.random(10) < 0.5
    inside = rng.random(10) * 2
    inside[is_integer] = np.rint(inside[is_integer])
    middle = matrix @ inside
    lower = np.where([1, 0, 1, 1, 0, 1], middle - rng.random(6), -np.inf)
    upper = np.where([1, 1, 0, 1, 0, 1], middle + rng.random(6), np.inf)
    lower[3] = upper[3] = middle[3]
    high, low = rng.integers(2, 5, 10), -rng.integers(0, 3, 10)
    return program(rng.normal(size=10), matrix, lower, upper, high, is_integer, low)


def linear(seed):
    """A bounded program without whole columns; two-sided, equal and empty rows among its own."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(5, 8))
    matrix[4] = 0
    middle = matrix @ rng.random(8)
    below, above = np.array([[0.2, 0, np.inf, 0.3, 1], [0.1, 0, 0.2, np.inf, 1]])
    lower, upper = middle - below, middle + above
    return program(rng.normal(size=8), matrix, lower, upper, 1.0, False)


def test_the_list_says_what_is_here_and_loads_nothing():
    code = (
        "import sys; from sequoia.solvers.registry import available; available();"
        "print([m for m in ('gurobipy', 'pyscipopt', 'casadi') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
    assert [one.name for one in available()] == list(SOLVERS)
    assert available()[0].version is not None


def test_what_is_not_installed_is_said(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    for one in available():
        assert one.version is None
        assert one.note == f'pip install "sequoia-plan[{one.name}]"'


@pytest.mark.parametrize(("name", "package"), [("gurobi", "gurobipy"), ("scip", "pyscipopt")])
def test_an_absent_solver_is_one_clear_line(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SolverUnavailable) as raised:
        solver(name)
    assert str(raised.value) == (
        f'{package} is not installed; pip install "sequoia-plan[{name}]" or use --solver highs.'
    )


def test_an_unknown_solver_is_one_clear_line():
    with pytest.raises(ProblemError, match="there is no solver 'cplex'; highs, gurobi, scip are"):
        solver("cplex")


@every_solver
def test_names_agree(name):
    assert here(name).name == name


@every_solver
@pytest.mark.parametrize("seed", range(20))
def test_binary_programs_against_brute_force(name, seed):
    rng = np.random.default_rng(seed)
    p = program(rng.integers(-9, 10, 8), *random_rows(rng, 3, 8))
    points = np.array(list(itertools.product([0, 1], repeat=8)))
    feasible = [point for point in points if holds(p, point)]
    solution = here(name).solve(p)
    if not feasible:
        assert solution.status is Status.INFEASIBLE
        assert solution.values is None
        assert solution.objective == solution.bound == -np.inf
        return
    best = max(p.objective @ point for point in feasible)
    assert solution.status is Status.OPTIMAL
    assert holds(p, solution.values)
    assert solution.objective == pytest.approx(best)
    assert solution.bound == pytest.approx(best)
    assert solution.row_duals is None


@every_solver
@pytest.mark.parametrize("seed", range(20))
def test_mixed_programs_have_one_optimum(name, seed):
    p = mixed(seed)
    wanted, found = Highs().solve(p), here(name).solve(p)
    assert found.status is wanted.status is Status.OPTIMAL
    assert found.objective == pytest.approx(wanted.objective, rel=1e-5, abs=1e-5)
    assert found.bound >= wanted.objective - 1e-5
    assert holds(p, found.values)


@every_solver
@pytest.mark.parametrize("seed", range(20))
def test_linear_programs_and_their_prices(name, seed):
    p = linear(seed)
    wanted, found = Highs().solve(p), here(name).solve(p)
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(wanted.objective, abs=1e-6)
    assert found.bound == found.objective
    assert holds(p, found.values)
    np.testing.assert_allclose(found.row_duals, wanted.row_duals, atol=1e-6)
    # The prices prove the optimum: rows at their sides and columns at their best bound.
    sides = np.where(found.row_duals > 0, p.upper, p.lower)
    rows = np.where(np.abs(found.row_duals) > 1e-9, found.row_duals, 0.0)
    spent = sum(price * side for price, side in zip(rows, sides, strict=True) if price)
    rest = np.maximum(p.objective - p.matrix.T @ rows, 0.0).sum()
    assert spent + rest == pytest.approx(found.objective, abs=1e-6)


@every_solver
@pytest.mark.parametrize("is_integer", [True, False])
def test_infeasible_and_unbounded_are_told_apart(name, is_integer):
    engine = here(name)
    infeasible = engine.solve(program([1], [[1]], [2], [3], 1, is_integer))
    assert infeasible.status is Status.INFEASIBLE
    assert infeasible.values is None
    assert infeasible.bound == -np.inf
    for objective in ([1, 1], [0, 0]):
        crossed_row = program(objective, [[1, 1], [1, -1]], [5, 0], [4.5, 0], np.inf, is_integer)
        assert engine.solve(crossed_row).status is Status.INFEASIBLE
        crossed_column = program(objective, [[1, 1]], [0], [9], [1, 2], is_integer, [2, 0])
        assert engine.solve(crossed_column).status is Status.INFEASIBLE
    open_ended = engine.solve(program([1], [[1]], [2], [np.inf], np.inf, is_integer))
    assert open_ended.status in (Status.UNBOUNDED, Status.FAILED)
    assert open_ended.bound == np.inf


@every_solver
def test_programs_without_rows_and_with_fixed_columns(name):
    engine = here(name)
    assert engine.solve(program([1, -1, 2], [], [], [])).values.tolist() == [1, 0, 1]
    loose = engine.solve(program([1, -1, 2], [], [], [], is_integer=False))
    assert loose.values.tolist() == pytest.approx([1, 0, 1])
    assert loose.row_duals.shape == (0,)
    fixed = program([5, 4, 3], [[2, 3, 1]], [-np.inf], [3], [0, 1, 1], column_lower=[0, 1, 0])
    assert engine.solve(fixed).values.tolist() == [0, 1, 0]


@every_solver
def test_whole_columns_are_rounded(name):
    solution = here(name).solve(knapsacks(30))
    assert solution.status is Status.OPTIMAL
    assert set(map(str, solution.values.tolist())) == {"0.0", "1.0"}
    assert solution.gap < 1e-6


@every_solver
def test_a_time_limit_returns_a_valid_bound(name):
    p = knapsacks(300)
    solution = here(name).solve(p, Limits(seconds=0.3))
    # Without a limit it would take ages; how far it comes depends on the machine.
    assert solution.status is Status.LIMIT
    assert solution.values is None or holds(p, solution.values)
    assert solution.objective <= solution.bound


@every_solver
def test_a_node_limit_returns_a_point_and_a_bound(name):
    p = knapsacks(300)
    solution = here(name).solve(p, Limits(nodes=5))
    assert solution.status is Status.LIMIT
    assert holds(p, solution.values)
    relaxed = Highs().solve(program(p.objective, p.matrix.toarray(), p.lower, p.upper, 1.0, False))
    assert solution.objective <= solution.bound <= relaxed.objective + 1e-6


@every_solver
def test_no_time_gives_no_proof(name):
    p = knapsacks(60)
    solution = here(name).solve(p, Limits(seconds=0))
    assert solution.status is Status.LIMIT
    assert solution.bound >= Highs().solve(p).objective
    if solution.values is not None:
        assert holds(p, solution.values)


@every_solver
def test_a_node_limit_and_a_gap_are_kept(name):
    p, engine = knapsacks(60), here(name)
    best = Highs().solve(p).objective
    short = engine.solve(p, Limits(nodes=1))
    assert short.status is Status.LIMIT
    assert short.objective <= best <= short.bound
    rough = engine.solve(p, Limits(gap=0.1))
    assert rough.status is Status.OPTIMAL
    assert rough.objective <= best <= rough.bound + 1e-6
    assert 1e-4 < rough.gap <= 0.1


@every_solver
def test_a_start_is_used(name):
    """Points of this program are so rare that nobody finds one at once."""
    engine, rng = here(name), np.random.default_rng(0)
    weights, point = rng.integers(0, 100, (4, 40)), rng.integers(0, 2, 40).astype(float)
    rare = program(rng.integers(1, 9, 40), weights, weights @ point, weights @ point)
    cold = engine.solve(rare, Limits(nodes=1))
    warm = engine.solve(rare, Limits(nodes=1), start=point)
    assert cold.status is warm.status is Status.LIMIT
    assert cold.values is None
    assert cold.objective == -np.inf
    np.testing.assert_array_equal(warm.values, point)
    assert warm.objective <= cold.bound < np.inf


@every_solver
def test_a_start_that_breaks_the_rules_does_no_harm(name):
    p = knapsacks(20)
    assert here(name).solve(p, start=np.ones(20)).objective == Highs().solve(p).objective


@every_solver
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("is_integer", [True, False])
def test_what_is_no_number_is_refused(name, bad, is_integer):
    engine = here(name)
    with pytest.raises(SolverFailed, match="objective of the program"):
        engine.solve(program([1, bad], [[1, 1]], [0], [1], is_integer=is_integer))
    with pytest.raises(SolverFailed, match="matrix of the program"):
        engine.solve(program([1, 1], [[bad, 1]], [0], [1], is_integer=is_integer))
    with pytest.raises(SolverFailed, match="upper of the program"):
        engine.solve(program([1, 1], [[1, 1]], [0], [np.nan], is_integer=is_integer))


@every_solver
def test_unknown_options_are_refused(name):
    kind = type(here(name))
    with pytest.raises(ProblemError, match="has no option nonsense = 3"):
        kind(nonsense=3).solve(knapsacks(5))


@every_solver
def test_a_solver_is_silent(name, capfd):
    engine = here(name)
    engine.solve(knapsacks(30))
    engine.solve(linear(0))
    assert capfd.readouterr() == ("", "")


@every_solver
def test_one_solver_serves_several_threads(name):
    engine, found = here(name), {}
    wanted = [Highs().solve(knapsacks(20, seed=seed)).objective for seed in range(4)]

    def work(seed):
        found[seed] = [engine.solve(knapsacks(20, seed=seed)).objective for _ in range(3)]

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[seed] for seed in range(4)] == [pytest.approx([w] * 3) for w in wanted]


def test_a_session_of_highs_forgets_the_limits_of_the_last_call():
    p = knapsacks(60)
    best = Highs().solve(p).objective
    session = Highs().session(p)
    assert session.maximise(p.objective, Limits(nodes=1)).status is Status.LIMIT
    assert session.maximise(p.objective).objective == pytest.approx(best)
    assert Highs(mip_max_nodes=1).session(p).maximise(p.objective).status is Status.LIMIT
    with pytest.raises(SolverFailed, match="objective of the program"):
        session.maximise(np.full(60, np.nan))


def test_highs_says_what_it_does_not_accept():
    assert Highs().solve(program([1, 1], [[1e16, 1]], [0], [1])).values.tolist() == [0, 1]
    with pytest.raises(ProblemError, match="HiGHS has no option presolve = 'perhaps'"):
        Highs(presolve="perhaps").solve(knapsacks(5))
