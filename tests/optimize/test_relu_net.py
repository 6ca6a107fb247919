"""Networks: their values, and what is refused."""

import numpy as np
import pytest
from argmax_cases import forward, random_net

from sequoia.optimize.relu_net import NetworkError, ReluNet


@pytest.mark.parametrize("widths", [(), (1,), (5,), (7, 3), (3, 1, 4)])
def test_values_follow_the_formula(widths):
    rng = np.random.default_rng(0)
    net = random_net(rng, 6, widths, batch=4)
    inputs = rng.integers(0, 2, (4, 9, 6))
    expected = [[forward(net, b, x) for x in inputs[b]] for b in range(4)]
    np.testing.assert_allclose(net.values(inputs), expected, rtol=1e-12)


def test_values_by_hand():
    """2 + 3 x0 + 5 relu(2 relu(x0 - x1) - 1) - relu(1 - 2 relu(x0 - x1))."""
    net = ReluNet(
        (np.array([[1.0, -1.0]]), np.array([[2.0], [-2.0]])),
        np.array([[0.0]]),
        (np.array([-1.0, 1.0]),),
        np.array([5.0, -1.0]),
        np.array([[3.0, 0.0]]),
        np.array([2.0]),
    )
    inputs = [[[0, 0], [1, 0], [0, 1], [1, 1]]]
    assert net.values(inputs).tolist() == [[1.0, 10.0, 1.0, 4.0]]


def test_only_keeps_the_states_asked_for():
    rng = np.random.default_rng(1)
    net = random_net(rng, 5, (4, 3), batch=5)
    inputs = rng.integers(0, 2, (5, 2, 5))
    picked = net.only([3, 0, 3])
    assert len(picked) == 3
    assert picked.values(inputs[[3, 0, 3]]).tolist() == net.values(inputs)[[3, 0, 3]].tolist()
    assert net.only(slice(1, 3)).values(inputs[1:3]).tolist() == net.values(inputs)[1:3].tolist()


def test_of_linear():
    net = ReluNet.of_linear([[1.0, 2.0], [-1.0, 0.5]], [10.0, 20.0])
    assert (len(net), net.n_inputs) == (2, 2)
    assert net.values([[[1, 1]], [[1, 0]]]).tolist() == [[13.0], [19.0]]
    assert ReluNet.of_linear([1.0, 2.0]).values([[[0, 1]]]).tolist() == [[2.0]]


PARTS = ("weights", "first_bias", "biases", "output", "linear", "constant")


def _parts(**changed):
    net = random_net(np.random.default_rng(2), 4, (3, 2), batch=2)
    return [changed.get(part, getattr(net, part)) for part in PARTS]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("part", PARTS)
def test_what_is_not_a_number_is_refused(part, bad):
    value = getattr(random_net(np.random.default_rng(2), 4, (3, 2), batch=2), part)
    arrays = [array.copy() for array in value] if isinstance(value, tuple) else [value.copy()]
    arrays[-1].flat[-1] = bad
    with pytest.raises(NetworkError, match="not finite"):
        ReluNet(*_parts(**{part: tuple(arrays) if isinstance(value, tuple) else arrays[0]}))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"weights": (np.ones((3, 4)), np.ones((2, 5)))}, "layer 1 has weights"),
        ({"weights": (np.ones((3, 5)), np.ones((2, 3)))}, "layer 0 has weights"),
        ({"weights": (np.ones((3, 4)),)}, "1 layers and 1 later biases"),
        ({"biases": ()}, "2 layers and 0 later biases"),
        ({"biases": (np.ones(3),)}, "layer 1 has weights"),
        ({"first_bias": np.ones((2, 4))}, "layer 0 has weights"),
        ({"first_bias": np.ones((3, 3))}, "different numbers of states"),
        ({"constant": np.ones(3)}, "different numbers of states"),
        ({"output": np.ones(3)}, "output has shape"),
    ],
)
def test_parts_that_do_not_fit_are_refused(changed, message):
    with pytest.raises(NetworkError, match=message):
        ReluNet(*_parts(**changed))
