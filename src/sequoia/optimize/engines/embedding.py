"""A ReLU network as rows and columns of a program, exactly (Fischetti and Jo 2018).

Of a neuron ``v = W x + b``, ``l <= v <= u``, a column ``h`` is what is above zero and ``s`` what is
below; a switch ``z``, 0 or 1, says which of the two may be there: ``h - s = W x + b``,
``0 <= h <= u z``, ``0 <= s <= -l (1 - z)``. The bounds ``l`` and ``u`` are the big-M.
"""

from dataclasses import dataclass

import numpy as np

from sequoia.optimize.builder import ProgramBuilder
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.relu_net import PreactivationBounds, ReluNet
from sequoia.scaling import powers_of_two, unit_of
from sequoia.solvers import Program
from sequoia.validation import BoolArray, FloatArray, IntArray

# The big-M of the authors' code.
NAIVE_BIG_M = 1e5
# What rounds to 1e-16 of its terms is off by 1e-9 of such a unit, below any tolerance of a solver:
# else rounding makes rows that no point keeps.
_RESOLUTION = 1e-7


def naive_layers(net: ReluNet) -> list[PreactivationBounds]:
    """Return bounds that know nothing: the big-M of the authors' code, for comparison."""
    sizes = [len(matrix) for matrix in net.weights]
    return [PreactivationBounds(np.full(s, -NAIVE_BIG_M), np.full(s, NAIVE_BIG_M)) for s in sizes]


def scaled(
    net: ReluNet, bounds: list[PreactivationBounds]
) -> tuple[ReluNet, list[PreactivationBounds], float]:
    """Return the same function of one state in units that suit a solver, and the unit of its value.

    A ReLU passes factors on, ``relu(c v) = c relu(v)`` for ``c > 0``, so each neuron is measured by
    how far its bounds are apart, or by what doubles resolve. One that is always on passes on what
    is added as well, ``relu(v) = relu(v - l) + l`` for ``v >= l >= 0``, so it is measured from its
    lower bound. The value is measured by its largest weight. Then all numbers of the program are
    about 1, and a solver's tolerances mean the same for any network. The factors are powers of two,
    which cost no precision.
    """
    weights, biases, layers = [], [], []
    before, added, terms = np.ones(net.n_inputs), np.zeros(net.n_inputs), np.ones(net.n_inputs)
    for depth, (matrix, layer) in enumerate(zip(net.weights, bounds, strict=True)):
        bias = net.first_bias if depth == 0 else net.biases[depth - 1]
        always = np.maximum(layer.lower, 0.0)
        terms = np.abs(matrix) @ terms + np.abs(bias).reshape(-1)
        unit = powers_of_two(np.maximum(layer.upper - layer.lower, _RESOLUTION * terms))
        weights.append(matrix * before / unit[:, None])
        biases.append((bias + matrix @ added - always) / unit)
        layers.append(
            PreactivationBounds((layer.lower - always) / unit, (layer.upper - always) / unit)
        )
        before, added = unit, always
    output = net.output * before if weights else net.output
    constant = net.constant + (net.output @ added if weights else 0.0)
    unit_of_value = unit_of(np.concatenate([output, net.linear[0]]))
    same = ReluNet(
        tuple(weights),
        biases[0] if biases else net.first_bias,
        tuple(biases[1:]),
        output / unit_of_value,
        net.linear / unit_of_value,
        constant / unit_of_value,
    )
    return same, layers, unit_of_value


def error_growth(net: ReluNet) -> float:
    """Return how far off the value can be if every row of the program is off by one.

    An error of a neuron is its own and that of what it sees: ``e_1 = 1``,
    ``e_d = |W_d| e_(d-1) + 1``, and of the value ``|output| e_D + 1``.
    """
    error = np.zeros(net.n_inputs)
    for matrix in net.weights:
        error = np.abs(matrix) @ error + 1.0
    return float(np.abs(net.output) @ error if net.weights else 0.0) + 1.0


@dataclass(frozen=True, eq=False)
class _Neurons:
    """The positions of the columns of one hidden layer.

    Each kept neuron is ``unit - rest = W x + b`` with both sides not negative; a switch forces one
    of them to zero.
    """

    kept: IntArray  # neurons that are not always off
    unstable: IntArray  # positions in ``kept`` that have a ``rest``
    switched: IntArray  # positions in ``unstable`` that have a ``switch``
    unit: IntArray
    rest: IntArray
    switch: IntArray


