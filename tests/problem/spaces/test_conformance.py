"""What every action space has to show, on one list of small spaces."""

import numpy as np
import pytest
from examples import EXAMPLES, check_feasible_set, check_growth, chosen_of
from hypothesis import given, settings
from hypothesis import strategies as st

from sequoia.errors import InfeasibleSpace, TooLarge
from sequoia.problem.rules import Rules
from sequoia.problem.spaces import Budget, Schedule, Walk, read_space, with_rules, write_space
from sequoia.solvers import Highs

every_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)


def test_examples_use_every_form():
    """The list covers the flow form, Hall's condition and a plan that the solver finds."""
    compact = [e.space for e in EXAMPLES if e.space.compact is not e.space.system]
    kinds = {(s.base.kind, bool((~s.compact.is_integer).any())) for s in compact}
    assert {("schedule", False), ("schedule", True), ("assignment", False), ("walk", True)} <= kinds


@every_example
def test_feasible_set_is_that_of_the_words(example):
    assert example.feasible
    check_feasible_set(example)


@every_example
def test_system_is_binary_and_named(example):
    system = example.space.system
    assert system.is_integer.all()
    assert (system.column_upper == 1).all()
    for form in (system, example.space.compact):
        assert form.n_actions == example.space.n_actions
        assert list(form.column_names[: form.n_actions]) == list(example.space.names)
        assert len(form.column_names) == form.n_columns
        assert len(form.row_names) == form.n_rows == len(form.lower) == len(form.upper)


@every_example
def test_best_action_is_the_same_in_both_forms(example):
    """Maximising over either form finds the best of the words."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        weights = rng.normal(size=example.space.n_actions)
        best = max(sum(weights[list(chosen)]) for chosen in example.feasible)
        for form in (example.space.system, example.space.compact):
            assert Highs().solve(form.program(weights)).objective == pytest.approx(best, abs=1e-6)


@every_example
def test_draws_are_feasible(example):
    rng = np.random.default_rng(0)
    for _ in range(40):
        decision = example.space.sample(rng)
        assert example.space.system.violations(decision) == []
        assert chosen_of(decision.action) in example.feasible


@every_example
def test_every_maximal_action_is_drawn(example):
    rng = np.random.default_rng(1)
    missing = set(example.maximal)
    for _ in range(5000):
        missing.discard(chosen_of(example.space.sample(rng).action))
        if not missing:
            break
    assert not missing


@every_example
def test_equal_seeds_draw_equal_decisions(example):
    first, second = (example.space.sample(np.random.default_rng(8)) for _ in range(2))
    np.testing.assert_array_equal(first.action, second.action)
    np.testing.assert_array_equal(first.plan, second.plan)


@every_example
def test_growth_is_feasible_from_anywhere(example):
    """Every extension of drawn and of certified decisions satisfies the system."""
    rng = np.random.default_rng(2)
    sets = sorted(example.feasible, key=sorted)
    for chosen in [sets[i] for i in rng.permutation(len(sets))[:20]]:
        action = np.isin(np.arange(example.space.n_actions), list(chosen)).astype(np.int8)
        check_growth(example, example.space.certify(action))
    for _ in range(10):
        check_growth(example, example.space.sample(rng))


@every_example
def test_growing_step_by_step_from_idle(example):
    """Doing nothing is a beginning wherever it is allowed; growth then ends."""
    idle = example.space.idle
    assert not idle.action.any()
    assert (example.space.system.violations(idle) == []) == (frozenset() in example.feasible)
    rng = np.random.default_rng(4)
    for _ in range(5):
        decision = idle
        while grown := check_growth(example, decision):
            decision = grown[rng.integers(len(grown))]


@pytest.mark.parametrize(
    "example",
    [e for e in EXAMPLES if e.space.base.kind in ("assignment", "schedule", "rota")],
    ids=lambda example: example.name,
)
def test_growth_keeps_the_plan_of_workers(example):
    space = example.space
    decision = space.sample(np.random.default_rng(5))
    for grown in check_growth(example, space.idle) + check_growth(example, decision):
        before = space.idle if grown.action.sum() == 1 else decision
        assert (grown.plan >= before.plan).all()


@every_example
def test_described_by_name(example):
    decision = example.space.sample(np.random.default_rng(6))
    lines = example.space.describe(decision)
    assert lines
    text = "\n".join(lines)
    for name in example.space.chosen(decision.action):
        assert name.split()[-1] in text


@every_example
def test_written_and_read_back(example):
    again = read_space(write_space(example.space))
    assert again.rules == example.space.rules
    listed = {chosen_of(action) for action in again.enumerate(cap=10**4)}
    assert listed == example.feasible
    np.testing.assert_array_equal(
        again.system.matrix.toarray(), example.space.system.matrix.toarray()
    )
    assert write_space(again).fingerprint() == write_space(example.space).fingerprint()


@settings(deadline=None, max_examples=250)
@given(st.data())
def test_many_draws_and_growths(data):
    """Any example, any seed, any way of growing."""
    example = data.draw(st.sampled_from(EXAMPLES))
    space = example.space
    decision = space.sample(np.random.default_rng(data.draw(st.integers(0, 2**32))))
    assert space.system.violations(decision) == []
    kept = data.draw(st.sets(st.sampled_from(sorted(chosen_of(decision.action)) or [0])))
    action = np.isin(np.arange(space.n_actions), list(kept)).astype(np.int8)
    if chosen_of(action) not in example.feasible:
        return
    decision = space.certify(action)
    while len(extensions := space.extensions(decision)):
        decision = extensions[data.draw(st.integers(0, len(extensions) - 1))]
        assert space.system.violations(decision) == []
        assert chosen_of(decision.action) in example.feasible


@pytest.mark.parametrize(
    "space",
    [
        Budget([1, 1], 1),
        Schedule(np.ones((2, 12)), np.array([[0] * 12, [1] * 12]), 2, names=["arm 0", "arm 1"]),
        Walk([(0, 1)], 0, 1, 1, names=["arm 0", "arm 1"]),
    ],
    ids=["budget", "schedule", "path"],
)
def test_drawing_from_contradictory_rules_says_so(space):
    contradictory = with_rules(space, Rules(must=["arm 0", "arm 1"]))
    with pytest.raises(InfeasibleSpace, match="no decision satisfies the rules"):
        contradictory.sample(np.random.default_rng(0))


def test_cutting_off_an_enumeration_is_an_error_not_a_part():
    with pytest.raises(TooLarge, match=r"100 .*budget space"):
        Budget(np.ones(60), 30).enumerate(cap=100)
