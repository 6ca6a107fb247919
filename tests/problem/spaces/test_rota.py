"""Rota: visits of some minutes in the slots of workers who may make them."""

from itertools import product

import numpy as np
import pytest
from examples import (
    accepted_by,
    check_feasible_set,
    check_questions,
    chosen_of,
    rota,
    slots,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from sequoia import load, make, save
from sequoia.errors import FileError, InfeasibleDecision, InfeasibleSpace, ProblemError
from sequoia.optimize import ActionEncoding, LinearArgmax
from sequoia.problem import Rules, with_rules
from sequoia.problem.rules import Floor, Preference
from sequoia.problem.spaces import Assignment, Rota, Schedule, read_space, write_space
from sequoia.problem.spaces.rota import formulation, search
from sequoia.solvers import Highs


@st.composite
def rotas(draw, arms=4, workers=3, n_slots=3):
    """Any small rota."""
    size = draw(st.integers(1, n_slots))
    n_arms, n_workers = draw(st.integers(1, arms)), draw(st.integers(1, workers))

    def grid(cell, rows, columns):
        return [[draw(cell) for _ in range(columns)] for _ in range(rows)]

    return rota(
        "any",
        grid(st.sampled_from([0, 30, 45, 60]), n_workers, size),
        grid(st.booleans(), n_arms, size),
        [draw(st.sampled_from([15, 20, 30, 45])) for _ in range(n_arms)],
        [draw(st.integers(1, 2)) for _ in range(n_arms)],
        grid(st.sampled_from([True, True, False]), n_workers, n_arms),
        draw(st.integers(0, n_arms)),
        draw(st.booleans()),
        draw(st.sampled_from([None, 1, 2])),
    )


def random_rota(seed, arms=12, **more):
    rng = np.random.default_rng(seed)
    return Rota(
        minutes=rng.choice([0, 0, 45, 60, 90], (4, 3)),
        arm_slots=rng.random((arms, 3)) < 0.6,
        lengths=rng.choice([15, 20, 30, 45], arms),
        may_visit=rng.random((4, arms)) < 0.7,
        **more,
    )


@settings(deadline=None, max_examples=30)
@given(rotas())
def test_feasible_set_of_any_rota(example):
    check_feasible_set(example)


@settings(deadline=None, max_examples=50)
@given(rotas(arms=5, workers=2), st.integers(0, 2**32))
def test_best_action_of_any_rota(example, seed):
    rng = np.random.default_rng(seed)
    for _ in range(3):
        weights = rng.normal(size=example.space.n_actions)
        best = max(sum(weights[list(chosen)]) for chosen in example.feasible)
        found = example.space.argmax_linear(weights)
        assert chosen_of(found) in example.feasible
        assert weights @ found == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("more", [{}, {"visits": 2}, {"limit": 3}, {"most_in_a_row": 1}])
def test_best_action_is_that_of_the_plain_program(seed, more):
    space = random_rota(seed, **more)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        weights = rng.gamma(1.0, size=space.n_actions) - 0.1
        found = space.argmax_linear(weights)
        best = Highs().solve(space.system.program(weights)).objective
        assert weights @ found == pytest.approx(best, rel=1e-6)
        space.system.require(space.certify(found))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("more", [{}, {"visits": 2}, {"most_in_a_row": 1}])
def test_best_action_under_rules_is_that_of_the_plain_program(seed, more):
    plain, rng = random_rota(seed, **more), np.random.default_rng(seed)
    names = [plain.names[column] for column in rng.permutation(plain.n_actions)]
    rules = Rules(
        {"north": names[:4], "few": names[3:6]},
        [Floor("north", share=0.5), Floor("few", count=1)],
        must=[name for name in names if plain._is_visitable[list(plain.names).index(name)]][:1],
        never=names[6:7],
        at_most_one=[names[1:4]],
    )
    space = with_rules(plain, rules)
    weights = rng.gamma(1.0, size=plain.n_actions)
    action = space.argmax_linear(weights)
    found = Highs().solve(space.system.program(weights))
    if found.values is None:  # where nothing is allowed, a solver is left to say so
        assert action is None
        return
    assert space.contains(action[None])[0]
    assert weights @ action == pytest.approx(found.objective, rel=1e-6)


def test_rules_that_cost_something_are_kept_where_nothing_is_worth_anything():
    space = random_rota(0)
    names = [space.names[column] for column in np.flatnonzero(space._is_visitable)]
    rules = Rules({"two": names[:2], "all": names}, [Floor("two", count=1)], never=names[2:3])
    for weights in (np.zeros(12), np.full(12, -1.0)):
        action = with_rules(space, rules).argmax_linear(weights)
        assert weights @ action == weights.min()
        assert with_rules(space, rules).contains(action[None])[0]


def test_rules_that_allow_nothing_leave_the_refusal_to_a_solver():
    space = random_rota(0)
    names = list(space.names)
    rules = Rules({"all": names}, [Floor("all", count=len(names))], never=names[:1])
    with pytest.raises(InfeasibleSpace, match="at least 12 of all"):
        LinearArgmax(ActionEncoding.of_space(with_rules(space, rules))).maximise(np.ones((1, 12)))


def test_best_action_does_not_depend_on_what_was_asked_before():
    first, second = random_rota(3), random_rota(3)
    weights = np.random.default_rng(0).gamma(1.0, size=12)
    before = first.argmax_linear(weights)
    for seed in range(5):
        second.argmax_linear(np.random.default_rng(seed + 1).gamma(1.0, size=12))
    np.testing.assert_array_equal(before, second.argmax_linear(weights))


def test_a_search_that_is_cut_off_says_nothing(monkeypatch):
    """Then the caller's own solver and limits decide."""
    space = make("rota", arms=60, slots=10).space
    weights = np.random.default_rng(0).gamma(1.0, size=60)
    assert space.argmax_linear(weights) is not None
    monkeypatch.setattr(search, "_MOST_NODES", 0)
    assert space.argmax_linear(weights) is None


@settings(deadline=None, max_examples=20)
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=5),
    st.lists(st.integers(0, 9), min_size=1, max_size=3),
)
def test_one_slot_is_an_assignment(costs, capacities):
    one = Rota(np.array(capacities)[:, None], np.ones((len(costs), 1)), costs)
    other = Assignment(costs, capacities)
    expected = {chosen_of(action) for action in other.enumerate(10**4)}
    assert {chosen_of(action) for action in one.enumerate(10**4)} == expected
    assert accepted_by(one.system) == accepted_by(other.system) == expected


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 3), st.booleans(), st.integers(0, 5))
def test_visits_that_take_a_whole_slot_are_a_schedule(seed, visits, distinct, limit):
    rng = np.random.default_rng(seed)
    workers, arms = rng.random((3, 3)) < 0.6, rng.random((5, 3)) < 0.6
    one = Rota(workers * 1.0, arms, np.ones(5), visits, None, limit, distinct)
    other = Schedule(workers, arms, limit, visits, distinct)
    expected = {chosen_of(action) for action in other.enumerate(10**4)}
    assert {chosen_of(action) for action in one.enumerate(10**4)} == expected
    weights = rng.normal(size=5)
    best = max(sum(weights[list(chosen)]) for chosen in expected)
    assert weights @ one.argmax_linear(weights) == pytest.approx(best, abs=1e-9)


