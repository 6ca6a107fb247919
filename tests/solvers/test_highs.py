"""The HiGHS adapter against brute force and scipy."""

import itertools

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from sequoia.solvers import Highs, Limits, Program, Status


def program(objective, matrix, lower, upper, column_upper=1.0, is_integer=True, column_lower=0.0):
    size = len(objective)
    return Program(
        np.array(objective, dtype=np.float64),
        csr_array(np.array(matrix, dtype=np.float64).reshape(len(lower), size)),
        np.array(lower, dtype=np.float64),
        np.array(upper, dtype=np.float64),
        np.broadcast_to(np.asarray(column_lower, dtype=np.float64), (size,)),
        np.broadcast_to(np.asarray(column_upper, dtype=np.float64), (size,)),
        np.broadcast_to(np.asarray(is_integer, dtype=np.bool_), (size,)),
    )


def random_rows(rng, rows, columns):
    matrix = rng.integers(-4, 9, (rows, columns)) * (rng.random((rows, columns)) < 0.7)
    middle = matrix @ rng.integers(0, 2, columns)
    lower = np.where(rng.random(rows) < 0.4, middle - rng.integers(0, 3, rows), -np.inf)
    upper = np.where(rng.random(rows) < 0.8, middle + rng.integers(-2, 3, rows), np.inf)
    return matrix, lower, np.maximum(lower, upper)


