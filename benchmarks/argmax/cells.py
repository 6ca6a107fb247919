"""What is measured: a setting, a size and a trained network, the same for every competitor."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Problem
from sequoia.problem.families import FAMILIES

FOLDER = Path("out/bench")
SETTINGS = ("standard", "interventions", "scheduling", "capacity", "routing")
SIZES = (20, 40, 100)
NETWORKS = ("32-32", "64-64", "linear+16-16")
STEPS = 1000  # of training
BATCH = 64
BATCHES = 3
STATES = 1 + BATCH * BATCHES  # the first is for warming up

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """One cell of the table, by name."""

    setting: str
    arms: int
    network: str
    seed: int = 1

    @property
    def name(self) -> str:
        """A name for files and messages."""
        return f"{self.setting}-{self.arms}-{self.network}-{self.seed}"

    @property
    def has_linear_part(self) -> bool:
        """Whether the network has a part that is linear in the action."""
        return self.network.startswith("linear+")

    @property
    def hidden(self) -> list[int]:
        """Width of each hidden layer."""
        return [int(width) for width in self.network.removeprefix("linear+").split("-")]

    @cached_property
    def problem(self) -> Problem:
        """The problem of this setting and size."""
        return FAMILIES[self.setting](arms=self.arms, seed=self.seed)

    @property
    def file(self) -> Path:
        """Where the trained network is kept; another problem is another file."""
        version = f"{STEPS}-{STATES}-{self.problem.fingerprint[:8]}"
        return FOLDER / "networks" / f"{self.name}-{version}.npz"


@dataclass(frozen=True, eq=False)
class Case:
    """A trained network and states to maximise it in.

    Attributes
    ----------
    weights, biases
        Of every layer; the first sees the action, then the state of each arm one-hot.
    table
        Weight of acting on each arm by its state, ``(J, S)``; zero without a linear part.
    states
        ``(STATES, J)``; the first is for warming up.
    """

    problem: Problem
    weights: list[Floats]
    biases: list[Floats]
    table: Floats
    states: NDArray[np.int64]

    @classmethod
    def of(cls, cell: Cell) -> "Case":
        """Read the network that was trained for ``cell``."""
        with np.load(cell.file) as data:
            depth = len(cell.hidden) + 1
            weights = [data[f"weight_{layer}"] for layer in range(depth)]
            biases = [data[f"bias_{layer}"] for layer in range(depth)]
            return cls(cell.problem, weights, biases, data["table"], data["states"])

    @property
    def n_actions(self) -> int:
        """Number of action columns."""
        return self.problem.space.n_actions

    @cached_property
    def one_hot(self) -> Floats:
        """The state inputs of the network, ``(STATES, J * S)``."""
        return one_hot(self.states, self.problem.arms.n_states)

    @cached_property
    def linear(self) -> Floats:
        """Weight of each action column in each state, ``(STATES, N)``."""
        arms = np.arange(self.problem.arms.n_arms)
        return self.table[arms, self.states] @ reach(self.problem)

    @cached_property
    def net(self) -> ReluNet:
        """Our form: the state is folded into the first bias."""
        by_action, by_state = np.split(self.weights[0], [self.n_actions], axis=1)
        return ReluNet(
            weights=(np.ascontiguousarray(by_action), *self.weights[1:-1]),
            first_bias=self.one_hot @ by_state.T + self.biases[0],
            biases=tuple(self.biases[1:-1]),
            output=self.weights[-1][0],
            linear=self.linear,
            constant=np.full(len(self.states), self.biases[-1][0]),
        )


def one_hot(states: NDArray[np.int64], size: int) -> Floats:
    return np.eye(size)[states].reshape(len(states), -1)


def reach(problem: Problem) -> Floats:
    """Return which action column reaches which arm, ``(J, N)``."""
    return (problem.influence.toarray() > 0).astype(np.float64)
