"""Problems: validation, doses, fingerprints, shared models."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from sequoia import (
    Arms,
    Assignment,
    Budget,
    Custom,
    Floor,
    Problem,
    Rules,
    Schedule,
    Walk,
    load,
    save,
)
from sequoia.errors import ProblemError
from sequoia.problem.tables import TableSet, table

DOSES = [[0, 1, 2, 3]] * 2
START = [[0.5, 0.5], [1, 0]]


def make(**changes):
    """Return a valid problem with two arms and three interventions; some parts changed."""
    up = [[0.1, 0.4, 0.6, 0.7], [0.2, 0.3, 0.4, 0.9]]
    valid = {
        "name": "two arms",
        "arms": Arms.ladder([[0, 1], [0, 2]], up, DOSES, names=["left", "right"]),
        "space": Budget([1, 2, 1], 2, ["a", "b", "c"]),
        "start": START,
        "influence": [[1, 2, 0], [0, 1, 2]],
        "horizon": 5,
        "discount": 0.9,
    }
    return Problem(**valid | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": " "}, r"problem\.name is ' '; one line"),
        ({"name": "a\nb"}, r"problem\.name is 'a\\nb'; one line"),
        ({"name": "a\ud800"}, r"problem\.name is 'a\\ud800'; one line"),
        ({"start": [[1, 0]]}, r"problem\.start has shape \(1, 2\); \(2, 2\) is wanted"),
        ({"start": [[1, 0], [-0.5, 1.5]]}, r"problem\.start\[1, 0\] is -0\.5; a probability"),
        ({"start": [[1, 0], [np.nan, 1]]}, r"problem\.start\[1, 0\] is nan"),
        ({"start": [[1, 0], [0.5, 0.4]]}, r"problem\.start\.sum\(1\)\[1\] is 0\.9; each row must"),
        ({"horizon": 0}, r"problem\.horizon is 0; .*from 1 to 100000 is wanted"),
        ({"horizon": 2.5}, r"problem\.horizon is 2\.5"),
        ({"horizon": np.nan}, r"problem\.horizon is nan"),
        ({"horizon": np.inf}, r"problem\.horizon is inf"),
        ({"discount": 0}, r"problem\.discount is 0; \(0, 1\] is wanted"),
        ({"discount": 1.01}, r"problem\.discount is 1\.01"),
        ({"discount": np.nan}, r"problem\.discount is nan"),
        ({"influence": None}, r"problem\.influence is missing; with 2 arms and 3 action columns"),
        ({"influence": np.eye(2)}, r"problem\.influence has shape \(2, 2\); \(2, 3\) is wanted"),
        ({"influence": "what"}, r"problem\.influence is not a matrix of numbers"),
        ({"influence": [[1, np.nan, 0], [0, 0, 1]]}, r"problem\.influence\.data\[1\] is nan"),
        ({"influence": [[1, 1e300, 0], [0, 0, 1]]}, r"problem\.influence\.data\[1\] is 1e\+300"),
    ],
)
def test_an_error_names_the_place(changes, message):
    with pytest.raises(ProblemError, match=message):
        make(**changes)


@pytest.mark.parametrize(
    ("influence", "message"),
    [
        ([[1, 0, 0], [0, 0, 5]], r"influence\[1\] can give right a dose of 5; .* 0, 1, 2, 3\."),
        ([[2, 2, 0], [0, 0, 1]], r"influence\[0\] can give left a dose of 4;"),
        ([[1, 1, 2], [0, 0, 1]], r"influence\[0\] can give left a dose of 4;"),
        ([[-1, 2, 0], [0, 0, 1]], r"influence\[0\] can give left a dose of -1;"),
        ([[0, 0, 0], [0, 0.5, 0]], r"influence\[1\] can give right a dose of 0\.5;"),
    ],
)
def test_every_dose_that_any_action_can_give_must_be_tabulated(influence, message):
    with pytest.raises(ProblemError, match=message):
        make(influence=influence)


def test_the_identity_needs_dose_one():
    arms = Arms.ladder([[0, 1]] * 2, [[0.1, 0.5]] * 2, [[0, 2]] * 2)
    with pytest.raises(ProblemError, match=r"influence\[0\] can give arm 0 a dose of 1; .* 0, 2\."):
        Problem("p", arms, Budget([1, 1], 1), START)


def test_as_many_weights_of_one_as_arms_are_not_the_identity(tmp_path):
    """Both weights are of one arm: the other is reached by nothing."""
    problem = make(
        arms=Arms.ladder([[0, 1], [0, 2]], [[0.1, 0.4, 0.6]] * 2, [[0, 1, 2]] * 2),
        space=Budget([1, 1], 2),
        influence=[[0, 0], [1, 1]],
    )
    assert not problem.is_identity
    assert problem.levels([[1, 1]]).tolist() == [[0, 2]]
    save(problem, tmp_path / "p")
    assert load(tmp_path / "p").levels([[1, 0]]).tolist() == [[0, 1]]


def test_doses_match_up_to_rounding():
    tenths = Arms.ladder([[0, 1]], [[0.1, 0.2, 0.3, 0.4]], [[0, 0.1, 0.2, 0.3]])
    problem = Problem("p", tenths, Budget(np.ones(3), 3), [[1, 0]], influence=[[0.1, 0.1, 0.1]])
    assert problem.levels([[1, 1, 1], [1, 0, 1]]).tolist() == [[3], [2]]


def test_too_many_different_doses_are_refused():
    weights = [[2.0**k for k in range(18)]]
    arms = Arms.ladder([[0, 1]], [[0.0, 1.0]])
    with pytest.raises(ProblemError, match=r"influence\[0\] can give more than 100000 different"):
        Problem("p", arms, Budget(np.ones(18), 1), [[1, 0]], influence=weights)


def test_levels_by_hand():
    actions = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 0, 1]]
    assert make().levels(actions).tolist() == [[0, 0], [1, 0], [3, 1], [3, 3], [0, 2]]
    assert make().levels(np.array([0, 1, 1], dtype=np.int8)).tolist() == [2, 3]


def test_a_problem_does_not_share_the_callers_matrix():
    given = csr_array(np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0]]))
    problem = make(influence=given)
    given.data[:] = 7
    assert problem.influence.toarray().tolist() == [[1, 2, 0], [0, 1, 2]]
    with pytest.raises(ValueError, match="read-only"):
        problem.influence.data[0] = 7


def test_the_callers_matrix_is_not_tidied():
    given = csr_array((np.array([0.0, 2.0, 1.0]), ([0, 0, 1], [0, 1, 2])), shape=(2, 3))
    make(influence=given)
    assert given.nnz == 3
    assert given.toarray().tolist() == [[0, 2, 0], [0, 0, 1]]


def test_identity_is_recognised():
    arms = Arms.ladder([[0, 1]] * 2, [[0.1, 0.5]] * 2)
    plain = Problem("p", arms, Budget([1, 1], 1), START)
    same = replace(plain, influence=np.eye(2))
    swapped = replace(plain, influence=[[0, 1], [1, 0]])
    assert plain.is_identity
    assert same.is_identity
    assert not swapped.is_identity
    assert same.fingerprint == plain.fingerprint
    assert swapped.fingerprint != plain.fingerprint
    assert swapped.levels([[1, 0]]).tolist() == [[0, 1]]


# Each entry changes one thing.
UP = np.array([[0.1, 0.4, 0.6, 0.7], [0.2, 0.3, 0.4, 0.9]])
CHANGES = {
    "name": {"name": "two other arms"},
    "rewards": {"arms": Arms.ladder([[0, 1], [0, 2.5]], UP, DOSES, names=["left", "right"])},
    "kernels": {
        "arms": Arms.ladder([[0, 1], [0, 2]], UP + 1e-9, DOSES, names=["left", "right"]),
    },
    "doses": {
        "arms": Arms.ladder(
            [[0, 1], [0, 2]], UP, [[0, 1, 2, 3], [0, 1, 2, 3.0000000001]], names=["left", "right"]
        ),
    },
    "arm names": {"arms": Arms.ladder([[0, 1], [0, 2]], UP, DOSES, names=["left", "up"])},
    "model": {
        "arms": Arms.ladder([[0, 1], [0, 2]], UP, DOSES, model=[1, 0], names=["left", "right"])
    },
    "unused model": {
        "arms": Arms.ladder(
            [[0, 1], [0, 2], [5, 5]],
            [*UP, [0, 0, 0, 0]],
            [*DOSES, [0, 1, 2, 3]],
            model=[0, 1],
            names=["left", "right"],
        )
    },
    "costs": {"space": Budget([1, 2, 1.5], 2, ["a", "b", "c"])},
    "limit": {"space": Budget([1, 2, 1], 3, ["a", "b", "c"])},
    "action names": {"space": Budget([1, 2, 1], 2, ["a", "b", "d"])},
    "kind": {"space": Assignment([1, 2, 1], [2], ["a", "b", "c"])},
    "worker name": {"space": Assignment([1, 2, 1], [2], ["a", "b", "c"], ["Ann"])},
    "start": {"start": [[0.5, 0.5], [0.75, 0.25]]},
    "influence value": {"influence": [[1, 2, 0], [0, 2, 1]]},
    "influence pattern": {"influence": [[1, 2, 0], [1, 0, 2]]},
    "horizon": {"horizon": 6},
    "discount": {"discount": 0.95},
}
RULES = {
    "must": Rules(must=("a",)),
    "never": Rules(never=("a",)),
    "never b": Rules(never=("b",)),
    "one of": Rules(at_most_one=(("a", "b"),)),
    "floor": Rules({"g": ("a",)}, (Floor("g", count=1),)),
    "share": Rules({"g": ("a",)}, (Floor("g", share=0.5),)),
    "group": Rules({"g": ("a", "b")}, (Floor("g", share=0.5),)),
}


def test_equal_content_gives_equal_fingerprints():
    copy = make(influence=csr_array(np.array([[1, 2, 0], [0, 1, 2]])), start=np.array(START))
    assert copy.fingerprint == make().fingerprint
    assert len(make().fingerprint) == 16


def test_a_negative_zero_is_a_zero():
    assert make(start=[[0.5, 0.5], [1, -0.0]]).fingerprint == make().fingerprint


def test_any_change_changes_the_fingerprint():
    found = {"none": make().fingerprint}
    found |= {what: make(**change).fingerprint for what, change in CHANGES.items()}
    found |= {what: make().with_rules(rules).fingerprint for what, rules in RULES.items()}
    assert len(set(found.values())) == len(found)


def test_the_fingerprint_sees_every_part_of_every_space():
    def problem(space):
        arms = Arms.ladder([[0, 1]] * 3, [[0.1, 0.5]] * 3)
        return Problem("p", arms, space, [[1, 0]] * 3).fingerprint

    slots = np.array([[1, 1], [0, 1], [1, 0]])
    other = np.array([[1, 1], [0, 1], [1, 1]])
    rows = ([[1, 1, 1]], [-np.inf], [2], ["a", "b", "c"])
    edges = [[0, 1], [1, 2]]
    spaces = [
        Schedule(slots, slots, 2),
        Schedule(other, slots, 2),
        Schedule(slots, other, 2),
        Schedule(slots, slots, 1),
        Schedule(slots, slots, 2, visits=1),
        Schedule(slots, slots, 2, distinct_workers=True),
        Schedule(slots, slots, 2, slot_names=["Mon", "Tue"]),
        Schedule(slots, slots, 2, worker_names=["Ann", "Bo", "Cy"]),
        Walk(edges, 0, 4, 2),
        Walk([[0, 1], [0, 2]], 0, 4, 2),
        Walk(edges, 1, 4, 2),
        Walk(edges, 0, 5, 2),
        Walk(edges, 0, 4, 1),
        Walk(edges, 0, 4, 2, lengths=[1, 2]),
        Walk(edges, 0, 4, 2, positions=[[0, 0], [1, 0], [2, 0]]),
        Walk(edges, 0, 4, 2, positions=[[0, 0], [1, 0], [2, 1]]),
        Assignment([1, 2, 3], [3, 2]),
        Assignment([1, 2, 3], [2, 3]),
        Custom(*rows),
        Custom([[1, 1, 2]], *rows[1:]),
        Custom(rows[0], [0], *rows[2:]),
        Custom(*rows[:2], [1], rows[3]),
        Custom(*rows, row_names=["most"]),
        Custom([[1, 1, 1, 0]], *rows[1:], ["z"]),
    ]
    assert len({problem(space) for space in spaces}) == len(spaces)


def test_the_fingerprint_sees_where_a_cell_stands():
    numbers = np.array([1.0, 2.0])
    different = [
        table("t", a=numbers, b=["x", "y"]),
        table("t", c=numbers, b=["x", "y"]),
        table("u", a=numbers, b=["x", "y"]),
        table("t", b=["x", "y"], a=numbers),
        table("t", a=numbers[::-1], b=["x", "y"]),
        table("t", a=numbers, b=["xy", ""]),
        table("t", a=numbers) | table("u", b=["x", "y"]),
    ]
    assert len({TableSet({}, tables).fingerprint() for tables in different}) == len(different)
    assert TableSet({"a": 1, "b": 2}).fingerprint() == TableSet({"b": 2, "a": 1}).fingerprint()


def test_with_rules_keeps_everything_else():
    problem = make()
    ruled = problem.with_rules(Rules(never=("b",)))
    assert ruled.space.contains([[0, 1, 0], [1, 0, 1]]).tolist() == [False, True]
    assert problem.space.contains([[0, 1, 0]]).tolist() == [True]
    assert ruled.arms is problem.arms
    assert ruled.horizon == 5


def test_shared_models_behave_like_copied_ones():
    rng = np.random.default_rng(3)
    model = np.array([1, 0, 1, 1, 2])
    rewards, kernels = rng.random((3, 4)), rng.dirichlet(np.ones(4), (3, 3, 4))
    doses = np.array([[0, 1, 2], [0, 1, 2], [0, 1, 2]])
    influence = [[1, 1, 0], [0, 2, 0], [0, 0, 1], [1, 0, 1], [2, 0, 0]]
    start = rng.dirichlet(np.ones(4), 5)
    space = Budget(np.ones(3), 2)
    shared = Problem("p", Arms(rewards, doses, kernels, model), space, start, influence)
    copied = replace(shared, arms=Arms(rewards[model], doses[model], kernels[model]))
    states, noise = rng.integers(0, 4, (500, 5)), rng.random((500, 5))
    actions = rng.integers(0, 2, (500, 3))
    np.testing.assert_array_equal(shared.levels(actions), copied.levels(actions))
    np.testing.assert_array_equal(
        shared.transition(states, actions, noise), copied.transition(states, actions, noise)
    )
    np.testing.assert_array_equal(
        shared.expected_reward(states, actions), copied.expected_reward(states, actions)
    )