def test_without_patterns_a_solver_decides(monkeypatch):
    """Lengths of any size make too many patterns; the plain form then does everything."""
    monkeypatch.setattr(formulation, "_MOST_PATTERNS", 0)
    example = rota(
        "", [[60, 0, 90], [0, 75, 60]], slots("x.x", ".xx", "xx.", "..x"), [7, 11, 30, 40]
    )
    assert example.space.compact is example.space.system
    assert example.space.argmax_linear(np.ones(4)) is None
    check_questions(example)


def test_two_visits_in_one_slot_are_by_two_workers():
    assert not Rota([[60]], [[1]], [10], 2).contains([[1]])[0]
    space = Rota([[60], [60]], [[1]], [10], 2)
    assert space.describe(space.certify([1])) == [
        "slot 0: worker 0 visits arm 0 (10 of 60 minutes used)",
        "slot 0: worker 1 visits arm 0 (10 of 60 minutes used)",
    ]


def test_a_worker_rests():
    space = Rota([[60, 60, 60]], np.eye(3), [60, 60, 60], most_in_a_row=2)
    assert space.contains([[1, 1, 0], [1, 0, 1], [1, 1, 1]]).tolist() == [True, True, False]
    free = Rota([[60, 60, 60]], np.eye(3), [60, 60, 60])
    assert free.contains([[1, 1, 1]])[0]


