"""A network as a program: exact at every action, and no more switches than needed."""

from dataclasses import replace

import numpy as np
import pytest
from argmax_cases import (
    EVERYTHING,
    EXTREME,
    KINDS,
    MODERATE,
    case,
    columns_of,
    feasible_actions,
    forward,
    random_net,
)

from sequoia.optimize.engines.embedding import Embedding, naive_layers, scaled
from sequoia.optimize.engines.neuron_bounds import LinearBounds, NeuronBounds
from sequoia.solvers import Highs, Status


def embed(name, net, state=0, one_sided=True):
    columns = columns_of(name)
    layers = NeuronBounds(LinearBounds(columns)).of(net.only([state]))
    return Embedding.of(net.only([state]), layers, columns, one_sided)


def is_point(program, values, tolerance=1e-9):
    """Whether ``values`` satisfies all rows, column bounds and integrality."""
    left = program.matrix @ values
    room = tolerance * (1.0 + np.abs(program.matrix) @ np.abs(values))
    whole = values[program.is_integer]
    edge = tolerance * (1.0 + np.abs(program.column_upper))
    return bool(
        (left >= program.lower - room).all()
        and (left <= program.upper + room).all()
        and (values >= program.column_lower - tolerance).all()
        and (values <= program.column_upper + edge).all()
        and (whole == np.rint(whole)).all()
    )


@pytest.mark.parametrize("name", EVERYTHING)
def test_point_is_feasible_and_worth_the_forward_pass(name):
    columns = columns_of(name)
    bounds = NeuronBounds(LinearBounds(columns))
    actions = feasible_actions(name)
    rng = np.random.default_rng(0)
    for kind in KINDS:
        net = case(name, kind)
        for state, one_sided in ((0, True), (1, False)):
            own = bounds.of(net.only([state]))
            embedding = Embedding.of(net.only([state]), own, columns, one_sided)
            action = actions[rng.integers(len(actions))]
            point = embedding.point(columns.point(action))
            assert is_point(embedding.program, point), kind
            value = forward(net, state, columns.encode(action[None])[0]) - net.constant[state]
            size = np.abs(embedding.program.objective) @ np.abs(point)
            assert embedding.program.objective @ point == pytest.approx(
                value, abs=1e-12 * (1 + size)
            )


@pytest.mark.parametrize("one_sided", [True, False])
@pytest.mark.parametrize("kind", ["one layer", "two layers", "three layers", "whole numbers"])
@pytest.mark.parametrize("name", ["budget", "assignment", "path", "kits", "unequal doses"])
def test_fixed_action_gives_its_forward_pass(name, kind, one_sided):
    columns = columns_of(name)
    net = case(name, kind)
    embedding = embed(name, net, 2, one_sided)
    actions = feasible_actions(name)
    size = columns.space.n_actions
    for action in actions[:: max(1, len(actions) // 4)]:
        low, high = embedding.program.column_lower.copy(), embedding.program.column_upper.copy()
        low[:size] = high[:size] = action
        fixed = replace(embedding.program, column_lower=low, column_upper=high)
        solution = Highs().solve(fixed)
        assert solution.status is Status.OPTIMAL
        value = forward(net, 2, columns.encode(action[None])[0]) - net.constant[2]
        assert solution.objective == pytest.approx(value, rel=1e-6, abs=1e-6)
        if not one_sided:
            # With both sides the network has only one value, so its least is the same.
            least = Highs().solve(replace(fixed, objective=-fixed.objective))
            assert -least.objective == pytest.approx(value, rel=1e-6, abs=1e-6)


def test_stable_neurons_get_no_switch():
    always_on, always_off = case("budget", "always on"), case("budget", "dead first layer")
    on, off = embed("budget", always_on), embed("budget", always_off)
    assert not on.layers[0].switch.size
    assert on.layers[0].kept.size == 4
    assert not off.layers[0].kept.size
    for embedding in (on, off):
        switches = sum(layer.switch.size for layer in embedding.layers)
        assert embedding.program.is_integer.sum() == 8 + switches


def test_switches_are_exactly_the_unstable_neurons_that_can_raise_the_value():
    columns = columns_of("budget")
    net = random_net(np.random.default_rng(4), 8, (9, 9))
    layers = NeuronBounds(LinearBounds(columns)).of(net.only([1]))
    unstable = [(layer.lower < 0) & (layer.upper > 0) for layer in layers]
    assert (unstable[1] & (net.output < 0)).any()
    one, both = embed("budget", net, 1), embed("budget", net, 1, one_sided=False)
    assert [layer.switch.size for layer in both.layers] == [u.sum() for u in unstable]
    assert one.layers[0].switch.size == unstable[0].sum()
    assert one.layers[1].switch.size == (unstable[1] & (net.output > 0)).sum()


def test_neurons_without_weight_are_left_out():
    net = case("budget", "zero output")
    assert embed("budget", net).layers[1].kept.size == 0
    assert embed("budget", net, one_sided=False).layers[1].kept.size > 0


def test_naive_layers_know_nothing():
    net = case("budget", "three layers")
    layers = naive_layers(net)
    assert [layer.lower.shape for layer in layers] == [(3,), (5,), (2,)]
    assert {float(v) for layer in layers for v in layer.upper.flat} == {1e5}
    embedding = Embedding.of(net.only([0]), layers, columns_of("budget"), False)
    assert embedding.program.is_integer.sum() == 8 + 10


@pytest.mark.parametrize("kind", [*MODERATE, *EXTREME])
@pytest.mark.parametrize("name", ["budget", "path, must", "interventions"])
def test_scaled_is_the_same_function_in_other_units(name, kind):
    columns = columns_of(name)
    net = case(name, kind)
    layers = NeuronBounds(LinearBounds(columns)).of(net.only([1]))
    one = net.only([1])
    same, bounds, unit = scaled(one, layers)
    inputs = columns.encode(feasible_actions(name))[None]
    expected = one.values(inputs)
    size = np.abs(expected).max() + unit
    np.testing.assert_allclose(same.values(inputs) * unit, expected, rtol=0, atol=1e-12 * size)
    for layer in bounds:
        width = layer.upper - layer.lower
        assert ((width == 0) | ((width >= 1) & (width < 2))).all()
        assert (layer.lower <= 0).all()
    largest = np.abs(np.concatenate([same.output, same.linear[0]])).max()
    assert largest == 0 or 1 <= largest < 2
