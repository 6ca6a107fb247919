"""Link functions, by numbers worked out by hand."""

import math

import numpy as np
import pytest

from sequoia import Arms
from sequoia.errors import ProblemError
from sequoia.problem.links import linear, sigmoid, submodular


def test_sigmoid_by_hand():
    # σ(2 * 1 - 2) = 1/2 and σ(-2) = 1 / (1 + e²)
    at_zero = 1 / (1 + math.exp(2))
    found = sigmoid([[0, 1]], height=[0.8], slope=[2.0], middle=[2.0])
    np.testing.assert_allclose(found, [[0.01, 0.01 + 0.98 * 0.8 * (0.5 - at_zero)]], rtol=1e-14)


def test_sigmoid_gives_001_without_dose_and_stays_below_099():
    found = sigmoid([[0, 3, 1e6]] * 2, height=[1, 0.3], slope=[1.9, 1], middle=[9, 1])
    np.testing.assert_allclose(found[:, 0], 0.01, rtol=1e-14)
    assert (found <= 0.99).all()
    assert (np.diff(found, axis=1) > 0).all()


def test_linear_by_hand_and_at_most_one():
    found = linear([[0, 1, 2], [0, 5, 10]], base=[0.1, 0.2], slope=[0.25, 0.1])
    np.testing.assert_allclose(found, [[0.1, 0.35, 0.6], [0.2, 0.7, 1.0]], rtol=1e-14)


def test_submodular_by_hand():
    found = submodular([[0, 1, 2]], base=[0.2], chance=[0.5])
    np.testing.assert_allclose(found, [[0.2, 0.6, 0.8]], rtol=1e-14)


def test_submodular_adds_less_each_time():
    gains = np.diff(submodular([np.arange(6.0)], base=0.05, chance=0.3), axis=1)
    assert (np.diff(gains, axis=1) < 0).all()


def test_one_parameter_serves_all_arms():
    doses = np.tile(np.arange(3.0), (4, 1))
    np.testing.assert_array_equal(linear(doses, 0.1, 0.2), linear(doses, [0.1] * 4, [0.2] * 4))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (lambda: linear([[0, 1]], [-0.2], [0.1]), "the linear link gives -0.2 to -0.1;"),
        (lambda: linear([[0, 1]], [0.2], [-0.5]), "the linear link gives -0.3 to 0.2;"),
        (lambda: submodular([[0, 1]], [1.5], [0.5]), "the submodular link gives 1.25 to 1.5;"),
        (lambda: sigmoid([[0, 99]], [2.5], [1], [0]), "the sigmoid link gives 0.01 to 1.235;"),
        (lambda: linear([[0, 1]], [np.nan], [0.1]), "the linear link gives nan to nan;"),
    ],
)
def test_a_link_outside_zero_to_one_is_refused(values, message):
    with pytest.raises(ProblemError, match=message):
        values()


def test_links_fill_a_ladder():
    up = submodular([[0, 1, 2]], base=[0.2], chance=[0.5])
    arms = Arms.ladder([[0, 1]], up, doses=[[0, 1, 2]])
    np.testing.assert_allclose(arms.kernels[0, :, 0, 1], [0.2, 0.6, 0.8])
