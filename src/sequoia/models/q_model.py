"""A trained Q-function: arrays, and no torch. Its form is written once for numpy and for torch.

``Q(s, a) = scale * network`` with
``network = value(z) + linear(z) @ x + output @ relu(... relu(W x + U z + b))``,
where ``z`` are the features of the state and ``x`` the inputs of the action (as `ActionEncoding`
encodes it). Everything but the last term is linear in the action, and the state only shifts the
first bias, so that the whole function of the action is a `ReluNet`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.validation import FloatArray, IntArray

Parameters = Mapping[str, Any]


def shapes(
    features: int, inputs: int, hidden: Sequence[int], value: int, linear: bool
) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter.

    Parameters
    ----------
    hidden
        Widths of the hidden layers that see state and action; they end up in the program.
    value
        Width of the hidden layer that sees the state alone; 0 for none. It shapes the constant
        and the linear part, and costs the program nothing.
    linear
        Whether there is a part linear in the action.
    """
    result: dict[str, tuple[int, ...]] = {"constant": ()}
    if value:
        result |= {"value.in": (value, features), "value.bias": (value,), "value.out": (value,)}
    if linear:
        result |= {"linear.state": (inputs, features), "linear.bias": (inputs,)}
        if value:
            result["linear.hidden"] = (inputs, value)
    if hidden:
        result |= {"state": (hidden[0], features), "action": (hidden[0], inputs)}
        result["bias.0"] = (hidden[0],)
        for layer, (before, after) in enumerate(pairwise(hidden), 1):
            result |= {f"weight.{layer}": (after, before), f"bias.{layer}": (after,)}
        result["output"] = (hidden[-1],)
    return result


def of_state(parameters: Parameters, features: Any) -> tuple[Any, Any, Any]:
    """Return what the state decides: first bias ``(B, P)``, linear ``(B, I)``, constant ``(B,)``.

    A part that the network does not have is ``None``.
    """
    first = linear = None
    constant = parameters["constant"] + 0.0 * features[:, 0]
    if "linear.state" in parameters:
        linear = features @ parameters["linear.state"].T + parameters["linear.bias"]
    if "value.in" in parameters:
        hidden = features @ parameters["value.in"].T + parameters["value.bias"]
        hidden = hidden.clip(min=0)
        constant = constant + hidden @ parameters["value.out"]
        if linear is not None:
            linear = linear + hidden @ parameters["linear.hidden"].T
    if "state" in parameters:
        first = features @ parameters["state"].T + parameters["bias.0"]
    return first, linear, constant


def of_pairs(parameters: Parameters, features: Any, inputs: Any) -> Any:
    """Return the value of each pair of features ``(B, F)`` and inputs ``(B, I)``, ``(B,)``."""
    first, linear, total = of_state(parameters, features)
    if linear is not None:
        total = total + (linear * inputs).sum(-1)
    if first is not None:
        hidden = (first + inputs @ parameters["action"].T).clip(min=0)
        for layer in range(1, n_hidden(parameters)):
            weight, bias = parameters[f"weight.{layer}"], parameters[f"bias.{layer}"]
            hidden = (hidden @ weight.T + bias).clip(min=0)
        total = total + hidden @ parameters["output"]
    return total


def n_hidden(parameters: Parameters) -> int:
    """Return the number of hidden layers that see the action."""
    return sum(name.startswith("bias.") for name in parameters)


@dataclass(frozen=True)
class View:
    """What the network sees of a state.

    Attributes
    ----------
    indicators
        The features of the environment; else the bare numbers of the state, as in the paper.
    time_feature
        Whether the share of the horizon that is left is a feature too.
    """

    indicators: bool = True
    time_feature: bool = True

    def features(self, environment: Environment, states: States, steps: IntArray) -> FloatArray:
        """Return the features, ``(B, F)``, of states at steps."""
        seen = environment.features(states) if self.indicators else states.astype(np.float64)
        if not self.time_feature:
            return seen
        left = 1 - np.asarray(steps) / environment.horizon
        return np.concatenate([seen, left[:, None]], axis=1)


# What the networks of rivals see: all there is.
FULL_VIEW = View(indicators=True, time_feature=True)


@dataclass(frozen=True, eq=False)
class QModel:
    """A `QFunction` that is a network.

    Attributes
    ----------
    columns
        Encodes the actions of the environment.
    parameters
        As `shapes` names them.
    scale
        What the network's values are multiplied by.
    """

    kind: ClassVar[str] = "q-network"

    environment: Environment
    columns: ActionEncoding
    view: View
    parameters: Mapping[str, NDArray[Any]]
    scale: float = 1.0

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return all numbers by name, and what the network sees."""
        arrays = {f"network.{name}": np.asarray(value) for name, value in self.parameters.items()}
        return arrays, {**asdict(self.view), "scale": self.scale}

    @classmethod
    def from_arrays(
        cls,
        environment: Environment,
        arrays: Mapping[str, NDArray[Any]],
        facts: Mapping[str, Any],
    ) -> Self:
        """Build it from what `to_arrays` returned."""
        view = View(bool(facts["indicators"]), bool(facts["time_feature"]))
        return cls(
            environment,
            ActionEncoding.of(environment),
            view,
            _under(arrays, "network."),
            float(facts["scale"]),
        )

    def fold(self, states: States, steps: IntArray) -> ReluNet:
        """Return the network over actions for every state, ``(B, D)``, and step, ``(B,)``."""
        return self._network(self.view.features(self.environment, states, np.asarray(steps)))

    def _network(self, features: FloatArray) -> ReluNet:
        own = {name: np.asarray(value, np.float64) for name, value in self.parameters.items()}
        first, linear, constant = of_state(own, features)
        if linear is None:
            linear = np.zeros((len(features), self.columns.n_inputs))
        constant = self.scale * constant
        if first is None:
            return ReluNet.of_linear(self.scale * linear, constant)
        later = range(1, n_hidden(own))
        return ReluNet(
            (own["action"], *(own[f"weight.{layer}"] for layer in later)),
            first,
            tuple(own[f"bias.{layer}"] for layer in later),
            self.scale * own["output"],
            self.scale * linear,
            constant,
        )


def _under(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin so, by the rest of their names."""
    return {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
