"""What is SCIP's alone; what it shares with the others is in ``test_solver_registry``."""

import numpy as np
import pytest
from test_highs import knapsacks, program

from sequoia.errors import ProblemError
from sequoia.solvers import Highs, Limits, Status
from sequoia.solvers.scip import Scip

pytest.importorskip("pyscipopt", reason="pyscipopt is not installed")


def test_parameters_reach_the_solver():
    assert Scip(**{"limits/nodes": 1}).solve(knapsacks(60)).status is Status.LIMIT
    with pytest.raises(ProblemError, match="SCIP has no option limits/nodes = 'many'"):
        Scip(**{"limits/nodes": "many"}).solve(knapsacks(5))


def test_infeasible_or_unbounded_is_settled():
    rows = [[1, -1], [-1, 1]]
    for is_integer in (True, False):
        infeasible = program([1, 1], rows, [1, 1], [np.inf, np.inf], np.inf, is_integer)
        assert Scip().solve(infeasible).status is Status.INFEASIBLE
        unbounded = program([1, 1], rows, [-1, -1], [np.inf, np.inf], np.inf, is_integer)
        assert Scip().solve(unbounded).status is Status.UNBOUNDED


def test_a_row_over_one_column_keeps_its_price():
    """SCIP itself would turn such a row into a bound and lose the price."""
    p = program([3, 2], [[1, 0], [0, 1]], [-np.inf, -np.inf], [4, 5], 9, False)
    assert Scip().solve(p).row_duals.tolist() == pytest.approx([3, 2])


def test_a_linear_program_out_of_time_has_no_point():
    rng = np.random.default_rng(0)
    p = program(rng.random(600), rng.random((400, 600)), [-np.inf] * 400, [9.0] * 400, 1, False)
    solution = Scip().solve(p, Limits(seconds=1e-3))
    assert solution.status is Status.LIMIT
    assert solution.values is None
    assert solution.bound == np.inf
    assert Scip().solve(p).objective == pytest.approx(Highs().solve(p).objective)