def knapsacks(columns, rows=10, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 100, (rows, columns))
    values = rng.integers(1, 100, columns)
    return program(values, weights, [-np.inf] * rows, weights.sum(axis=1) // 2)


def holds(p, values):
    left = p.matrix @ values
    return bool(
        (left >= p.lower - 1e-6).all()
        and (left <= p.upper + 1e-6).all()
        and (values >= p.column_lower - 1e-6).all()
        and (values <= p.column_upper + 1e-6).all()
        and (np.rint(values) == values)[p.is_integer].all()
    )


@pytest.mark.parametrize("seed", range(40))
def test_binary_programs_against_brute_force(seed):
    rng = np.random.default_rng(seed)
    p = program(rng.integers(-9, 10, 8), *random_rows(rng, 3, 8))
    points = np.array(list(itertools.product([0, 1], repeat=8)))
    feasible = [point for point in points if holds(p, point)]
    solution = Highs().solve(p)
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
    assert solution.objective == pytest.approx(p.objective @ solution.values)
    assert solution.row_duals is None


def test_brute_force_saw_both_outcomes():
    outcomes = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        outcomes.add(
            Highs().solve(program(rng.integers(-9, 10, 8), *random_rows(rng, 3, 8))).status
        )
    assert outcomes == {Status.OPTIMAL, Status.INFEASIBLE}


@pytest.mark.parametrize("seed", range(20))
def test_mixed_programs_against_scipy(seed):
    rng = np.random.default_rng(100 + seed)
    matrix = rng.normal(size=(4, 10))
    p = program(
        rng.normal(size=10),
        matrix,
        [-np.inf] * 4,
        rng.random(4) * 4 + 1,
        column_upper=rng.integers(1, 5, 10),
        column_lower=-rng.integers(0, 3, 10),
        is_integer=rng.random(10) < 0.5,
    )
    wanted = milp(
        -p.objective,
        constraints=LinearConstraint(matrix, p.lower, p.upper),
        bounds=Bounds(p.column_lower, p.column_upper),
        integrality=p.is_integer,
        options={"mip_rel_gap": 0},
    )
    solution = Highs().solve(p)
    assert (solution.status is Status.OPTIMAL) == wanted.success
    if wanted.success:
        assert solution.objective == pytest.approx(-wanted.fun, rel=1e-5)
        assert holds(p, solution.values)


@pytest.mark.parametrize("seed", range(10))
def test_linear_programs_and_their_duals(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.random((4, 7))
    p = program(
        rng.random(7), matrix, [-np.inf] * 4, rng.random(4) * 3 + 1, np.inf, is_integer=False
    )
    solution = Highs().solve(p)
    wanted = linprog(-p.objective, A_ub=matrix, b_ub=p.upper)
    assert solution.status is Status.OPTIMAL
    assert solution.objective == pytest.approx(-wanted.fun)
    assert solution.bound == solution.objective
    np.testing.assert_allclose(solution.row_duals, -wanted.ineqlin.marginals, atol=1e-8)
    assert (solution.row_duals >= 0).all(), "more of a resource never hurts"
    assert solution.row_duals @ p.upper == pytest.approx(solution.objective), "strong duality"


def test_a_dual_is_the_price_of_one_more_unit():
    def solve(limit, floor):
        rows = [[1, 1], [1, 0]]
        return Highs().solve(program([3, 2], rows, [-np.inf, floor], [limit, np.inf], 9, False))

    def best(limit, floor):
        return solve(limit, floor).objective

    duals = solve(5, 1).row_duals
    assert duals.tolist() == pytest.approx([best(6, 1) - best(5, 1), best(5, 2) - best(5, 1)])
    assert duals.tolist() == pytest.approx([3, 0])
    forced = Highs().solve(program([-1], [[1]], [2], [np.inf], 9, False))
    assert forced.row_duals.tolist() == pytest.approx([-1]), "a floor that binds has a cost"


def test_infeasible_and_unbounded_are_told_apart():
    for is_integer in (True, False):
        infeasible = Highs().solve(program([1], [[1]], [2], [3], 1, is_integer))
        assert infeasible.status is Status.INFEASIBLE
        assert infeasible.values is None
        assert infeasible.bound == -np.inf
        assert infeasible.gap == np.inf
        open_ended = Highs().solve(program([1], [[1]], [2], [np.inf], np.inf, is_integer))
        assert open_ended.status in (Status.UNBOUNDED, Status.FAILED)
        assert open_ended.bound == np.inf


def test_a_program_without_rows():
    solution = Highs().solve(program([1, -1, 2], [], [], []))
    assert solution.status is Status.OPTIMAL
    assert solution.values.tolist() == [1, 0, 1]


def test_fixed_columns_stay_fixed():
    p = program([5, 4, 3], [[2, 3, 1]], [-np.inf], [3], [0, 1, 1], column_lower=[0, 1, 0])
    assert Highs().solve(p).values.tolist() == [0, 1, 0]


def test_integers_are_rounded():
    solution = Highs().solve(knapsacks(30))
    assert solution.status is Status.OPTIMAL
    assert set(solution.values.tolist()) == {0.0, 1.0}


def test_a_time_limit_returns_a_valid_bound():
    p = knapsacks(300)
    solution = Highs().solve(p, Limits(seconds=0.3))
    # Without a limit it would take ages; how far it comes depends on the machine.
    assert solution.status is Status.LIMIT
    assert solution.values is None or holds(p, solution.values)
    assert solution.objective <= solution.bound
    assert solution.gap > 0


def test_a_node_limit_returns_a_point_and_a_bound():
    p = knapsacks(300)
    solution = Highs().solve(p, Limits(nodes=5))
    assert solution.status is Status.LIMIT
    assert holds(p, solution.values)
    assert solution.objective <= solution.bound < np.inf
    relaxed = linprog(-p.objective, A_ub=p.matrix, b_ub=p.upper, bounds=(0, 1))
    assert solution.bound <= -relaxed.fun + 1e-6
    assert 0 < solution.gap < 0.1


def test_no_time_gives_no_answer_and_no_proof():
    solution = Highs().solve(knapsacks(60), Limits(seconds=0))
    assert solution.status is Status.LIMIT
    assert solution.bound >= Highs().solve(knapsacks(60)).objective
    assert solution.gap > 0


def test_a_node_limit_returns_a_valid_bound():
    p = knapsacks(60)
    best = Highs().solve(p)
    short = Highs().solve(p, Limits(nodes=1))
    assert short.status is Status.LIMIT
    assert short.objective <= best.objective <= short.bound


def test_a_gap_is_kept():
    p = knapsacks(60)
    best = Highs().solve(p).objective
    rough = Highs().solve(p, Limits(gap=0.1))
    assert rough.status is Status.OPTIMAL
    assert rough.objective <= best <= rough.bound + 1e-6
    assert 1e-3 < rough.gap <= 0.1, "it stops as soon as it may"


def test_the_default_gap_is_an_optimum():
    solution = Highs().solve(knapsacks(40))
    assert solution.gap < 1e-6


def test_a_start_is_used():
    p = knapsacks(60)
    best = Highs().solve(p)
    cold = Highs().solve(p, Limits(nodes=0))
    warm = Highs().solve(p, Limits(nodes=0), start=best.values)
    assert warm.objective == best.objective > cold.objective


def test_options_reach_the_solver():
    p = knapsacks(60)
    rough = Highs(mip_max_nodes=1).solve(p)
    assert rough.status is Status.LIMIT


def test_a_solver_keeps_nothing_between_programs():
    solver = Highs()
    first = solver.solve(knapsacks(30, seed=1))
    solver.solve(knapsacks(20, seed=2))
    again = solver.solve(knapsacks(30, seed=1))
    np.testing.assert_array_equal(first.values, again.values)
