"""Schedule: visits in common slots."""

from itertools import combinations

import numpy as np
import pytest
from examples import (
    accepted_by,
    check_feasible_set,
    check_growth,
    check_questions,
    chosen_of,
    schedule,
    slots,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from sequoia.errors import InfeasibleDecision, ProblemError
from sequoia.problem.spaces import Budget, Schedule
from sequoia.problem.spaces import schedule as module


@st.composite
def schedules(draw, arms, workers, n_slots=(1, 4), distinct=None, open_slots=None):
    """Any small schedule; ``open_slots`` caps how many slots a row has open."""
    size = draw(st.integers(*n_slots))

    def rows(least, most):
        row = st.sets(st.integers(0, size - 1), max_size=open_slots)
        found = draw(st.lists(row, min_size=least, max_size=most))
        return np.array([[k in r for k in range(size)] for r in found]).reshape(len(found), size)

    return schedule(
        "any",
        rows(1, workers),
        rows(1, arms),
        draw(st.integers(0, arms)),
        draw(st.integers(1, 3)),
        draw(st.booleans()) if distinct is None else distinct,
    )


many_slots = schedules(5, 3, (11, 14), distinct=False, open_slots=5)


@settings(deadline=None, max_examples=50)
@given(schedules(5, 3, distinct=False))
def test_feasible_set_of_any_schedule(example):
    check_feasible_set(example)


@settings(deadline=None, max_examples=40)
@given(schedules(4, 3, distinct=True))
def test_feasible_set_with_distinct_workers(example):
    check_feasible_set(example)


@settings(deadline=None, max_examples=40)
@given(many_slots)
def test_feasible_set_with_many_slots(example):
    assert example.space.compact.n_columns >= example.space.n_actions
    assert "openings in slot 0" in example.space.compact.row_names
    check_feasible_set(example)


@settings(deadline=None, max_examples=50)
@given(schedules(7, 3, distinct=False))
def test_questions_about_any_schedule(example):
    check_questions(example)


@settings(deadline=None, max_examples=70)
@given(st.one_of(schedules(5, 3), many_slots), st.integers(0, 2**32))
def test_growth_lists_every_leader_and_arm(example, seed):
    """Compared with all teams of free workers that could visit one more arm."""
    space, rng = example.space, np.random.default_rng(seed)
    decision = space.idle
    while True:
        booked = space.booked(decision)
        free = [(i, k) for i, k in np.argwhere(space.worker_slots) if not booked[i, :, k].any()]
        possible = set()
        for arm in set(range(space.n_actions)) - chosen_of(decision.action):
            suitable = [(int(i), int(k)) for i, k in free if space.arm_slots[arm, k]]
            for team in combinations(suitable, space.visits):
                workers = {i for i, _ in team}
                if not space.distinct_workers or len(workers) == space.visits:
                    possible |= {(leader, arm) for leader in workers}
        if len(chosen_of(decision.action)) >= space.limit:
            possible = set()
        extensions = space.extensions(decision)
        slots_of = space.worker_slots.sum(axis=1)
        order = sorted(range(len(slots_of)), key=lambda i: (-slots_of[i], i))
        leaders = [order[turn] for turn in extensions.priority]
        found = list(zip(leaders, extensions.columns.tolist(), strict=True))
        assert len(set(found)) == len(found)
        assert set(found) == possible
        assert (extensions.costs == 1).all()
        grown = check_growth(example, decision)
        for (leader, arm), extended in zip(found, grown, strict=True):
            team = space.booked(extended) & ~booked
            assert team[leader, arm].any()
            assert team.sum() == team[:, arm].sum() == space.visits
        if not grown:
            break
        decision = grown[rng.integers(len(grown))]


@settings(deadline=None, max_examples=80)
@given(st.one_of(schedules(8, 4), many_slots), st.integers(0, 2**32))
def test_draw_leaves_out_only_arms_that_no_longer_fit(example, seed):
    """Appendix D, with every feasible booking of an arm possible."""
    space = example.space
    drawn = space.sample(np.random.default_rng(seed))
    assert space.system.violations(drawn) == []
    assert len(space.extensions(drawn)) == 0


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 6), st.booleans())
def test_one_open_slot_and_one_visit_is_a_budget(arms, workers, limit, distinct):
    """The number of workers is then the budget, beside the limit."""
    space = Schedule(np.ones((workers, 1)), np.ones((arms, 1)), limit, 1, distinct)
    same = Budget(np.ones(arms), min(workers, limit))
    expected = {chosen_of(action) for action in same.enumerate(100)}
    assert {chosen_of(action) for action in space.enumerate(100)} == expected


@pytest.mark.parametrize("distinct", [False, True])
def test_one_open_slot_and_one_visit_is_a_budget_in_both_forms(distinct):
    space = Schedule(np.ones((3, 1)), np.ones((5, 1)), 5, 1, distinct)
    expected = accepted_by(Budget(np.ones(5), 3).system)
    assert len(expected) == 1 + 5 + 10 + 10
    assert accepted_by(space.system) == accepted_by(space.compact) == expected


def test_all_slots_open_and_one_visit_is_a_budget():
    space = Schedule(np.ones((2, 2)), np.ones((6, 2)), 6, 1)
    assert accepted_by(space.system) == accepted_by(Budget(np.ones(6), 4).system)


def test_one_worker_may_come_twice_unless_workers_must_differ():
    worker, arm = slots("xx"), slots("xx")
    assert Schedule(worker, arm, 1).contains([[1]])[0]
    assert not Schedule(worker, arm, 1, distinct_workers=True).contains([[1]])[0]


