"""Trains the networks once and keeps them on disk, so that all competitors see the same."""

import numpy as np
import torch
from cells import STATES, STEPS, Cell, Floats, one_hot, reach
from numpy.typing import NDArray

from sequoia.problem import Problem

BATCH = 256
DRAWN = 2000
DISCOUNT = 0.9
WORTH_OF_MANY = 2.0  # the target also rises with the root of the number of chosen columns

Actions = NDArray[np.int8]


class Network(torch.nn.Module):
    """A ReLU network of action and state; if wanted, with a price for acting on each arm."""

    def __init__(self, inputs: int, hidden: list[int], prices: Floats | None, reach: Floats):
        super().__init__()
        layers: list[torch.nn.Module] = []
        for width in hidden:
            layers += [torch.nn.Linear(inputs, width), torch.nn.ReLU()]
            inputs = width
        self.layers = torch.nn.Sequential(*layers, torch.nn.Linear(inputs, 1))
        has_prices = prices is not None
        start = np.zeros((len(reach), 1)) if prices is None else prices
        table = torch.tensor(start, dtype=torch.float32)
        self.table = torch.nn.Parameter(table, requires_grad=has_prices)
        self.reach = torch.tensor(reach.T, dtype=torch.float32) if has_prices else None

    def forward(self, actions: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        """Return the value of each pair."""
        value = self.layers(torch.cat([actions, states], dim=1))[:, 0]
        if self.reach is None:
            return value
        prices = (states.reshape(len(states), *self.table.shape) * self.table).sum(dim=2)
        return value + (prices * (actions @ self.reach)).sum(dim=1)


def ensure(cell: Cell) -> float:
    """Train the network of ``cell`` unless it is on disk; return its loss in variances."""
    if not cell.file.exists():
        cell.file.parent.mkdir(parents=True, exist_ok=True)
        _train(cell)
    with np.load(cell.file) as data:
        return float(data["loss"])


def arm_values(problem: Problem) -> Floats:
    """Return the long-run value of each arm by dose and state, acted on now and then later."""
    kernels = problem.arms.kernels[problem.arms.model]
    rewards = problem.arms.rewards[problem.arms.model]
    value = np.zeros_like(rewards)
    for _ in range(12):
        after = np.einsum("jlst,jt->jls", kernels, rewards + DISCOUNT * value)
        value = 0.7 * after[:, 0] + 0.3 * after[:, -1]
    return np.einsum("jlst,jt->jls", kernels, rewards + DISCOUNT * value)


def _train(cell: Cell) -> None:
    torch.manual_seed(cell.seed)
    torch.set_num_threads(1)
    rng = np.random.default_rng(cell.seed)
    problem = cell.problem
    values = arm_values(problem)
    drawn = np.array([problem.space.sample(rng).action for _ in range(DRAWN)])
    _, _, target = _sample(problem, drawn, values, rng, 4096)
    mean, scale = target.mean(), target.std()
    prices = (values[:, -1] - values[:, 0]) / scale if cell.has_linear_part else None
    inputs = problem.space.n_actions + problem.arms.n_arms * problem.arms.n_states
    network = Network(inputs, cell.hidden, prices, reach(problem))
    wanted = [parameter for parameter in network.parameters() if parameter.requires_grad]
    optimiser = torch.optim.Adam(wanted, lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    losses = []
    for _ in range(STEPS):
        actions, states, target = _sample(problem, drawn, values, rng, BATCH)
        found = network(_tensor(actions), _tensor(one_hot(states, problem.arms.n_states)))
        loss = ((found - _tensor((target - mean) / scale)) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
    _save(cell, network, mean, scale, float(np.mean(losses[-20:])))


def _sample(
    problem: Problem, drawn: Actions, values: Floats, rng: np.random.Generator, size: int
) -> tuple[Actions, NDArray[np.int64], Floats]:
    """Return random actions, half of them with random flips, random states and their targets."""
    arms = np.arange(problem.arms.n_arms)
    actions = drawn[rng.integers(0, len(drawn), size)]
    flips = (rng.random(actions.shape) < 0.1) & (rng.random((size, 1)) < 0.5)
    actions = np.where(flips, 1 - actions, actions)
    states = rng.integers(0, problem.arms.n_states, (size, len(arms)))
    total = values[arms, problem.levels(actions), states].sum(axis=1)
    return actions, states, total + WORTH_OF_MANY * np.sqrt(actions.sum(axis=1))


def _tensor(array: NDArray[np.generic]) -> torch.Tensor:
    return torch.tensor(array, dtype=torch.float32)


def _save(cell: Cell, network: Network, mean: float, scale: float, loss: float) -> None:
    """Write the network, its output in the unit of the target."""
    linear = [layer for layer in network.layers if isinstance(layer, torch.nn.Linear)]
    weights = [layer.weight.detach().numpy().astype(np.float64) for layer in linear]
    biases = [layer.bias.detach().numpy().astype(np.float64) for layer in linear]
    weights[-1], biases[-1] = weights[-1] * scale, biases[-1] * scale + mean
    shape = (cell.problem.arms.n_arms, cell.problem.arms.n_states)
    table = np.broadcast_to(network.table.detach().numpy().astype(np.float64) * scale, shape)
    rng = np.random.default_rng([cell.seed, 1])
    np.savez(
        cell.file,
        table=table,
        states=rng.integers(0, shape[1], (STATES, shape[0])),
        loss=loss,
        **{f"weight_{index}": weight for index, weight in enumerate(weights)},
        **{f"bias_{index}": bias for index, bias in enumerate(biases)},
    )
