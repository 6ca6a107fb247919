"""Assignment: workers with capacities."""

from itertools import permutations

import numpy as np
import pytest
from examples import (
    accepted_by,
    action_of,
    assignment,
    check_feasible_set,
    check_growth,
    check_questions,
    chosen_of,
    every_set,
    within_budget,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from sequoia.errors import InfeasibleDecision, ProblemError
from sequoia.problem.rules import Bar, Floor, Lock, Rules
from sequoia.problem.spaces import Assignment, Budget, with_rules
from sequoia.problem.spaces.assignment import bin_packing
from sequoia.problem.spaces.assignment import space as module
from sequoia.problem.tables import TableSet


def assignments(arms, workers):
    return st.builds(
        lambda costs, capacities: assignment(
            "any", [c / 2 for c in costs], [c / 2 for c in capacities]
        ),
        st.lists(st.integers(1, 9), min_size=1, max_size=arms),
        st.lists(st.integers(0, 12), min_size=0, max_size=workers),
    )


@settings(deadline=None, max_examples=50)
@given(assignments(5, 3))
def test_feasible_set_of_any_assignment(example):
    check_feasible_set(example)


@settings(deadline=None, max_examples=50)
@given(assignments(7, 3))
def test_questions_about_any_assignment(example):
    check_questions(example)


@settings(deadline=None, max_examples=60)
@given(assignments(7, 3), st.integers(0, 2**32))
def test_growth_lists_every_worker_and_arm_that_fit(example, seed):
    space, rng = example.space, np.random.default_rng(seed)
    decision = space.idle
    while True:
        extensions = space.extensions(decision)
        visits = space.visits(decision)
        fitting = []
        for worker in range(space.n_workers):
            used = sum(space.costs[j] for j in range(space.n_actions) if visits[worker, j])
            for arm in set(range(space.n_actions)) - chosen_of(decision.action):
                if used + space.costs[arm] <= space.capacities[worker]:
                    fitting.append((worker, arm))
        grown = check_growth(example, decision)
        found = []
        for extended in grown:
            ((worker, arm),) = np.argwhere(space.visits(extended) & ~visits).tolist()
            found.append((worker, arm))
        assert sorted(found) == sorted(fitting)
        assert extensions.columns.tolist() == [arm for _, arm in found]
        assert extensions.costs.tolist() == [space.costs[arm] for _, arm in found]
        turns = {worker: turn for (worker, _), turn in zip(found, extensions.priority, strict=True)}
        in_turn = sorted(turns, key=turns.__getitem__)
        assert in_turn == sorted(turns, key=lambda worker: (space.capacities[worker], worker))
        if not grown:
            break
        decision = grown[rng.integers(len(grown))]


@settings(deadline=None, max_examples=60)
@given(assignments(6, 3), st.integers(0, 2**32))
def test_draw_follows_some_order_of_workers_and_arms(example, seed):
    """Appendix D: each worker takes, in the order of the arms, whatever still fits."""
    space = example.space
    drawn = space.sample(np.random.default_rng(seed))
    assert space.system.violations(drawn) == []
    left = space.capacities - space.visits(drawn) @ space.costs
    for arm in np.flatnonzero(drawn.action == 0):
        assert (space.costs[arm] > left).all(), "a worker passed over an arm that fits"


def test_draw_gives_every_outcome_of_the_greedy_walk():
    """The outcomes are those of all orders of workers and arms."""
    costs, capacities = [2, 3, 4, 2], [4, 5]
    expected = set()
    for workers in permutations(range(2)):
        for arms in permutations(range(4)):
            visits, waiting = set(), list(arms)
            for worker in workers:
                left = capacities[worker]
                for arm in list(waiting):
                    if costs[arm] <= left:
                        left -= costs[arm]
                        visits.add((worker, arm))
                        waiting.remove(arm)
            expected.add(frozenset(visits))
    space, rng = Assignment(costs, capacities), np.random.default_rng(0)
    found = {
        frozenset(map(tuple, np.argwhere(space.visits(space.sample(rng))).tolist()))
        for _ in range(1500)
    }
    assert found == expected


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=7), st.integers(0, 30))
def test_one_worker_is_a_budget(costs, limit):
    one, same = Assignment(costs, [limit]), Budget(costs, limit)
    assert {chosen_of(a) for a in one.enumerate(200)} == {chosen_of(a) for a in same.enumerate(200)}


