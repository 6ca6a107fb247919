"""The best few arms under rules over groups that are nested or apart, without a solver."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sequoia.errors import InfeasibleSpace
from sequoia.problem.rules import Floor, Rules
from sequoia.problem.spaces import Assignment, Budget, with_rules
from sequoia.problem.spaces.assignment import class_counts
from sequoia.problem.spaces.group_rows import GroupRows
from sequoia.solvers import Limits

NAMES = [f"arm {index}" for index in range(7)]
NESTED = {"west": NAMES[:4], "corner": NAMES[1:3], "east": NAMES[4:6]}


@st.composite
def rules_over_groups(draw):
    """Rules over groups, and the same said in plain Python about a set of arms."""
    floors, tests = [], []
    for group, members in NESTED.items():
        inside = {NAMES.index(name) for name in members}
        count, tenths = draw(st.integers(0, 2)), draw(st.sampled_from([0, 3, 5, 6]))
        floors.append(Floor(group, share=tenths / 10, count=count))
        tests.append(lambda a, inside=inside, count=count: len(a & inside) >= count)
        tests.append(
            lambda a, inside=inside, tenths=tenths: len(a & inside) >= Fraction(tenths, 10) * len(a)
        )
    several = draw(st.sampled_from([[], NAMES[:2], NAMES[1:3], NAMES[4:], NAMES]))
    at_most_one = [several] if several else []
    must, never = draw(st.sampled_from([([], []), (["arm 6"], []), (["arm 1"], ["arm 2"])]))
    tests.append(lambda a: len(a & {NAMES.index(name) for name in several}) <= 1)
    tests.append(lambda a: all(NAMES.index(name) in a for name in must))
    tests.append(lambda a: all(NAMES.index(name) not in a for name in never))
    rules = Rules(NESTED, floors, must, never, at_most_one)
    return rules, lambda a: all(test(a) for test in tests)


@settings(deadline=None, max_examples=100)
@given(rules_over_groups(), st.integers(0, 7), st.integers(0, 2**32))
def test_best_action_is_that_of_all_that_are_allowed(example, limit, seed):
    rules, accepts = example
    space = with_rules(Budget(np.ones(7), limit, NAMES), rules)
    weights = np.random.default_rng(seed).integers(-3, 5, size=7) / 2
    sets = [{i for i in range(7) if bits[i]} for bits in product([0, 1], repeat=7)]
    allowed = [sum(weights[list(a)]) for a in sets if len(a) <= limit and accepts(a)]
    try:
        action = space.argmax_linear(weights)
    except InfeasibleSpace:
        assert not allowed
        return
    if action is None:  # a group that overlaps others, or nothing is allowed at all
        overlaps = rules.at_most_one and set(rules.at_most_one[0]) in map(
            set, [NAMES[:2], NAMES[4:]]
        )
        assert overlaps or not allowed
        found = space.bracket_linear(weights, Limits(gap=0.0))
        if found is None:
            return
        action = found[0]
        assert found[1] == pytest.approx(weights @ action)
    chosen = {int(column) for column in np.flatnonzero(action)}
    assert accepts(chosen)
    assert len(chosen) <= limit
    assert weights @ action == pytest.approx(max(allowed))


@settings(deadline=None, max_examples=60)
@given(
    rules_over_groups(),
    st.lists(st.integers(1, 3), min_size=7, max_size=7),
    st.lists(st.integers(0, 6), min_size=1, max_size=3),
    st.integers(0, 2**32),
)
def test_best_assignment_needs_no_solver(example, costs, capacities, seed):
    rules, accepts = example
    plain = Assignment(np.array(costs), np.array(capacities), NAMES)
    weights = np.random.default_rng(seed).integers(-3, 5, size=7) / 2
    actions = np.array(list(product([0, 1], repeat=7)), dtype=np.int8)
    actions = actions[plain.contains(actions)]
    allowed = [a @ weights for a in actions if accepts(set(np.flatnonzero(a).tolist()))]
    try:
        action = with_rules(plain, rules).argmax_linear(weights)
    except InfeasibleSpace:
        action = None
    if action is None:
        assert not allowed
        return
    assert accepts(set(np.flatnonzero(action).tolist()))
    assert plain.contains(action[None])[0]
    assert weights @ action == pytest.approx(max(allowed))


def test_very_many_counts_of_an_assignment_are_left_to_a_solver(monkeypatch):
    rules = Rules(NESTED, [Floor("west", share=0.5)])
    space = with_rules(Assignment(np.ones(7), np.array([3.0]), NAMES), rules)
    assert space.argmax_linear(np.ones(7)) is not None
    monkeypatch.setattr(class_counts, "_MOST_COUNTS", 3)
    space = with_rules(space.base, rules)
    assert space.argmax_linear(np.ones(7)) is None


def test_groups_that_overlap_in_part_are_left_to_a_solver():
    groups = {"a": NAMES[:3], "b": NAMES[2:5]}
    rules = Rules(groups, [Floor("a", count=1), Floor("b", count=1)])
    assert GroupRows.of(rules.rows(NAMES), 3) is None
    assert with_rules(Budget(np.ones(7), 3, NAMES), rules).argmax_linear(np.ones(7)) is None


def test_groups_that_overlap_are_decided_where_few_of_them_matter_at_once():
    groups = {"a": NAMES[:3], "b": NAMES[2:5], "c": NAMES[4:]}
    floors = [Floor("a", count=1), Floor("b", share=0.5), Floor("c", count=2)]
    space = with_rules(Budget(np.ones(7), 4, NAMES), Rules(groups, floors, must=["arm 1"]))
    weights = np.array([1.0, -2, 9, 1, 5, 7, 8])
    action, bound = space.bracket_linear(weights, Limits(gap=0.0))
    assert weights @ action == bound == (space.enumerate(200) @ weights).max()


def test_a_share_is_of_those_who_are_chosen():
    rules = Rules({"few": NAMES[:2]}, [Floor("few", share=0.5)])
    space = with_rules(Budget(np.ones(7), 6, NAMES), rules)
    # Two of the few carry two others; more would leave them below a half.
    action = space.argmax_linear(np.array([-1.0, 0.5, 9, 8, 7, 6, 5]))
    assert np.flatnonzero(action).tolist() == [0, 1, 2, 3]


def test_what_rules_settle_is_known_beforehand():
    rules = Rules({"a": NAMES[:3]}, [Floor("a", count=1)], must=["arm 1"], never=["arm 4"])
    space = with_rules(Budget(np.ones(7), 3, NAMES), rules)
    assert space.settled.tolist() == [-1, 1, -1, -1, 0, -1, -1]
    assert (space.base.settled == -1).all()
