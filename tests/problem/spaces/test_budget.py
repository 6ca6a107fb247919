"""Budget: the standard restless bandit."""

import numpy as np
import pytest
from examples import budget, check_feasible_set, check_growth, chosen_of
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from sequoia.errors import InfeasibleDecision, ProblemError
from sequoia.problem import Rules
from sequoia.problem.spaces import Budget, with_rules

budgets = st.builds(
    lambda costs, limit: budget("any", [c / 2 for c in costs], limit / 2),
    st.lists(st.integers(0, 8), min_size=1, max_size=7),
    st.integers(0, 20),
)


@settings(deadline=None, max_examples=60)
@given(budgets)
def test_feasible_set_of_any_budget(example):
    check_feasible_set(example)


@settings(deadline=None, max_examples=60)
@given(budgets, st.integers(0, 2**32))
def test_growth_lists_everything_affordable(example, seed):
    """From every decision on the way to a full one."""
    rng = np.random.default_rng(seed)
    decision = example.space.idle
    while True:
        chosen = chosen_of(decision.action)
        extensions = example.space.extensions(decision)
        columns = extensions.columns.tolist()
        others = set(range(example.space.n_actions)) - chosen
        assert columns == sorted(i for i in others if chosen | {i} in example.feasible)
        assert extensions.costs.tolist() == [example.space.costs[i] for i in columns]
        assert not extensions.priority.any()
        grown = check_growth(example, decision)
        if not grown:
            break
        decision = grown[rng.integers(len(grown))]


@settings(deadline=None, max_examples=60)
@given(budgets, st.integers(0, 2**32))
def test_every_draw_is_maximal(example, seed):
    """Nothing affordable is left out."""
    drawn = example.space.sample(np.random.default_rng(seed))
    assert chosen_of(drawn.action) in example.maximal


def test_draw_is_uniform_over_subsets_of_equal_cost():
    """Appendix D: a random subset of B actions."""
    space, rng = Budget([1] * 5, 2), np.random.default_rng(0)
    counts: dict[frozenset[int], int] = {}
    for _ in range(2000):
        chosen = chosen_of(space.sample(rng).action)
        counts[chosen] = counts.get(chosen, 0) + 1
    assert len(counts) == 10
    assert chisquare(list(counts.values())).pvalue > 1e-3


def test_sums_of_tenths_fit_exactly():
    """Three tenths fit into 0.3 although floats say 0.30000000000000004."""
    space = Budget([0.1, 0.1, 0.1], 0.3)
    assert space.contains([[1, 1, 1]]).all()
    assert space.sample(np.random.default_rng(0)).action.all()
    assert len(space.extensions(space.certify([1, 1, 0]))) == 1


def test_described_in_words():
    space = Budget([1, 2, 3, 4], 6.5)
    assert space.describe(space.certify([1, 0, 0, 1])) == [
        "Act on arms 0 and 3 (5 of 6.5 units used)"
    ]
    assert space.describe(space.idle) == ["Act on nothing (0 of 6.5 units used)"]


def test_refusal_names_the_broken_row():
    with pytest.raises(InfeasibleDecision, match=r'arms 0 and 1 cannot .*row "budget": 5 > 4'):
        Budget([2, 3], 4).certify([1, 1])


@pytest.mark.parametrize("action", [[0.9999, 0], [1], [1, 0, 0]], ids=["part", "short", "long"])
def test_certify_wants_one_whole_entry_per_column(action):
    with pytest.raises(ProblemError, match=r"^action "):
        Budget([2, 3], 4).certify(action)


def test_certify_wants_zeros_and_ones():
    with pytest.raises(InfeasibleDecision, match='"arm 0" is 2; 0 or 1 is wanted'):
        Budget([1, 1], 4).certify([2, 0])


def test_without_arms_there_is_one_action():
    assert Budget([], 1).enumerate(cap=1).shape == (1, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"costs": [1, -2]}, r"budget\.costs\[1\] is -2\.0; a cost is not negative"),
        ({"costs": [np.inf, 1]}, r"budget\.costs\[0\] is inf"),
        ({"costs": [[1, 2]]}, r"budget\.costs has shape \(1, 2\); \(any\) is wanted"),
        ({"costs": ["dear", 2]}, r"budget\.costs holds values that are not float64"),
        ({"limit": -1}, r"budget\.limit is -1; a number of at least 0"),
        ({"limit": np.nan}, r"budget\.limit is nan"),
        ({"limit": None}, r"budget\.limit is None"),
        ({"limit": "much"}, r"budget\.limit is much"),
        ({"names": ["a"]}, r"budget\.names has 1 entry; 2 are wanted"),
        ({"names": ["a", "a"]}, r"budget\.names\[1\] repeats 'a'"),
        ({"names": ["a", " b"]}, r"budget\.names\[1\] is ' b'"),
    ],
)
def test_bad_input_names_the_place(arguments, message):
    with pytest.raises(ProblemError, match=message):
        Budget(**{"costs": [1, 2], "limit": 3} | arguments)


def test_arrays_are_read_only_copies():
    costs = np.array([1.0, 2.0])
    space = Budget(costs, 2)
    costs[0] = 9
    assert space.costs.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        space.costs[0] = 5


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 7), st.integers(0, 4), st.integers(0, 20), st.integers(0, 2**32))
def test_heaviest_where_all_cost_the_same(size, cost, limit, seed):
    example = budget("any", [cost / 2] * size, limit / 2)
    weights = np.random.default_rng(seed).standard_normal(size)
    action = example.space.argmax_linear(weights)
    assert chosen_of(action) in example.feasible
    best = max(sum(weights[list(chosen)]) for chosen in example.feasible)
    assert weights @ action == pytest.approx(best)


def test_heaviest_of_different_costs_needs_a_solver():
    assert Budget([1, 2], 2).argmax_linear(np.ones(2)) is None


@pytest.mark.parametrize("limit", [0, 1, 3, 6])
def test_many_linear_functions_at_once_are_as_one_by_one(limit):
    space = Budget(np.ones(6), limit)
    weights = np.random.default_rng(limit).standard_normal((40, 6))
    together = space.argmax_linear_batch(weights)
    best = np.array([row @ space.argmax_linear(row) for row in weights])
    assert space.contains(together).all()
    np.testing.assert_allclose((together * weights).sum(axis=1), best)
    assert Budget([1.5, 2], 2).argmax_linear_batch(np.ones((3, 2))) is None


@pytest.mark.parametrize("rules", [Rules(), Rules(must=["arm 2"], never=["arm 4", "arm 5"])])
@pytest.mark.parametrize("seed", range(8))
def test_many_linear_functions_at_once_where_costs_are_whole(rules, seed):
    rng = np.random.default_rng(seed)
    space = with_rules(Budget(rng.integers(0, 5, 7), rng.integers(4, 12)), rules)
    weights = rng.standard_normal((40, 7)) * 10.0 ** rng.integers(-9, 9)
    actions = space.enumerate(1000)
    found = space.argmax_linear_batch(weights)
    assert space.contains(found).all()
    best = (weights @ actions.T).max(axis=1)
    np.testing.assert_allclose((found * weights).sum(axis=1), best, rtol=1e-12)