def test_tasks_say_who_when_where_and_how_long():
    space = Rota(
        [[60, 30]],
        [[1, 0], [1, 0], [0, 1]],
        [20, 40, 30],
        names=["Ada", "Grace", "Mary"],
        worker_names=["Nurse Anna"],
        slot_names=["Mon am", "Mon pm"],
    )
    decision = space.certify([1, 1, 1])
    assert space.describe(decision) == [
        "Mon am: Nurse Anna visits Ada and Grace (60 of 60 minutes used)",
        "Mon pm: Nurse Anna visits Mary (30 of 30 minutes used)",
    ]
    assert space.tasks(decision) == [
        ("Nurse Anna", "Mon am", "Ada", "visit, 20 minutes"),
        ("Nurse Anna", "Mon am", "Grace", "visit, 40 minutes"),
        ("Nurse Anna", "Mon pm", "Mary", "visit, 30 minutes"),
    ]
    assert space.describe(space.idle) == ["Nobody visits anyone"]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ([1, 0, 0, 0, 0, 0], r"^Ada cannot be visited: no slot suits it\.$"),
        ([0, 1, 0, 0, 0, 0], r"^Bo cannot be visited: no worker who may visit it works in Tue\.$"),
        (
            [0, 0, 1, 0, 0, 0],
            r"^Cy cannot be visited: a visit takes 90 minutes, and no worker .* than 60 in Mon\.$",
        ),
        (
            [0, 0, 0, 1, 1, 1],
            r"^Di and Ed cannot be visited together: 70 minutes of visits do not fit into the 60 "
            r"minutes of Mon: Nurse\.$",
        ),
    ],
)
def test_refusals_name_the_smallest_conflict(action, message):
    space = Rota(
        [[60, 0, 60]],
        slots("...", ".x.", "x..", "x..", "x..", "..x"),
        [10, 10, 90, 30, 40, 10],
        names=["Ada", "Bo", "Cy", "Di", "Ed", "Flo"],
        worker_names=["Nurse"],
        slot_names=["Mon", "Tue", "Wed"],
    )
    with pytest.raises(InfeasibleDecision, match=message):
        space.certify(action)


def test_a_rota_that_nobody_can_fill_names_the_rows_in_conflict():
    space = Rota([[60]], [[1], [1], [1]], [30, 40, 10], names=["Ada", "Bo", "Cy"])
    ruled = with_rules(space, Rules(must=["Ada", "Bo"]))
    with pytest.raises(InfeasibleSpace, match=r"these contradict: .*Ada.* \| .*Bo") as refused:
        ruled.sample(np.random.default_rng(0))
    assert "Cy" not in str(refused.value)


def test_a_best_rota_that_nobody_can_fill_says_why():
    space = Rota([[60], [0]], [[1], [1]], [30, 70], names=["Ada", "Bo"])
    ruled = with_rules(space, Rules(must=["Bo"]))
    with pytest.raises(InfeasibleSpace, match=r"must act on Bo\. Bo cannot be visited: .* 60 in"):
        ruled.argmax_linear(np.ones(2))


def test_who_may_visit_whom_is_written_and_read(tmp_path):
    problem = make("rota", arms=8, may_visit=0.5, most_in_a_row=2, visits=2)
    save(problem, tmp_path / "p")
    assert (tmp_path / "p" / "visitors.csv").exists()
    again = load(tmp_path / "p")
    assert again.fingerprint == problem.fingerprint
    np.testing.assert_array_equal(again.space.may_visit, problem.space.may_visit)
    path = tmp_path / "p" / "visitors.csv"
    rows = path.read_text().splitlines()
    path.write_text("\n".join(rows[:-1]) + "\n")
    with pytest.raises(FileError, match=r"visitors\.csv has no row for 'arm 7'"):
        load(tmp_path / "p")


def test_everybody_may_visit_everybody_unless_said():
    space = Rota([[60]], [[1]], [10])
    content = write_space(space)
    assert set(content.tables) == {"actions", "workers"}
    assert read_space(content).may_visit.all()