def test_one_worker_is_a_budget_in_both_forms():
    one, accepts = Assignment([2, 3, 4, 2, 6], [8]), within_budget([2, 3, 4, 2, 6], 8)
    expected = {chosen for chosen in every_set(5) if accepts(chosen)}
    assert accepted_by(one.system) == accepted_by(one.compact) == expected
    assert accepted_by(Budget([2, 3, 4, 2, 6], 8).system) == expected


@pytest.mark.parametrize("capacities", [[9, 10], [4, 4, 5]])
def test_too_many_loads_are_counted_by_worker_and_cost(monkeypatch, capacities):
    monkeypatch.setattr(module, "_MAX_LOADS", 2)
    costs = [1, 2, 3, 4, 4, 5]
    space = Assignment(costs, capacities)
    assert space._patterns is None
    assert space.compact.n_columns == len(costs) + len(capacities) * len(set(costs))
    assert accepted_by(space.compact) == accepted_by(space.system)
    check_questions(assignment("many loads", costs, capacities))


def test_search_that_gives_up_asks_the_solver(monkeypatch):
    monkeypatch.setattr(bin_packing, "_MAX_STEPS", 1)
    check_questions(assignment("hard", [2, 3, 3, 5, 4], [5, 6, 4]))


def test_loads_of_tenths_fit_exactly():
    space = Assignment([0.1] * 6, [0.3, 0.3])
    assert space.contains(np.ones((1, 6)))[0]
    assert space.compact.holds([[1] * 6 + [2]])[0]
    assert space.sample(np.random.default_rng(0)).action.all()


def test_large_space_is_decided_quickly():
    """The paper's largest: 100 arms, 20 workers."""
    rng = np.random.default_rng(0)
    space = Assignment(rng.integers(2, 7, 100), rng.integers(2, 8, 20))
    for _ in range(20):
        drawn = space.sample(rng)
        assert space.system.violations(space.certify(drawn.action)) == []
    with pytest.raises(InfeasibleDecision, match="no plan for it satisfies the assignment rules"):
        space.certify(np.ones(100))


def test_described_in_words():
    space = Assignment([2.0] * 4 + [3] + [2] * 6 + [2], [1, 1, 1, 6])
    assert space.describe(space.certify(action_of({4, 11}, 12))) == [
        "Worker 3 visits arms 4 and 11 (5 of 6 units used)"
    ]
    assert space.describe(space.idle) == ["Nobody visits anyone"]


def test_described_with_own_names():
    space = Assignment([1, 2], [2, 1], ["Ada", "Bo"], ["Nurse Joy", "Dr. Who"])
    assert space.describe(space.certify([1, 1])) == [
        "Nurse Joy visits Bo (2 of 2 units used)",
        "Dr. Who visits Ada (1 of 1 units used)",
    ]


def test_system_sizes_and_rows_of_the_paper():
    """W capacities, J visits, W J links; J + W J columns."""
    system = Assignment([2] * 20, [3] * 5).system
    assert (system.n_rows, system.n_columns) == (5 + 20 + 100, 20 + 100)


def test_absent_worker_visits_nobody():
    space = Assignment([2, 3, 4], [4, 5]).absent(["worker 0"])
    assert {chosen_of(a) for a in space.enumerate(10)} == {
        frozenset(c) for c in ([], [0], [1], [2], [0, 1])
    }
    for seed in range(20):
        assert not space.visits(space.sample(np.random.default_rng(seed)))[0].any()
    with pytest.raises(ProblemError, match="absent names 'worker 2', which is unknown"):
        space.absent(["worker 2"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"costs": [1, 0]}, r"assignment\.costs\[1\] is 0\.0; a cost is positive"),
        ({"costs": [np.nan, 1]}, r"assignment\.costs\[0\] is nan"),
        ({"costs": 3}, r"assignment\.costs has shape \(\)"),
        ({"capacities": [1, 2, -1]}, r"assignment\.capacities\[2\] is -1\.0; a capacity"),
        ({"capacities": [np.inf]}, r"assignment\.capacities\[0\] is inf"),
        ({"capacities": None}, r"assignment\.capacities "),
        ({"names": ["a", "b", "c"]}, r"assignment\.names has 3 entries; 2 are wanted"),
        ({"worker_names": ["a", "a"]}, r"assignment\.worker_names\[1\] repeats 'a'"),
    ],
)
def test_bad_input_names_the_place(arguments, message):
    with pytest.raises(ProblemError, match=message):
        Assignment(**{"costs": [1, 2], "capacities": [3, 4]} | arguments)


