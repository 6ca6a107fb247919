"""What is Gurobi's alone; what it shares with the others is in ``test_solver_registry``."""

import numpy as np
import pytest
from test_highs import knapsacks, program

from sequoia.errors import SolverFailed, SolverUnavailable
from sequoia.solvers import Highs, Limits, Status
from sequoia.solvers.gurobi import Gurobi

gurobipy = pytest.importorskip("gurobipy", reason="gurobipy is not installed")


def test_parameters_reach_the_solver():
    assert Gurobi(NodeLimit=0).solve(knapsacks(60)).status is Status.LIMIT


def test_a_licence_that_is_too_small_is_one_clear_line(monkeypatch):
    def refuse(_model):
        raise gurobipy.GurobiError(gurobipy.GRB.Error.SIZE_LIMIT_EXCEEDED, "Model too large")

    monkeypatch.setattr(gurobipy.Model, "optimize", refuse)
    with pytest.raises(SolverUnavailable) as raised:
        Gurobi().solve(knapsacks(5))
    assert str(raised.value) == (
        "the Gurobi licence here is limited in size, and the program has 5 columns and "
        "10 rows; get a full licence or use --solver highs."
    )


def test_a_large_program_needs_a_full_licence():
    large = program(np.ones(2500), [np.ones(2500)], [-np.inf], [3])
    try:
        solution = Gurobi().solve(large)
    except SolverUnavailable:
        return
    assert solution.objective == 3


def test_no_licence_is_one_clear_line(monkeypatch):
    def refuse(*_arguments, **_options):
        raise gurobipy.GurobiError(gurobipy.GRB.Error.NO_LICENSE, "No license found")

    monkeypatch.setattr(gurobipy, "Env", refuse)
    with pytest.raises(SolverUnavailable, match="Gurobi has no licence here"):
        Gurobi().solve(knapsacks(5))


def test_another_failure_names_the_program(monkeypatch):
    def refuse(*_arguments, **_options):
        raise gurobipy.GurobiError(gurobipy.GRB.Error.OUT_OF_MEMORY, "Out of memory")

    monkeypatch.setattr(gurobipy, "Model", refuse)
    with pytest.raises(SolverFailed, match="failed on a program with 5 columns and 10 rows"):
        Gurobi().solve(knapsacks(5))


def test_a_two_sided_row_has_one_price():
    def solve(low, high):
        p = program([3, 2], [[1, 1], [1, 0]], [low, -np.inf], [high, np.inf], 9, False)
        return Gurobi().solve(p), Highs().solve(p)

    for low, high in ((1, 5), (5, 5)):
        ours, wanted = solve(low, high)
        assert ours.row_duals.tolist() == pytest.approx(wanted.row_duals.tolist())
    p = program([-3, -2], [[1, 1]], [1], [5], 9, False)
    assert Gurobi().solve(p).row_duals.tolist() == pytest.approx([-2])


def test_infeasible_or_unbounded_is_settled():
    rows = [[1, -1], [-1, 1]]
    infeasible = program([1, 1], rows, [1, 1], [np.inf, np.inf], np.inf, False)
    assert Gurobi().solve(infeasible).status is Status.INFEASIBLE
    unbounded = program([1, 1], rows, [-1, -1], [np.inf, np.inf], np.inf, False)
    assert Gurobi().solve(unbounded).status is Status.UNBOUNDED


def test_a_linear_program_out_of_time_has_no_point():
    rng = np.random.default_rng(0)
    p = program(rng.random(1500), rng.random((800, 1500)), [-np.inf] * 800, [9.0] * 800, 1, False)
    solution = Gurobi().solve(p, Limits(seconds=0))
    assert solution.status is Status.LIMIT
    assert solution.values is None
    assert solution.bound == np.inf
