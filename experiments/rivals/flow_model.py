"""A policy of directions that a flow draws and critics choose from: arrays, and no torch.

A direction ``c`` on the unit sphere of R^N is a score for each of N columns; the action is
``argmax { c @ a : a feasible }``. A flow carries points from anywhere on the sphere to such
directions, by the velocity

``u(z, c, t) = V relu(W relu(S z + C c + T t + b) + d) + e``, less its part along ``c``,

from time 0 to 1, where ``z`` are the features of the state; two critics of the same form, without
time and with one output, say what a direction is worth. All is written once for numpy and for
torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sequoia.models.q_model import FULL_VIEW
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.rng import stream
from sequoia.validation import IntArray

Parameters = Mapping[str, Any]

FLOW = "flow"
CRITICS = ("critic0", "critic1")


def shapes(network: str, features: int, columns: int, hidden: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter of the flow, or of a critic."""
    is_flow = network == FLOW
    first = {"state": (hidden, features), "point": (hidden, columns), "bias0": (hidden,)}
    time = {"time": (hidden,)} if is_flow else {}
    second = {"weight1": (hidden, hidden), "bias1": (hidden,)}
    outputs = columns if is_flow else 1
    return first | time | second | {"weight2": (outputs, hidden), "bias2": (outputs,)}


def seen_part(parameters: Parameters, features: Any) -> Any:
    """Return what the state adds to the first layer, ``(B, H)``: the same all along the flow."""
    return features @ parameters["state"].T + parameters["bias0"]


def output(parameters: Parameters, seen: Any, points: Any, times: Any = None) -> Any:
    """Return what a network says of points ``(B, N)`` at times ``(B, 1)``, ``(B, outputs)``."""
    hidden = seen + points @ parameters["point"].T
    if times is not None:
        hidden = hidden + times * parameters["time"]
    hidden = hidden.clip(min=0) @ parameters["weight1"].T + parameters["bias1"]
    return hidden.clip(min=0) @ parameters["weight2"].T + parameters["bias2"]


def on_sphere(points: Any) -> Any:
    """Return points of length 1, ``(B, N)``."""
    return points / (_dot(points, points) ** 0.5 + 1e-8)


def tangent(vectors: Any, points: Any) -> Any:
    """Return vectors less their parts along ``points``: they then lie along the sphere."""
    return vectors - _dot(vectors, points) * points


def velocity(parameters: Parameters, seen: Any, points: Any, times: Any) -> Any:
    """Return where the flow moves points ``(B, N)`` on the sphere at ``times``."""
    return tangent(output(parameters, seen, points, times), points)


def carried(parameters: Parameters, seen: Any, points: Any, steps: int) -> Any:
    """Return where the flow carries points ``(B, N)`` from time 0 to 1, by Heun's method.

    Each step moves along the tangent and back to the sphere, which is the exponential map up to
    terms of third order in the length of the step.
    """
    size = 1 / steps
    for step in range(steps):
        slope = velocity(parameters, seen, points, step * size)
        ahead = on_sphere(points + size * slope)
        slope = (slope + velocity(parameters, seen, ahead, (step + 1) * size)) / 2
        points = on_sphere(points + size * tangent(slope, points))
    return points


def _dot(one: Any, other: Any) -> Any:
    return (one * other).sum(-1)[..., None]


@dataclass(frozen=True, eq=False)
class FlowModel:
    """The best of a few directions, which the flow carries from the same points in every state.

    So the policy is a function of the state, linear in the action.

    Attributes
    ----------
    parameters
        Of the flow and of the critics, as `shapes` names them, after their names and a dot.
    candidates
        How many directions there are to choose from.
    flow_steps
        Into how many steps the time of the flow is cut.
    """

    kind: ClassVar[str] = "flow"

    environment: Environment
    parameters: Mapping[str, NDArray[Any]]
    candidates: int
    flow_steps: int

    def fold(self, states: States, steps: IntArray) -> ReluNet:
        """Return the scores that the critics like best as linear functions."""
        flow, *critics = (self._of(name) for name in (FLOW, *CRITICS))
        features = FULL_VIEW.features(self.environment, states, steps).astype(np.float32)
        rows = np.repeat(np.arange(len(states)), self.candidates)
        begun = np.tile(self.starts, (len(states), 1))
        found = carried(flow, seen_part(flow, features)[rows], begun, self.flow_steps)
        rated = [output(own, seen_part(own, features)[rows], found)[:, 0] for own in critics]
        best = np.minimum(*rated).reshape(len(states), -1).argmax(axis=1)
        chosen = found.reshape(len(states), self.candidates, -1)[np.arange(len(states)), best]
        linear = np.zeros((len(states), ActionEncoding.of(self.environment).n_inputs))
        linear[:, : chosen.shape[1]] = chosen
        return ReluNet.of_linear(linear)

    @cached_property
    def starts(self) -> NDArray[np.float32]:
        """Where the flow begins, ``(candidates, N)``: anywhere on the sphere is as likely."""
        columns = self.environment.space.n_actions
        drawn = stream(0, "flow").standard_normal((self.candidates, columns))
        begun: NDArray[np.float32] = on_sphere(drawn).astype(np.float32)
        return begun

    def _of(self, name: str) -> dict[str, NDArray[Any]]:
        prefix = f"{name}."
        return {
            key.removeprefix(prefix): value
            for key, value in self.parameters.items()
            if key.startswith(prefix)
        }

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return all numbers by name, and how the flow is asked."""
        arrays = {name: np.asarray(value) for name, value in self.parameters.items()}
        return arrays, {"candidates": self.candidates, "flow_steps": self.flow_steps}

    @classmethod
    def from_arrays(
        cls,
        environment: Environment,
        arrays: Mapping[str, NDArray[Any]],
        facts: Mapping[str, Any],
    ) -> Self:
        """Build it from what `to_arrays` returned."""
        return cls(environment, dict(arrays), int(facts["candidates"]), int(facts["flow_steps"]))