def test_absent_worker_has_no_minutes():
    space = Rota([[60], [30]], [[1], [1]], [60, 30])
    assert space.absent(["worker 0"]).contains([[0, 1], [1, 0]]).tolist() == [True, False]
    with pytest.raises(ProblemError, match="absent names 'Bob', which is unknown"):
        space.absent(["Bob"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"minutes": [60, 0]}, r"rota\.minutes has shape \(2,\); \(any, any\)"),
        ({"minutes": [[60, -1]]}, r"rota\.minutes\[0, 1\] is -1\.0; minutes are not negative"),
        ({"minutes": [[60, np.nan]]}, r"rota\.minutes\[0, 1\] is nan"),
        ({"arm_slots": [[1, 0, 1]]}, r"rota\.arm_slots has shape \(1, 3\); \(any, 2\)"),
        ({"lengths": [10, 0]}, r"rota\.lengths\[1\] is 0\.0; a visit takes more than 0 minutes"),
        ({"lengths": [10]}, r"rota\.lengths has shape \(1,\); \(2\)"),
        ({"visits": [1, 0]}, r"rota\.visits\[1\] is 0; 1 to 1000000 visits are wanted"),
        ({"visits": 1.5}, r"rota\.visits holds values that are not int64"),
        ({"may_visit": [[1]]}, r"rota\.may_visit has shape \(1, 1\); \(1, 2\)"),
        ({"limit": -1}, r"rota\.limit is -1; a whole number of at least 0"),
        ({"most_in_a_row": 0}, r"rota\.most_in_a_row is 0; a whole number of at least 1"),
        ({"names": ["a", ""]}, r"rota\.names\[1\] is ''"),
        ({"slot_names": ["Mon", "Mon"]}, r"rota\.slot_names\[1\] repeats 'Mon'"),
        ({"slot_names": ["minutes", "Mon"]}, r'rota\.slot_names has "minutes", which is a column'),
        ({"worker_names": ["name"]}, r'rota\.worker_names has "name", which is a column'),
    ],
)
def test_bad_input_names_the_place(arguments, message):
    valid = {"minutes": [[60, 0]], "arm_slots": [[1, 1], [0, 1]], "lengths": [10, 20]}
    with pytest.raises(ProblemError, match=message):
        Rota(**valid | arguments)


def bookings(space):
    """Yield every set of visits, one to an arm at most, that fits, by trying all."""
    places = [None, *np.argwhere(space.minutes > 0).tolist()]
    for chosen in product(places, repeat=space.n_actions):
        used = np.zeros_like(space.minutes)
        visits = [(arm, *place) for arm, place in enumerate(chosen) if place is not None]
        for arm, worker, slot in visits:
            used[worker, slot] += space.lengths[arm]
        fine = all(space.arm_slots[a, k] and space.may_visit[w, a] for a, w, k in visits)
        if fine and (used <= space.minutes).all():
            yield visits


def test_a_bonus_for_the_worker_of_last_time_is_part_of_what_is_maximised():
    rng = np.random.default_rng(3)
    suits = rng.random((5, 2)) < 0.8
    plain = Rota([[60, 30], [45, 60]], suits, [30, 45, 30, 15, 30])
    for _ in range(6):
        bonus = np.where(rng.random((2, 5)) < 0.5, rng.random((2, 5)), 0.0)
        wanted = [
            Preference(plain.names[arm], plain.worker_names[worker], bonus[worker, arm])
            for worker, arm in np.argwhere(bonus > 0).tolist()
        ]
        space = with_rules(plain, Rules(preferences=wanted))
        weights = rng.normal(0.3, 1.0, 5)
        totals = [
            sum(weights[arm] + bonus[worker, arm] for arm, worker, _ in visits)
            for visits in bookings(plain)
        ]
        decision = space.certify(space.argmax_linear(weights))
        booked = plain.booked(decision).any(axis=2)
        value = weights @ decision.action + (booked * bonus).sum()
        assert value == pytest.approx(max(totals))


def test_other_spaces_prefer_nobody():
    with pytest.raises(ProblemError, match="cannot prefer one worker to another"):
        with_rules(Assignment([1], [1]), Rules(preferences=[Preference("arm 0", "worker 0", 1.0)]))


def test_a_rota_that_nobody_can_fill_is_left_empty():
    """Two visits by different workers, and only one worker: nothing is the best there is."""
    space = Rota(
        minutes=[[0, 30, 30]],
        arm_slots=[[False, True, True], [False, False, False]],
        lengths=[15, 15],
        visits=[2, 1],
        limit=1,
        distinct_workers=True,
    )
    for weights in ([1.0, 0.5], [1e-3, 2.0], [3.0, -1.0]):
        assert space.argmax_linear(np.array(weights)).tolist() == [0, 0]