@settings(deadline=None, max_examples=50)
@given(assignments(7, 3), st.integers(0, 2**32))
def test_heaviest_by_lots(example, seed):
    weights = np.random.default_rng(seed).standard_normal(example.space.n_actions)
    action = example.space.argmax_linear(weights)
    assert chosen_of(action) in example.feasible
    best = max(sum(weights[list(chosen)]) for chosen in example.feasible)
    assert weights @ action == pytest.approx(best)


def test_lots_agree_with_packing():
    """The table of lots says what the search for a plan says, at a size of practice."""
    rng = np.random.default_rng(2)
    space = Assignment(rng.integers(2, 7, 40), rng.integers(2, 8, 10))
    actions = (rng.random((300, 40)) < rng.uniform(0.1, 0.5, (300, 1))).astype(np.int8)
    fits = space.contains(actions)
    assert 0 < fits.sum() < 300
    assert fits.tolist() == [space._plan(action) is not None for action in actions]


def test_maximal_lots_are_full_and_cover_all():
    space = Assignment([2, 2, 3, 3, 4, 6], [4, 5, 7])
    table = space._table
    assert table.contain(table.maximal).all()
    for lot in table.maximal:
        for size in range(len(lot)):
            more = lot.copy()
            more[size] += 1
            assert not table.contain(more[None])[0]
    for lot in np.argwhere(table.fits):
        assert (lot <= table.maximal).all(axis=1).any()


def test_too_many_lots_are_left_to_a_solver():
    space = Assignment(2.0 + np.arange(30) / 7, np.full(9, 12.0))
    assert space.argmax_linear(np.ones(30)) is None
    assert space.knapsack[1] == pytest.approx(108.0)


def test_a_settled_visit_takes_its_hours_and_needs_no_solver():
    rules = Rules({"few": ["arm 0", "arm 1"]}, [Floor("few", share=0.5)])
    locked = Rules(locks=[Lock("arm 2", "worker 0")])
    space = with_rules(Assignment([1, 1, 2, 1], [2, 2]), rules.and_also(locked))
    # Worker 0 is full; worker 1 has room for two, and one of the few carries arm 2.
    action = space.argmax_linear(np.array([3.0, 2.0, -9.0, 5.0]))
    assert action.tolist() == [1, 1, 1, 0]
    assert space.base.visits(space.certify(action)).tolist() == [[0, 0, 1, 0], [1, 1, 0, 0]]
    too_much = Rules(locks=[Lock("arm 2", "worker 0"), Lock("arm 3", "worker 0")])
    space = with_rules(space.base, too_much)
    assert space.argmax_linear(np.ones(4)) is None
    assert not space.contains(np.ones((1, 4)))[0]


def test_all_visits_may_be_settled():
    for size in (1, 2):
        space = Assignment([20.0] * size, [30.0, 30.0])
        locks = [Lock(f"arm {n}", f"worker {n}") for n in range(size)]
        locked = with_rules(space, Rules(locks=locks))
        assert locked.enumerate(10).tolist() == [[1] * size]
        assert not locked.contains(np.zeros((1, size), dtype=np.int8))[0]


def test_workers_who_do_not_come_and_most_visits_are_rows_with_names():
    space = Assignment([20.0] * 3, [60.0, 60.0])
    bar = Bar("arm 0", ["worker 0"], "arm 0 needs German")
    ruled = with_rules(space, Rules(bars=[bar], most={"worker 1": 1}))
    decision = ruled.certify(np.ones(3, dtype=np.int8))
    by = {task.where: task.who for task in ruled.tasks(decision)}
    assert by == {"arm 0": "worker 1", "arm 1": "worker 0", "arm 2": "worker 0"}
    # Who offers German is off.
    with pytest.raises(InfeasibleDecision, match="arm 0"):
        with_rules(space, Rules(bars=[bar], absent=["worker 1"])).certify([1, 0, 0])
    options = ruled.rules.to_options()
    content = TableSet(options, where="rules")
    assert Rules.from_options(content, space.names, space.worker_names) == ruled.rules
    wrong = TableSet({"bars": [{"arm": "arm 9", "workers": ["worker 0"]}], "most": {"x": 1}})
    Rules.from_options(wrong, space.names, space.worker_names)
    assert len(wrong.found) == 2
