"""One function, written once: the same numbers from numpy, torch and a hand-written network."""

import numpy as np
import pytest
import torch

from sequoia.models.q_network import n_hidden, of_pairs, of_state, shapes

FEATURES, INPUTS = 7, 5
PARTS = [
    (hidden, value, linear)
    for hidden in ((), (4,), (4, 3))
    for value in (0, 6)
    for linear in (False, True)
]


def drawn(hidden, value, linear, seed=0):
    rng = np.random.default_rng(seed)
    sizes = shapes(FEATURES, INPUTS, hidden, value, linear)
    return {name: np.asarray(rng.standard_normal(shape)) for name, shape in sizes.items()}


def by_hand(own, features, inputs, hidden, value, linear):
    """Return the value of one pair, with plain loops over layers."""
    total = float(own["constant"])
    if value:
        inner = own["value.in"] @ features + own["value.bias"]
        total += own["value.out"] @ np.maximum(inner, 0)
    if linear:
        total += (own["linear.state"] @ features + own["linear.bias"]) @ inputs
    if linear and value:
        total += (own["linear.hidden"] @ np.maximum(inner, 0)) @ inputs
    if hidden:
        unit = np.maximum(own["state"] @ features + own["action"] @ inputs + own["bias.0"], 0)
        if len(hidden) == 2:
            unit = np.maximum(own["weight.1"] @ unit + own["bias.1"], 0)
        total += own["output"] @ unit
    return total


@pytest.mark.parametrize(("hidden", "value", "linear"), PARTS)
def test_numpy_and_torch_say_what_the_formula_says(hidden, value, linear):
    own = drawn(hidden, value, linear)
    rng = np.random.default_rng(1)
    features, inputs = rng.standard_normal((9, FEATURES)), rng.integers(0, 2, (9, INPUTS))
    wanted = [
        by_hand(own, z, x, hidden, value, linear) for z, x in zip(features, inputs, strict=True)
    ]
    assert of_pairs(own, features, inputs) == pytest.approx(wanted)
    tensors = {name: torch.from_numpy(part) for name, part in own.items()}
    found = of_pairs(tensors, torch.from_numpy(features), torch.from_numpy(inputs).double())
    assert found.numpy() == pytest.approx(wanted)


@pytest.mark.parametrize(("hidden", "value", "linear"), PARTS)
def test_parts_that_are_missing_are_missing(hidden, value, linear):
    own = drawn(hidden, value, linear)
    first, weights, constant = of_state(own, np.ones((2, FEATURES)))
    assert (first is None) == (not hidden)
    assert (weights is None) == (not linear)
    assert constant.shape == (2,)
    assert n_hidden(own) == len(hidden)


def test_every_state_has_a_value_of_its_own():
    own = drawn((), 6, False)
    features = np.random.default_rng(2).standard_normal((20, FEATURES))
    values = of_pairs(own, features, np.zeros((20, INPUTS)))
    assert len(np.unique(values)) > 10
