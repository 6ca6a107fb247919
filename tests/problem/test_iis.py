import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sequoia import Budget, LinearSystem, Rules, Schedule
from sequoia.problem import with_rules
from sequoia.problem.iis import irreducible_infeasible_subset
from sequoia.problem.system import Rows


def system(matrix, lower, upper) -> LinearSystem:
    matrix = np.asarray(matrix, dtype=np.float64)
    rows, columns = matrix.shape
    block = Rows(matrix, np.asarray(lower), np.asarray(upper), [f"row {r}" for r in range(rows)])
    return LinearSystem.from_rows([block], columns, [f"column {c}" for c in range(columns)])


def feasible(matrix, lower, upper) -> bool:
    """Try every action."""
    columns = np.asarray(matrix).shape[1]
    actions = (np.arange(2**columns)[:, None] >> np.arange(columns)) & 1
    left = actions @ np.asarray(matrix).T
    return bool(((left >= lower) & (left <= upper)).all(axis=1).any())


def test_a_space_with_a_decision_has_no_conflict():
    assert irreducible_infeasible_subset(Budget(np.ones(3), 1).system) == []


def test_rules_that_ask_for_too_much():
    space = with_rules(Budget(np.ones(4), 1), Rules(must=["arm 0", "arm 2"], never=["arm 1"]))
    assert irreducible_infeasible_subset(space.compact) == [
        "budget",
        "must act on arm 0",
        "must act on arm 2",
    ]


def test_a_single_impossible_row():
    assert irreducible_infeasible_subset(system([[1, 1], [1, 0]], [0, 2], [1, 2])) == ["row 1"]


@pytest.mark.parametrize("distinct", [False, True])
def test_a_worker_who_is_off(distinct):
    space = Schedule(np.ones((1, 2)), np.ones((3, 2)), limit=3, distinct_workers=distinct)
    space = with_rules(space, Rules(must=["arm 1"], absent=["worker 0"]))
    assert "must act on arm 1" in irreducible_infeasible_subset(space.system)
    assert "must act on arm 1" in irreducible_infeasible_subset(space.compact)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_the_set_is_irreducible(seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(2, 9), rng.integers(1, 5)
    matrix = rng.integers(-2, 3, (rows, columns))
    lower = rng.integers(-2, 3, rows).astype(float)
    upper = lower + rng.integers(0, 3, rows)
    found = irreducible_infeasible_subset(system(matrix, lower, upper))
    assert bool(found) != feasible(matrix, lower, upper)
    kept = [int(name.split()[1]) for name in found]
    if kept:
        assert not feasible(matrix[kept], lower[kept], upper[kept])
    for row in kept:
        rest = [other for other in kept if other != row]
        assert not rest or feasible(matrix[rest], lower[rest], upper[rest])
