"""Arms: validation, ladders, tables by dose, shared models."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from sequoia import Arms
from sequoia.errors import ProblemError


def parts(**changes):
    """Return the parts of two valid arms with three states and doses 0, 1, 2.5; some changed."""
    rng = np.random.default_rng(0)
    valid = {
        "rewards": rng.random((2, 3)),
        "doses": np.array([[0, 1, 2.5], [0, 1, 2.5]]),
        "kernels": rng.dirichlet(np.ones(3), (2, 3, 3)),
    }
    return valid | changes


def changed(name, place, value):
    array = np.array(parts()[name])
    array[place] = value
    return {name: array}


BAD = [
    ({"rewards": [1.0, 2.0]}, r"arms\.rewards has shape \(2,\); \(any, any\) is wanted"),
    ({"rewards": [["a", "b"]]}, r"arms\.rewards holds values that are not float64"),
    ({"rewards": [[1.0, 2.0], [3.0]]}, r"arms\.rewards holds values that are not float64"),
    ({"rewards": np.empty((0, 3))}, r"arms\.rewards has shape \(0, 3\)"),
    ({"rewards": np.empty((2, 0))}, r"arms\.rewards has shape \(2, 0\)"),
    (changed("rewards", (1, 2), np.nan), r"arms\.rewards\[1, 2\] is nan; a number is wanted"),
    (changed("rewards", (0, 1), np.inf), r"arms\.rewards\[0, 1\] is inf"),
    (changed("rewards", (0, 1), 1e308), r"rewards\[0, 1\] is 1e\+308; at most 1e\+100 in size"),
    ({"doses": [[0, 1, 2.5]]}, r"arms\.doses has shape \(1, 3\); \(2, any\) is wanted"),
    ({"doses": np.empty((2, 0))}, r"arms\.doses is empty"),
    (changed("doses", (1, 1), np.nan), r"arms\.doses\[1, 1\] is nan"),
    (changed("doses", (1, 0), 0.5), r"arms\.doses\[:, 0\]\[1\] is 0\.5; the first dose is 0"),
    (changed("doses", (1, 2), 1.0), r"arms\.doses.*rise"),
    (changed("doses", (0, 1), -1.0), r"arms\.doses.*rise"),
    ({"kernels": np.full((2, 3, 3), 1 / 3)}, r"arms\.kernels has shape \(2, 3, 3\)"),
    (changed("kernels", (1, 2, 0, 1), -0.1), r"arms\.kernels\[1, 2, 0, 1\] is -0\.1; a probab"),
    (changed("kernels", (1, 2, 0, 1), np.nan), r"arms\.kernels\[1, 2, 0, 1\] is nan"),
    (changed("kernels", (1, 2, 0), [0.5, 0.43, 0]), r"arms\.kernels\[1, 2, 0\] sums to 0\.93;"),
    ({"model": [0, 2]}, r"arms\.model\[1\] is 2; models run from 0 to 1"),
    ({"model": [-1]}, r"arms\.model\[0\] is -1"),
    ({"model": [0.5]}, r"arms\.model holds values that are not int64"),
    ({"model": [0.0, np.nan]}, r"arms\.model holds values that are not int64"),
    ({"model": []}, r"arms\.model is empty; at least one arm is wanted"),
    ({"names": ["a"]}, r"arms\.names has 1 entry; 2 are wanted"),
    ({"names": ["a", "a"]}, r"arms\.names\[1\] repeats 'a'"),
    ({"names": ["a", " "]}, r"arms\.names\[1\] is ' '"),
]


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_an_error_names_the_place(changes, message):
    with pytest.raises(ProblemError, match=message):
        Arms(**parts(**changes))


def test_parts_are_copied_and_read_only():
    given = parts()
    arms = Arms(**given)
    given["rewards"][0, 0] = 99.0
    assert arms.rewards[0, 0] != 99.0
    for array in (arms.rewards, arms.doses, arms.kernels, arms.model):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_sizes_and_default_names():
    arms = Arms(**parts(model=[0, 1, 1, 0]))
    assert (arms.n_arms, arms.n_models, arms.n_states, arms.n_doses) == (4, 2, 3, 3)
    assert list(arms.names) == ["arm 0", "arm 1", "arm 2", "arm 3"]


def test_ladder_moves_one_state_and_stays_at_the_ends():
    arms = Arms.ladder([[1, 2, 3]], [[0.25, 0.75]])
    assert arms.doses.tolist() == [[0, 1]]
    assert arms.kernels[0, 0].tolist() == [[0.75, 0.25, 0], [0.75, 0, 0.25], [0, 0.75, 0.25]]
    assert arms.kernels[0, 1].tolist() == [[0.25, 0.75, 0], [0.25, 0, 0.75], [0, 0.25, 0.75]]


def test_ladder_takes_probabilities_by_state():
    arms = Arms.ladder([[1, 2, 3]], [[[0.5, 0.25, 1.0], [1.0, 1.0, 0.0]]], doses=[[0, 4]])
    assert arms.doses.tolist() == [[0, 4]]
    assert arms.kernels[0, 0].tolist() == [[0.5, 0.5, 0], [0.75, 0, 0.25], [0, 0, 1]]
    assert arms.kernels[0, 1].tolist() == [[0, 1, 0], [0, 0, 1], [0, 1, 0]]


def test_ladder_keeps_model_and_names():
    arms = Arms.ladder([[1, 2], [3, 4]], [[0, 1], [0, 1]], model=[1, 1, 0], names=["a", "b", "c"])
    assert arms.model.tolist() == [1, 1, 0]
    assert list(arms.names) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("rewards", "up", "message"),
    [
        ([1, 2], [[0, 1]], r"arms\.rewards has shape \(2,\)"),
        ([[1, 2]], [0, 1], r"arms\.up has shape \(2,\)"),
        ([[1, 2]], [[0, 1.5]], r"arms\.up\[0, 1\] is 1\.5; a probability is wanted"),
        ([[1, 2]], [[-0.5, 1]], r"arms\.up\[0, 0\] is -0\.5"),
        ([[1, 2]], [["x", "y"]], r"arms\.up holds values that are not float64"),
        ([[1, 2]], [[[0.1, 0.2, 0.3]]], r"arms\.up has shape \(1, 1, 3\); \(any, any, 2\)"),
        ([[1, 2]], [[0, 1], [0, 1]], r"arms\.\w+ has shape"),
    ],
)
def test_ladder_names_the_place(rewards, up, message):
    with pytest.raises(ProblemError, match=message):
        Arms.ladder(rewards, up)


def test_next_rewards_are_expectations():
    arms = Arms(**parts())
    expected = np.zeros((2, 3, 3))
    for g, level, s, t in np.ndindex(2, 3, 3, 3):
        expected[g, level, s] += arms.kernels[g, level, s, t] * arms.rewards[g, t]
    np.testing.assert_allclose(arms.next_rewards, expected, rtol=1e-14)


def test_levels_look_doses_up_per_arm():
    doses = [[0, 1, 2], [0, 3, 9]]
    arms = Arms(np.zeros((2, 2)), doses, np.full((2, 3, 2, 2), 0.5), model=[1, 0, 1])
    assert arms.levels([[0, 2, 9], [3, 1, 0], [9, 0, 3]]).tolist() == [
        [0, 2, 2],
        [1, 1, 0],
        [2, 0, 1],
    ]
    assert arms.levels([3 + 1e-12, 1 - 1e-12, 9 - 1e-12]).tolist() == [1, 1, 2]


def test_rounding_never_leads_into_a_state_of_probability_zero():
    row = [0.1] * 3 + [0.7 - 1e-10, 0.0]
    arms = Arms(np.zeros((1, 5)), [[0]], np.tile(row, (1, 1, 5, 1)))
    assert (arms.cumulative[-1] == 1.0).all()


def test_an_arm_with_one_state_has_nothing_to_draw():
    arms = Arms.ladder([[7.0]], [[0, 1]])
    assert arms.kernels.tolist() == [[[[1.0]], [[1.0]]]]
    assert arms.cumulative.shape == (0, 2)


def test_arms_go_to_other_processes():
    """An evaluation on several cores sends them there."""
    arms = Arms.ladder([[0, 1]], [[0.1, 0.8]])
    arms = replace(arms, dose_names={1.0: "a visit"}, state_names=["ill", "well"])
    there = pickle.loads(pickle.dumps(arms))
    assert there.say_dose(1.0) == "1 (a visit)"
    assert there.kernels.tolist() == arms.kernels.tolist()