def test_two_workers_may_come_in_the_same_slot():
    space = Schedule(slots("x", "x"), slots("x"), 1, distinct_workers=True)
    assert space.describe(space.certify([1])) == ["slot 0: worker 0 and worker 1 visit arm 0"]


def test_both_compact_forms_agree(monkeypatch):
    """Hall's condition and the flow describe one set."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        workers, arms = rng.random((3, 5)) < 0.5, rng.random((6, 5)) < 0.4
        subsets = accepted_by(Schedule(workers, arms, 6).compact)
        with monkeypatch.context() as patch:
            patch.setattr(module, "_MAX_SLOTS_FOR_SUBSETS", 0)
            flow = Schedule(workers, arms, 6).compact
        assert flow.n_columns > 6
        assert accepted_by(flow) == subsets


def test_system_columns_exist_only_in_common_slots():
    space = Schedule(slots("xx.", ".xx"), slots("x..", "..x", ".x."), 3)
    assert set(space.system.column_names[3:]) == {
        "slot 0: worker 0 visits arm 0",
        "slot 1: worker 0 visits arm 2",
        "slot 2: worker 1 visits arm 1",
        "slot 1: worker 1 visits arm 2",
    }


def test_double_booking_is_named():
    space = Schedule(slots("x", "x"), slots("x", "x"), 2, visits=1)
    names = list(space.system.column_names)
    wrong = space._decision(
        [
            0,
            1,
            names.index("slot 0: worker 1 visits arm 0"),
            names.index("slot 0: worker 1 visits arm 1"),
        ]
    )
    assert space.system.violations(wrong) == ['row "worker 1 in slot 0": 2 > 1']


def test_refusal_says_which_slots_are_short():
    space = Schedule(slots("x.", ".x"), slots("x.", "x."), 2, 1)
    with pytest.raises(InfeasibleDecision, match=r"arms that can only be seen in slot 0.*: 2 > 1"):
        space.certify([1, 1])


def test_described_with_named_slots():
    workers = np.zeros((6, 2), dtype=bool)
    workers[[2, 5], 0] = True
    workers[3] = [False, True]
    workers[4] = [False, True]
    arms = np.zeros((8, 2), dtype=bool)
    arms[7, 0] = True
    arms[1, 1] = True
    space = Schedule(workers, arms, 3, slot_names=["Mon", "Tue"])
    action = np.zeros(8)
    action[[1, 7]] = 1
    assert space.describe(space.certify(action)) == [
        "Mon: worker 2 and worker 5 visit arm 7",
        "Tue: worker 3 and worker 4 visit arm 1",
    ]
    assert space.describe(space.idle) == ["Nobody visits anyone"]


def test_described_visits_on_different_days():
    space = Schedule(slots("xx"), slots("xx"), 1, slot_names=["Mon", "Tue"])
    assert space.describe(space.certify([1])) == [
        "Mon: worker 0 visits arm 0",
        "Tue: worker 0 visits arm 0",
    ]


def test_absent_worker_is_never_booked():
    space = Schedule(slots("xx", "xx", "x."), slots("xx", "x.", ".x"), 3)
    today = space.absent(["worker 1"])
    assert {chosen_of(a) for a in today.enumerate(10)} == {frozenset(c) for c in ([], [0], [1])}
    with pytest.raises(ProblemError, match="absent names 'Bob', which is unknown"):
        space.absent(["Bob"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"worker_slots": [1, 0]}, r"schedule\.worker_slots has shape \(2,\); \(any, any\)"),
        ({"worker_slots": [[2, 0]]}, r"schedule\.worker_slots holds values that are not bool"),
        ({"arm_slots": [[1, 0, 1]]}, r"schedule\.arm_slots has shape \(1, 3\); \(any, 2\)"),
        ({"limit": -1}, r"schedule\.limit is -1; a whole number of at least 0"),
        ({"limit": 1.5}, r"schedule\.limit is 1\.5"),
        ({"limit": np.nan}, r"schedule\.limit is nan"),
        ({"limit": np.inf}, r"schedule\.limit is inf"),
        ({"limit": None}, r"schedule\.limit is None"),
        ({"visits": 0}, r"schedule\.visits is 0; a whole number from 1 to 1000000"),
        ({"names": ["a", ""]}, r"schedule\.names\[1\] is ''"),
        ({"worker_names": ["a", "b"]}, r"schedule\.worker_names has 2 entries; 1 are wanted"),
        ({"slot_names": ["Mon", "Mon"]}, r"schedule\.slot_names\[1\] repeats 'Mon'"),
        ({"slot_names": ["name", "Mon"]}, r'schedule\.slot_names has a slot called "name"'),
    ],
)
def test_bad_input_names_the_place(arguments, message):
    valid = {"worker_slots": [[1, 0]], "arm_slots": [[1, 1], [0, 1]], "limit": 2}
    with pytest.raises(ProblemError, match=message):
        Schedule(**valid | arguments)


def test_distinct_workers_take_no_program(monkeypatch):
    """Visits by different workers are a flow; a program for each action would take minutes."""
    rng = np.random.default_rng(0)
    space = Schedule(rng.random((4, 5)) < 0.6, rng.random((9, 5)) < 0.5, 4, distinct_workers=True)
    by_program = Budget(np.ones(9), 9).enumerate(1_000)
    wanted = [action for action in by_program if super(Schedule, space)._plan(action) is not None]
    monkeypatch.setattr("sequoia.problem.spaces.base.Highs", None)
    listed = space.enumerate(1_000)
    assert sorted(map(tuple, listed)) == sorted(map(tuple, wanted))
    for action in listed:
        space.system.require(space.certify(action))
