"""Custom: rows that the user writes."""

import numpy as np
import pytest
from examples import check_feasible_set, check_growth, chosen_of, custom, kits
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from sequoia.errors import InfeasibleDecision, InfeasibleSpace, ProblemError, TooLarge
from sequoia.problem.spaces import Custom


@st.composite
def customs(draw, plans=3):
    """Any small whole rows; some allow nothing at all."""
    n_actions, n_plan = draw(st.integers(1, 4)), draw(st.integers(0, plans))
    row = st.lists(st.integers(-3, 3), min_size=n_actions + n_plan, max_size=n_actions + n_plan)
    matrix = draw(st.lists(row, min_size=1, max_size=3))
    sides = [sorted(draw(st.tuples(st.integers(-3, 5), st.integers(-3, 5)))) for _ in matrix]
    lower = [draw(st.sampled_from([low, -np.inf])) for low, _ in sides]
    upper = [draw(st.sampled_from([high, np.inf])) for _, high in sides]
    return custom("any", matrix, lower, upper, n_actions)


@settings(deadline=None, max_examples=40)
@given(customs())
def test_feasible_set_of_any_rows(example):
    check_feasible_set(example)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.sets(st.integers(0, 4)), min_size=1, max_size=4), st.integers(0, 2))
def test_feasible_set_of_any_kits(contents, limit):
    check_feasible_set(kits("any", contents, 5, limit))


@settings(deadline=None, max_examples=60)
@given(customs(), st.integers(0, 2**32))
def test_draws_are_maximal_and_growth_is_complete(example, seed):
    space, rng = example.space, np.random.default_rng(seed)
    if not example.feasible:
        with pytest.raises(InfeasibleSpace, match="no decision satisfies the rules"):
            space.sample(rng)
        return
    drawn = space.sample(rng)
    assert space.system.violations(drawn) == []
    assert chosen_of(drawn.action) in example.maximal
    start = sorted(example.feasible, key=sorted)[0]
    decision = space.certify(np.isin(np.arange(space.n_actions), list(start)).astype(int))
    while True:
        chosen = chosen_of(decision.action)
        others = set(range(space.n_actions)) - chosen
        expected = [i for i in sorted(others) if chosen | {i} in example.feasible]
        assert space.extensions(decision).columns.tolist() == expected
        grown = check_growth(example, decision)
        if not grown:
            break
        decision = grown[rng.integers(len(grown))]


def test_idle_takes_the_plan_it_needs():
    """Doing nothing may still ask for a plan."""
    space = Custom([[0, 1, 1]], [1], [1], ["act"], ["this", "that"])
    assert not space.idle.action.any()
    assert space.idle.plan.sum() == 1
    assert space.system.violations(space.idle) == []


def test_sparse_and_dense_rows_are_the_same():
    dense = [[1.0, 0, 2], [0, 1, 1]]
    lower, upper = [-np.inf, 0], [2, 1]
    names = ["a", "b", "c"]
    one, other = Custom(dense, lower, upper, names), Custom(csr_array(dense), lower, upper, names)
    np.testing.assert_array_equal(one.matrix.toarray(), other.matrix.toarray())
    np.testing.assert_array_equal(one.enumerate(8), other.enumerate(8))


def test_rows_are_copied_from_the_caller():
    matrix = csr_array([[1.0, 1.0]])
    space = Custom(matrix, [0], [1], ["a", "b"])
    matrix.data[0] = 5
    assert space.matrix.toarray().tolist() == [[1, 1]]
    with pytest.raises(ValueError, match="read-only"):
        space.matrix.data[0] = 5


def test_described_with_its_plan():
    space = kits("", [[0, 1], [2]], 3, 2).space
    assert space.describe(space.certify([1, 1, 1])) == [
        "Choose items 0, 1 and 2",
        "with kits 0 and 1",
    ]
    assert space.describe(space.idle) == ["Choose nothing"]


def test_refusals_name_the_row_or_the_kind():
    plain = Custom([[1, 1]], [0], [1], ["a", "b"], row_names=["one of a and b"])
    with pytest.raises(InfeasibleDecision, match=r'a and b cannot .*"one of a and b": 2 > 1'):
        plain.certify([1, 1])
    with pytest.raises(InfeasibleDecision, match="no plan for it satisfies the custom rules"):
        kits("", [[0], [1]], 2, 1).space.certify([1, 1])


def test_too_many_columns_to_try_all():
    space = Custom(np.ones((1, 30)), [0], [30], [f"c{i}" for i in range(30)])
    with pytest.raises(TooLarge, match="actions of the custom space takes more than 50000 tries"):
        space.enumerate(cap=1000)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"matrix": [1.0, 2.0]}, r"custom\.matrix is not a matrix of numbers"),
        ({"matrix": [["x", "y"]]}, r"custom\.matrix is not a matrix of numbers"),
        ({"matrix": [[1.0, 2, 3]]}, r"custom\.matrix has 3 columns; 2 action and 0 plan"),
        ({"matrix": [[np.nan, 2]]}, r"custom\.matrix\.data\[0\] is nan"),
        ({"lower": [0, 0]}, r"custom\.lower has shape \(2,\); \(1\)"),
        ({"lower": [2]}, r"custom\.lower\[0\] is 2\.0; it must not exceed custom\.upper"),
        ({"lower": [np.nan]}, r"custom\.lower\[0\] is nan"),
        ({"lower": [np.inf], "upper": [np.inf]}, r"custom\.lower\[0\] is inf"),
        ({"lower": [-np.inf], "upper": [-np.inf]}, r"custom\.upper\[0\] is -inf"),
        ({"upper": ["a"]}, r"custom\.upper holds values that are not float64"),
        ({"names": ["a", "a"]}, r"custom\.names\[1\] repeats 'a'"),
        ({"names": ["a"], "plan_names": ["a"]}, r"custom\.names and plan_names\[1\] repeats 'a'"),
        ({"row_names": ["r", "s"]}, r"custom\.row_names has 2 entries; 1 are wanted"),
    ],
)
def test_bad_input_names_the_place(arguments, message):
    valid = {"matrix": [[1.0, 2.0]], "lower": [0], "upper": [1], "names": ["a", "b"]}
    with pytest.raises(ProblemError, match=message):
        Custom(**valid | arguments)