@dataclass(frozen=True, eq=False)
class Embedding:
    """One state's network as a program over the columns of a system.

    A neuron that is always on or always off needs no switch; nor does one of the last layer that
    can only lower the value, because maximising keeps it as small as it can be (unless
    ``one_sided`` is off).
    """

    net: ReluNet
    program: Program
    layers: tuple[_Neurons, ...]

    @classmethod
    def of(
        cls,
        net: ReluNet,
        bounds: list[PreactivationBounds],
        columns: ActionEncoding,
        one_sided: bool = True,
    ) -> "Embedding":
        """Embed the network of a single state; ``bounds`` are those of the same state."""
        builder = ProgramBuilder(columns.system)
        sources, inputs = np.arange(net.n_inputs), np.arange(net.n_inputs)
        layers = []
        for depth, matrix in enumerate(net.weights):
            is_last = depth == len(net.weights) - 1
            bias = net.first_bias[0] if depth == 0 else net.biases[depth - 1]
            wanted = net.output > 0 if is_last and one_sided else np.ones(len(matrix), dtype=bool)
            matters = net.output != 0 if is_last and one_sided else np.ones(len(matrix), dtype=bool)
            low, high = bounds[depth].lower, bounds[depth].upper
            neurons = _place(builder, low, high, wanted, matters)
            part = matrix[np.ix_(neurons.kept, inputs)]
            _tie(builder, neurons, part, sources, bias[neurons.kept], low, high)
            layers.append(neurons)
            sources, inputs = neurons.unit, neurons.kept
        objective = np.zeros(builder.n_columns)
        objective[: net.n_inputs] = net.linear[0]
        if layers:
            objective[sources] = net.output[inputs]
        return cls(net, builder.program(objective), tuple(layers))

    def point(self, system_values: FloatArray) -> FloatArray:
        """Return all columns of the program for given columns of the system."""
        values = np.zeros(len(self.program.objective))
        values[: len(system_values)] = system_values
        hidden = system_values[: self.net.n_inputs]
        for depth, (neurons, matrix) in enumerate(zip(self.layers, self.net.weights, strict=True)):
            bias = self.net.first_bias[0] if depth == 0 else self.net.biases[depth - 1]
            before = matrix @ hidden + bias
            hidden = np.maximum(before, 0.0)
            kept = before[neurons.kept]
            values[neurons.unit] = np.maximum(kept, 0.0)
            values[neurons.rest] = np.maximum(-kept[neurons.unstable], 0.0)
            values[neurons.switch] = kept[neurons.unstable][neurons.switched] > 0
        return values


def _place(
    builder: ProgramBuilder,
    low: FloatArray,
    high: FloatArray,
    wanted: BoolArray,
    matters: BoolArray,
) -> _Neurons:
    """Add the columns of one layer."""
    kept = np.flatnonzero((high > 0) & matters)
    unstable = np.flatnonzero(low[kept] < 0)
    switched = np.flatnonzero(wanted[kept][unstable])
    return _Neurons(
        kept,
        unstable,
        switched,
        builder.columns(high[kept], is_integer=False),
        builder.columns(-low[kept][unstable], is_integer=False),
        builder.columns(np.ones(len(switched)), is_integer=True),
    )


def _tie(
    builder: ProgramBuilder,
    neurons: _Neurons,
    part: FloatArray,
    sources: IntArray,
    bias: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> None:
    """Add the rows of one layer, whose inputs stand in the columns ``sources``."""
    equal = builder.rows(bias, bias)
    row, column = np.nonzero(part)
    builder.entries(equal[row], sources[column], -part[row, column])
    builder.entries(equal, neurons.unit, np.ones(len(equal)))
    builder.entries(equal[neurons.unstable], neurons.rest, -np.ones(len(neurons.rest)))
    chosen = neurons.unstable[neurons.switched]
    top, bottom = high[neurons.kept][chosen], -low[neurons.kept][chosen]
    below = np.full(len(chosen), -np.inf)
    on = builder.rows(below, np.zeros(len(chosen)))
    builder.entries(on, neurons.unit[chosen], np.ones(len(chosen)))
    builder.entries(on, neurons.switch, -top)
    off = builder.rows(below, bottom)
    builder.entries(off, neurons.rest[neurons.switched], np.ones(len(chosen)))
    builder.entries(off, neurons.switch, bottom)
