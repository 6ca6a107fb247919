from itertools import product

import numpy as np
import pytest

from sequoia import Assignment, Budget, Walk
from sequoia.errors import InfeasibleSpace, ProblemError
from sequoia.interop.gym import Feasible

SPACES = {
    "budget": Budget([1, 2, 2, 3], 4),
    "assignment": Assignment([1, 2, 2, 3], [3, 2]),
    "path": Walk([(0, 1), (1, 2), (2, 3)], 0, 4, 2),
}


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_what_is_sampled_is_contained_and_nothing_else_is(space):
    feasible = Feasible(space, seed=0)
    seen = {feasible.sample().tobytes() for _ in range(50)}
    assert len(seen) > 1
    everything = np.array(list(product((0, 1), repeat=4)), dtype=np.int8)
    listed = {action.tobytes() for action in space.enumerate(100)}
    assert seen <= listed
    assert {action.tobytes() for action in everything if action in feasible} == listed


def test_what_is_not_a_binary_vector_is_not_contained():
    feasible = Feasible(SPACES["budget"])
    assert [1, 0, 0, 0] in feasible
    assert np.array([True, False, False, False]) in feasible
    for wrong in ([1, 0, 0], [2, 0, 0, 0], [0.5, 0, 0, 0], "1000", None, [[1, 0, 0, 0]]):
        assert wrong not in feasible


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_equal_seeds_sample_equal_actions(space):
    one, other = Feasible(space, seed=3), Feasible(space, seed=3)
    assert [one.sample().tolist() for _ in range(20)] == [
        other.sample().tolist() for _ in range(20)
    ]
    other.seed(4)
    assert [one.sample().tolist() for _ in range(20)] != [
        other.sample().tolist() for _ in range(20)
    ]


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_a_mask_is_obeyed(space):
    feasible = Feasible(space, seed=0)
    mask = np.array([2, 1, 0, 2], dtype=np.int8)
    for _ in range(20):
        action = feasible.sample(mask=mask)
        assert action in feasible
        assert action[1] == 1
        assert action[2] == 0


def test_a_mask_that_nothing_fits_is_one_line():
    feasible = Feasible(SPACES["budget"])
    with pytest.raises(InfeasibleSpace):
        feasible.sample(mask=np.ones(4, dtype=np.int8))
    with pytest.raises(ProblemError, match=r"of 0, 1 or 2 is wanted"):
        feasible.sample(mask=np.full(4, 3, dtype=np.int8))
    with pytest.raises(ProblemError, match="use mask"):
        feasible.sample(probability=np.ones(4))


def test_spaces_are_equal_when_their_rules_are():
    one = Feasible(SPACES["budget"])
    assert one == Feasible(Budget([1, 2, 2, 3], 4))
    assert one != Feasible(Budget([1, 2, 2, 3], 5))
    assert one != SPACES["budget"]
    assert repr(one) == "Feasible(budget, 4 columns)"
    assert one.is_np_flattenable


def test_actions_go_to_json_and_back():
    feasible = Feasible(SPACES["path"], seed=0)
    actions = [feasible.sample() for _ in range(3)]
    back = feasible.from_jsonable(feasible.to_jsonable(actions))
    np.testing.assert_array_equal(back, actions)
    assert back[0].dtype == np.int8
