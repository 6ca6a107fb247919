"""Small spaces and networks, and the best action found the plain way: by trying all of them."""

from collections.abc import Callable
from functools import cache

import numpy as np

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Arms, Floor, Problem, Rules, with_rules
from sequoia.problem.families import FAMILIES
from sequoia.problem.spaces import ActionSpace, Assignment, Budget, Custom, Schedule, Walk

# Spaces of at most 8 columns, so that all 2^N actions can be tried.


def _slots(*rows: str) -> np.ndarray:
    return np.array([[c == "x" for c in row] for row in rows], dtype=np.bool_)


def _kits() -> Custom:
    """An item needs an open kit that holds it; at most two kits are opened."""
    contents = [[0, 1], [1, 2, 3], [3, 4], [0, 5]]
    rows = np.zeros((7, 10))
    rows[0, 6:] = 1
    for item in range(6):
        rows[1 + item, item] = 1
        rows[1 + item, 6:] = [-(item in kit) for kit in contents]
    upper = [2.0] + [0.0] * 6
    return Custom(
        rows, [-np.inf] * 7, upper, [f"item {i}" for i in range(6)], [f"kit {i}" for i in range(4)]
    )


def _bound_together() -> Custom:
    """Item 1 needs item 0, 2 and 3 go together, and something has to be done."""
    rows = np.array([[-1, 1, 0, 0, 0], [0, 0, 1, -1, 0], [1, 1, 1, 1, 2]], dtype=float)
    return Custom(rows, [-np.inf, 0, 1], [0, 0, 3], [f"item {i}" for i in range(5)])


_WORKERS = _slots("xxx..", "..xxx", "x.x.x")
_ARMS = _slots("xx...", ".xx..", "..xx.", "...xx", "x...x", "xx...", ".xxx.")
_MANY = _slots("x..x..x....x", ".x..x..x....", "..x..x..x.x.")
_ARMS_OF_MANY = _slots(
    "xx..........", "..xx........", "x...x.......", ".....xx.....", "...........x", "xxxxxxxxxxxx"
)
_KITE = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (1, 5)]

SPACES: dict[str, ActionSpace] = {
    "budget": Budget([1, 2, 2.5, 0, 3, 1, 1.5, 0.5], 5),
    "budget, equal arms": Budget(np.ones(8), 3),
    "budget, nothing to spend": Budget([1, 0, 2, 1], 0),
    "budget, enough for all": Budget([1, 2, 3, 1, 1, 2], 10),
    "assignment": Assignment([2, 3, 4, 2, 6, 3, 3], [4, 6, 7]),
    "schedule": Schedule(_WORKERS, _ARMS, 3),
    "schedule, distinct workers": Schedule(_WORKERS, _ARMS[:6], 3, 2, True),
    "schedule, many slots": Schedule(_MANY, _ARMS_OF_MANY, 3),
    "path": Walk(_KITE, 0, 6, 4),
    "path, long edges": Walk(_KITE, 2, 8, 3, [1, 2, 4, 1, 1, 3]),
    "kits": _kits(),
    "bound together": _bound_together(),
    "budget, must": with_rules(Budget(np.ones(7), 4), Rules(must=["arm 2", "arm 5"])),
    "assignment, floors": with_rules(
        Assignment([2, 3, 4, 2, 6, 3], [4, 6, 7]),
        Rules(
            groups={"old": ["arm 0", "arm 4"], "new": ["arm 1", "arm 2"]},
            floors=[Floor("new", share=0.4), Floor("old", count=1)],
        ),
    ),
    "schedule, one worker off": with_rules(
        Schedule(_WORKERS, _ARMS, 4),
        Rules(absent=["worker 0"], at_most_one=[["arm 0", "arm 1"]], never=["arm 4"]),
    ),
    "path, must": with_rules(Walk(_KITE, 0, 8, 4), Rules(must=["node 3"])),
}


def unequal_doses() -> Problem:
    """Arms 0 and 1 are reached alike; doses add up to 0, 1, 1.5, 2.5, … and leave gaps."""
    doses = np.array([[0, 1, 1.5, 2.5], [0, 1, 1.5, 2.5], [0, 1, 2, 3], [0, 0.25, 0.5, 7]])
    influence = np.zeros((4, 6))
    influence[:2, :2] = [1, 1.5]
    influence[2, 1:4] = 1
    influence[3, 5] = 7
    kernels = np.broadcast_to(np.full((2, 2), 0.5), (4, 4, 2, 2))
    arms = Arms(np.tile([0.0, 1.0], (4, 1)), doses, kernels)
    return Problem(
        "unequal doses", arms, Budget([1, 1, 2, 1, 1, 1], 4), np.full((4, 2), 0.5), influence
    )


@cache
def problems() -> dict[str, Problem]:
    return {
        "interventions": FAMILIES["interventions"](arms=6, actions=7, budget=4, reach=2, group=3),
        "interventions, must": FAMILIES["interventions"](
            arms=5, actions=6, budget=3, reach=4, group=2, seed=1
        ).with_rules(Rules(must=["intervention 1"])),
        "unequal doses": unequal_doses(),
    }


@cache
def columns_of(name: str) -> ActionEncoding:
    """The columns of a space or, with dose indicators, of a problem."""
    if name in SPACES:
        return ActionEncoding.of_space(SPACES[name])
    return ActionEncoding.of_problem(problems()[name])


