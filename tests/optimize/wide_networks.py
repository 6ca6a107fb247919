"""Networks with weights over many orders of magnitude, over spaces small enough to list."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from sequoia.optimize import ActionEncoding, ReluNet
from sequoia.problem import Assignment, Budget
from sequoia.problem.spaces import ActionSpace


def wide_network(seed: int) -> tuple[ActionEncoding, ReluNet, int]:
    """Return a space, a network of one state over it, and its orders of magnitude, up to 12."""
    rng = np.random.default_rng(seed)
    size, orders = int(rng.integers(4, 13)), 2 * int(rng.integers(0, 7))
    costs = rng.integers(1, 4, size).astype(float)
    space: ActionSpace = Budget(costs, float(rng.integers(2, 8)))
    if rng.random() < 0.5:
        space = Assignment(costs, rng.integers(2, 6, 2).astype(float))
    widths = [int(width) for width in rng.choice([4, 8, 16], rng.integers(1, 4))]
    net = _network(rng, [size, *widths], orders / 2)
    if rng.random() < 0.3:
        # Neurons that are always on or off, far from where they are neither.
        far = 10.0 ** rng.uniform(0, 8)
        later = tuple(bias * far for bias in net.biases) if rng.random() < 0.5 else net.biases
        net = replace(net, first_bias=net.first_bias * far, biases=later)
    return ActionEncoding.of_space(space), net, orders


def largest_value(columns: ActionEncoding, net: ReluNet) -> float:
    """Return the value of the best action, by trying them all in double precision."""
    actions = columns.space.enumerate(100_000)
    return float(net.values(columns.encode(actions)[None]).max())


def _network(rng: np.random.Generator, sizes: list[int], half: float) -> ReluNet:
    """Return a network whose neurons, inputs or single weights differ by ``10 ** (2 * half)``."""

    def scales(*shape: int) -> np.ndarray:
        return 10.0 ** rng.uniform(-half, half, shape)

    by_neuron, by_input, by_weight = rng.random(3) < 0.5
    weights, biases = [], []
    for inputs, units in pairwise(sizes):
        matrix = rng.normal(size=(units, inputs)) / np.sqrt(inputs)
        matrix *= scales(units, 1) if by_neuron else 1.0
        matrix *= scales(1, inputs) if by_input else 1.0
        matrix *= scales(units, inputs) if by_weight and not by_neuron else 1.0
        weights.append(matrix)
        size = np.abs(matrix).mean(axis=1) * rng.choice([0.1, 1, 10])
        biases.append(rng.normal(size=units) * size)
    output = rng.normal(size=sizes[-1]) * scales(sizes[-1])
    linear = rng.normal(size=(1, sizes[0])) * scales()
    constant = rng.normal(size=1) * scales()
    return ReluNet(tuple(weights), biases[0][None], tuple(biases[1:]), output, linear, constant)
