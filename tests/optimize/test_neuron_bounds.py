"""Neuron bounds against every feasible action."""

import numpy as np
import pytest
from argmax_cases import EVERYTHING, KINDS, case, columns_of, feasible_actions, random_net

from sequoia.optimize.engines.neuron_bounds import LinearBounds, NeuronBounds


def neurons(net, state, inputs):
    """What every neuron of every layer gets before its ReLU, for each action."""
    found, hidden = [], inputs
    for depth, matrix in enumerate(net.weights):
        before = hidden @ matrix.T + (
            net.first_bias[state] if depth == 0 else net.biases[depth - 1]
        )
        found.append(before)
        hidden = np.maximum(before, 0.0)
    return found


@pytest.mark.parametrize("name", EVERYTHING)
def test_bounds_contain_every_neuron(name):
    columns = columns_of(name)
    inputs = columns.encode(feasible_actions(name))
    bounds = NeuronBounds(LinearBounds(columns))
    for kind in KINDS:
        net = case(name, kind)
        for state in range(len(net)):
            layers = bounds.of(net.only([state]))
            for layer, before in zip(layers, neurons(net, state, inputs), strict=True):
                slack = 1e-12 * (np.abs(layer.upper) + np.abs(layer.lower))
                assert (before <= layer.upper + slack).all(), kind
                assert (before >= layer.lower - slack).all(), kind


@pytest.mark.parametrize("name", EVERYTHING)
@pytest.mark.parametrize("size", [1e-9, 1e-6, 1.0, 1e8])
def test_linear_functions_are_bounded_at_every_scale(name, size):
    columns = columns_of(name)
    inputs = columns.encode(feasible_actions(name))
    bounds = LinearBounds(columns)
    rows = size * np.random.default_rng(0).standard_normal((25, columns.n_inputs))
    best = (inputs @ rows.T).max(axis=0)
    quick, tight = bounds.quick(rows), bounds.tight(rows)
    assert (quick >= best - 1e-12 * size).all()
    assert (tight >= best - 1e-12 * size).all()
    assert (tight <= quick).all()


def test_linear_bounds_know_the_rules():
    """Three of eight equal arms: both bounds are exact, and far below the sum of all gains."""
    columns = columns_of("budget, equal arms")
    rows = np.random.default_rng(1).standard_normal((30, 8))
    best = np.sort(np.maximum(rows, 0.0), axis=1)[:, -3:].sum(axis=1)
    np.testing.assert_allclose(LinearBounds(columns).quick(rows), best, rtol=1e-12)
    np.testing.assert_allclose(LinearBounds(columns).tight(rows), best, rtol=1e-6)


def test_must_rules_tighten_both_sides():
    """An arm that has to be acted on is in the smallest value too."""
    columns = columns_of("budget, must")
    row = np.zeros((1, 7))
    row[0, 2] = 1.0
    assert LinearBounds(columns).tight(-row) == pytest.approx(-1.0, abs=1e-6)


@pytest.mark.parametrize("name", ["budget", "schedule", "path", "interventions"])
def test_later_layers_are_tighter_than_intervals(name):
    """The linear bounds gain something over propagating intervals."""
    columns = columns_of(name)
    net = random_net(np.random.default_rng(2), columns.n_inputs, (12, 12), batch=4)
    bounds = NeuronBounds(LinearBounds(columns))
    gains = []
    for state in range(4):
        first, second = bounds.of(net.only([state]))
        most, least = np.maximum(first.upper, 0.0), np.maximum(first.lower, 0.0)
        rising, falling = np.maximum(net.weights[1], 0.0), np.minimum(net.weights[1], 0.0)
        gains.append(net.biases[0] + most @ rising.T + least @ falling.T - second.upper)
    assert np.min(gains) >= -1e-9
    assert (np.array(gains) > 1e-3).mean() > 0.3


def test_new_weights_are_noticed():
    """Also when they are written into the same array; equal ones need no second look."""
    columns = columns_of("assignment")
    linear = LinearBounds(columns)
    asked = []
    tight = linear.tight
    linear.tight = lambda rows: asked.append(len(rows)) or tight(rows)
    bounds = NeuronBounds(linear)
    net = random_net(np.random.default_rng(3), columns.n_inputs, (4,))
    one, other = net.only([0]), net.only([2])
    before = bounds.of(one)[0].upper - one.first_bias[0]
    np.testing.assert_allclose(bounds.of(other)[0].upper - other.first_bias[0], before)
    assert len(asked) == 2
    net.weights[0][:] *= 3
    after = bounds.of(one)[0].upper - one.first_bias[0]
    assert len(asked) == 4
    np.testing.assert_allclose(after, 3 * before, rtol=1e-6)


def test_linear_function_has_no_layers():
    columns = columns_of("budget")
    assert NeuronBounds(LinearBounds(columns)).of(case("budget", "linear")) == []