WITH_DOSES = ["interventions", "interventions, must", "unequal doses"]
EVERYTHING = [*SPACES, *WITH_DOSES]


@cache
def feasible_actions(name: str) -> np.ndarray:
    """Every action that the space allows, of all 2^N."""
    space = columns_of(name).space
    assert space.n_actions <= 8
    actions = np.array(list(np.ndindex(*[2] * space.n_actions)), dtype=np.int8)
    return actions[space.contains(actions)]


def forward(net: ReluNet, state: int, inputs: np.ndarray) -> float:
    """The value of one input for one state, layer by layer, as the formula of `ReluNet` says."""
    hidden = inputs
    for depth, matrix in enumerate(net.weights):
        bias = net.first_bias[state] if depth == 0 else net.biases[depth - 1]
        hidden = np.array(
            [max(0.0, float(row @ hidden + b)) for row, b in zip(matrix, bias, strict=True)]
        )
    total = float(net.constant[state] + net.linear[state] @ inputs)
    return total + (float(net.output @ hidden) if net.weights else 0.0)


def brute_force(name: str, net: ReluNet) -> np.ndarray:
    """The largest value over all feasible actions, for each state."""
    inputs = columns_of(name).encode(feasible_actions(name))
    return np.array([max(forward(net, b, x) for x in inputs) for b in range(len(net))])


# Networks.


def random_net(
    rng: np.random.Generator,
    inputs: int,
    widths: tuple[int, ...],
    batch: int = 3,
    weight: float = 1.0,
    bias: float = 1.0,
    shift: float = 0.0,
    linear: float = 0.3,
) -> ReluNet:
    """Draw a network; ``shift`` is added to all biases of the first layer."""
    sizes = [inputs, *widths]
    weights = tuple(
        weight * rng.standard_normal((b, a)) for a, b in zip(sizes[:-1], widths, strict=True)
    )
    first = widths[0] if widths else 0
    return ReluNet(
        weights,
        bias * rng.standard_normal((batch, first)) + shift,
        tuple(bias * rng.standard_normal(size) for size in widths[1:]),
        weight * rng.standard_normal(widths[-1]) if widths else np.empty(0),
        linear * rng.standard_normal((batch, inputs)),
        10 * rng.standard_normal(batch),
    )


def _duplicate_arms(rng: np.random.Generator, inputs: int) -> ReluNet:
    """All inputs are worth the same, so that many actions are equally good."""
    net = random_net(rng, inputs, (5, 4))
    same = np.repeat(net.weights[0][:, :1], inputs, axis=1)
    linear = np.repeat(net.linear[:, :1], inputs, axis=1)
    return ReluNet(
        (same, net.weights[1]), net.first_bias, net.biases, net.output, linear, net.constant
    )


def _zero_output(rng: np.random.Generator, inputs: int) -> ReluNet:
    net = random_net(rng, inputs, (4, 3))
    nothing = np.zeros(3)
    return ReluNet(net.weights, net.first_bias, net.biases, nothing, net.linear, net.constant)


def _nothing_at_all(rng: np.random.Generator, inputs: int) -> ReluNet:
    net = random_net(rng, inputs, (4, 3), linear=0.0)
    nothing = np.zeros(3)
    return ReluNet(net.weights, net.first_bias, net.biases, nothing, net.linear, 0 * net.constant)


def _whole_numbers(rng: np.random.Generator, inputs: int) -> ReluNet:
    """Weights that make neurons stand exactly at zero, and ties."""

    def draw(*shape: int) -> np.ndarray:
        return rng.integers(-2, 3, shape).astype(float)

    return ReluNet(
        (draw(4, inputs), draw(3, 4)), draw(3, 4), (draw(3),), draw(3), draw(3, inputs), draw(3)
    )


Maker = Callable[[np.random.Generator, int], ReluNet]


def _plain(*widths: int, **scales: float) -> Maker:
    return lambda rng, inputs: random_net(rng, inputs, widths, **scales)


MODERATE: dict[str, Maker] = {
    "linear": _plain(),
    "one layer": _plain(5),
    "one unit": _plain(1),
    "two layers": _plain(7, 3),
    "three layers": _plain(3, 5, 2),
    "narrow": _plain(6, 1, 3),
    "dead first layer": _plain(4, 3, shift=-50.0),
    "always on": _plain(4, 3, shift=50.0),
    "zero output": _zero_output,
    "nothing at all": _nothing_at_all,
    "duplicate arms": _duplicate_arms,
    "whole numbers": _whole_numbers,
}
EXTREME: dict[str, Maker] = {
    "huge weights": _plain(5, 3, weight=1e4),
    "huge weights, three layers": _plain(4, 3, 3, weight=3e3, bias=1e3),
    "huge biases": _plain(5, 3, bias=1e5),
    "tiny biases": _plain(5, 3, bias=1e-7),
    "tiny weights": _plain(5, 3, weight=1e-4, bias=1e-4, linear=1e-5),
    "tiny linear": _plain(linear=1e-8),
}
KINDS = MODERATE | EXTREME


def case(name: str, kind: str, seed: int = 0) -> ReluNet:
    """The network of one kind over the inputs of a space: three states."""
    key = [seed, *f"{name}/{kind}".encode()]
    return KINDS[kind](np.random.default_rng(key), columns_of(name).n_inputs)
