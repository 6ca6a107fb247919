"""Lines above a network, checked at every point of small cubes."""

import itertools

import numpy as np
import pytest
from argmax_cases import random_net

from sequoia.optimize.linear.knapsack import KnapsackRelaxation
from sequoia.optimize.node import Node
from sequoia.optimize.relu_net import PreactivationBounds, ReluNet
from sequoia.optimize.relu_relaxation import ReluRelaxation

SIZE = 7
CUBE = np.array(list(itertools.product([0.0, 1.0], repeat=SIZE)))


def a_part(widths: tuple[int, ...], seed: int) -> tuple[ReluNet, Node, np.ndarray]:
    """A network, a part with two fixed inputs, and all points in it."""
    rng = np.random.default_rng(seed)
    net = random_net(rng, SIZE, widths, batch=1)
    first = net.weights[0]
    reach = PreactivationBounds(np.minimum(first, 0).sum(axis=1), np.maximum(first, 0).sum(axis=1))
    fixed = np.full(SIZE, -1, dtype=np.int8)
    fixed[rng.permutation(SIZE)[:2]] = 0, 1
    part = Node.whole(net, reach, rng.random(SIZE)).with_inputs(fixed)
    points = CUBE[((fixed < 0) | (fixed == CUBE)).all(axis=1)]
    return net, part.tightened(net, KnapsackRelaxation(SIZE - 1)), points


def inputs_of_layers(net: ReluNet, points: np.ndarray) -> list[np.ndarray]:
    hidden, seen = points, []
    for matrix, bias in zip(net.weights, [net.first_bias[0], *net.biases], strict=True):
        seen.append(hidden @ matrix.T + bias)
        hidden = np.maximum(seen[-1], 0.0)
    return seen


@pytest.mark.parametrize("widths", [(6,), (6, 5), (5, 4, 4)])
@pytest.mark.parametrize("seed", range(10))
def test_no_line_cuts_the_network(widths, seed):
    net, part, points = a_part(widths, seed)
    roof = ReluRelaxation(net, part.layers, part.fixed)
    rng = np.random.default_rng(seed)
    lines = roof.chords
    values = net.values(points[None])[0] - net.linear[0] @ points.T - net.constant[0]
    for _ in range(20):
        weights, constants, _ = roof.over(net.output[None], lines)
        assert (weights[0][part.fixed >= 0] == 0).all()
        assert (points @ weights[0] + constants[0] >= values - 1e-9).all()
        lines = lines.towards(roof.lowest(rng.random(SIZE)), rng.random())
        lines = roof.kept(lines, rng.random(SIZE))


@pytest.mark.parametrize("seed", range(10))
def test_lines_of_the_first_layer_touch_it_at_their_point(seed):
    """Over whole inputs no line can be lower than the ReLU itself."""
    net, part, points = a_part((6,), seed)
    roof = ReluRelaxation(net, part.layers, part.fixed)
    for point in points:
        lines = roof.lowest(point)
        heights = lines.weights @ point + lines.shifts
        seen = net.weights[0] @ point + net.first_bias[0]
        np.testing.assert_allclose(heights, np.maximum(seen, 0.0), atol=1e-9)


def test_mixing_lines_lowers_the_bound():
    """The highest point of a mixture is lower than that of the chords."""
    net, part, points = a_part((6, 5), 3)
    roof = ReluRelaxation(net, part.layers, part.fixed)

    def height(lines):
        weights, constants, _ = roof.over(net.output[None], lines)
        heights = points @ (weights[0] + net.linear[0]) + constants[0] + net.constant[0]
        return heights.max(), points[heights.argmax()]

    lines = roof.chords
    first, centre = height(lines)
    lowest = first
    for weight in range(2, 20):
        lines = lines.towards(roof.lowest(centre), 2 / (weight + 1))
        now, point = height(lines)
        lowest, centre = min(lowest, now), centre + (point - centre) / weight
    truth = net.values(points[None])[0].max()
    assert truth <= lowest + 1e-9
    assert lowest - truth < 0.7 * (first - truth)


@pytest.mark.parametrize("widths", [(6,), (6, 5), (5, 4, 4)])
@pytest.mark.parametrize("seed", range(5))
def test_parts_bound_the_neurons_that_matter(widths, seed):
    net, part, points = a_part(widths, seed)
    points = points[points.sum(axis=1) < SIZE]
    for layer, seen in zip(part.layers, inputs_of_layers(net, points), strict=True):
        assert (layer.lower <= seen.min(axis=0) + 1e-9).all()
        assert (layer.upper >= seen.max(axis=0) - 1e-9).all()


def test_halves_make_up_the_whole():
    net, part, points = a_part((6, 5), 1)
    place = int(np.flatnonzero(part.fixed < 0)[0])
    zero, one = part.branch_on_input(place)
    assert (zero.fixed[place], one.fixed[place]) == (0, 1)
    assert (zero.centre[place], one.centre[place]) == (0.0, 1.0)
    unit = int(np.flatnonzero(part.layers[1].is_open)[0])
    off, on = part.branch_on_neuron(1, unit)
    assert off.layers[1].upper[unit] == 0 == on.layers[1].lower[unit]
    assert off.layers[1].lower[unit] == part.layers[1].lower[unit]
    assert on.layers[1].upper[unit] == part.layers[1].upper[unit]
    seen = inputs_of_layers(net, points)[1][:, unit]
    for half, is_there in ((off, seen <= 0), (on, seen >= 0)):
        roof = ReluRelaxation(net, half.layers, half.fixed)
        weights, constants, _ = roof.over(net.output[None], roof.chords)
        heights = points @ (weights[0] + net.linear[0]) + constants[0] + net.constant[0]
        assert (heights >= net.values(points[None])[0] - 1e-9)[is_there].all()
