"""A trained model whose weights come from one network that all columns share."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sequoia.models.arm_neighbourhood import ArmNeighbourhood
from sequoia.models.factored_part import FactoredPart
from sequoia.models.graph_network import node_scores
from sequoia.models.joint_units import JointUnits
from sequoia.models.neighbourhood import ComponentNeighbourhood, Neighbourhood, WholeState
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Environment, Problem
from sequoia.problem.dependencies import dependencies_of
from sequoia.problem.environment import States
from sequoia.validation import FloatArray, IntArray

# Nodes times states that are computed together: what the layers hold then stays in the cache.
_TOGETHER = 20_000


@dataclass(frozen=True, eq=False)
class GraphModel:
    """``Q(s, a) = sum_i u_i(s) x_i``, up to what no action changes; beside it, joint units.

    The inputs x are those of `ActionEncoding`: columns, and dose levels where columns add up. Their
    weights are what they earn in the next step, where the environment tells, plus ``scale`` times
    the scores of the nodes that they reach. So the best action is that of a linear function over
    the space, exactly. Where the network scores 0, the model is the myopic policy; where it scores
    what a factored value function says of doses, a price policy; with ``is_joint``, that of `price`
    itself: a hidden layer adds what doses are worth together.

    Attributes
    ----------
    parameters
        As `graph_network.shapes` names them.
    is_joint
        Whether what ``factored`` knows of doses together, beyond their sum, is a part of Q.
    """

    kind: ClassVar[str] = "graph-network"

    environment: Environment
    encoding: ActionEncoding
    neighbourhood: Neighbourhood
    parameters: Mapping[str, NDArray[np.float32]]
    scale: float = 1.0
    factored: FactoredPart | None = None
    is_joint: bool = False

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the parameters by name, the values of clusters, and the scale."""
        arrays: dict[str, NDArray[Any]] = dict(self.parameters)
        if self.factored is None:
            return arrays, {"scale": self.scale}
        facts = {
            "scale": self.scale,
            "factored": self.factored.facts,
            "is_joint": self.is_joint,
        }
        return arrays | {"factored": self.factored.to_array()}, facts

    @classmethod
    def from_arrays(
        cls,
        environment: Environment,
        arrays: Mapping[str, NDArray[Any]],
        facts: Mapping[str, Any],
    ) -> Self:
        """Build it from what `to_arrays` returned."""
        encoding = ActionEncoding.of(environment)
        own, factored, is_joint = dict(arrays), None, False
        if isinstance(environment, Problem) and "factored" in facts:
            values = own.pop("factored")
            factored = FactoredPart.from_array(environment, values, **facts["factored"])
            is_joint = bool(facts["is_joint"])
        seen = neighbourhood_of(environment, encoding, factored)
        if own["in"].shape[0] != seen.n_features:
            raise ValueError(f"a node has {seen.n_features} features, not {len(own['in'])}")
        return cls(environment, encoding, seen, own, float(facts["scale"]), factored, is_joint)

    def fold(self, states: States, steps: IntArray) -> ReluNet:
        """Return the function of the inputs for every state, ``(B, D)``, and step."""
        linear = ReluNet.of_linear(self.weights(states, steps))
        units = self._joint_units
        if units is None:
            return linear
        return replace(
            linear,
            weights=(units.weights,),
            first_bias=units.biases(np.asarray(states), np.asarray(steps)),
            output=np.ones(len(units.weights)),
        )

    def weights(self, states: States, steps: IntArray) -> FloatArray:
        """Return ``u``, the weight of every input, ``(B, I)``."""
        states, steps = np.asarray(states), np.asarray(steps)
        total = next_step_weights(self.environment, self.encoding, states)
        if self._is_untrained:
            return total
        few = max(1, _TOGETHER // self.neighbourhood.n_nodes)
        for first in range(0, len(states), few):
            part = slice(first, first + few)
            total[part] += self.scale * self._scores(states[part], steps[part])
        return total

    def _scores(self, states: States, steps: IntArray) -> NDArray[Any]:
        own = self.neighbourhood
        scores = node_scores(self.parameters, own.see(states, steps), own.matrices)
        return own.outlets.collect(scores, self.encoding.n_inputs).T

    @cached_property
    def _joint_units(self) -> JointUnits | None:
        if self.factored is None or not self.is_joint:
            return None
        return JointUnits(self.factored, self.encoding)

    @cached_property
    def _is_untrained(self) -> bool:
        ends = (self.parameters[name] for name in ("out", "guess") if name in self.parameters)
        return not any(end.any() for end in ends)


def neighbourhood_of(
    environment: Environment, encoding: ActionEncoding, factored: FactoredPart | None = None
) -> Neighbourhood:
    """Return what a shared network sees: arms, components of a state, or the state as a whole."""
    if isinstance(environment, Problem):
        return ArmNeighbourhood(environment, encoding, factored)
    known = dependencies_of(environment)
    return WholeState(environment) if known is None else ComponentNeighbourhood(environment, known)


def next_step_weights(
    environment: Environment, encoding: ActionEncoding, states: States
) -> FloatArray:
    """Return what every input earns in the next step, ``(B, I)``; 0 where nothing tells."""
    if not isinstance(environment, Problem):
        return np.zeros((len(states), encoding.n_inputs))
    return encoding.objective(environment.dose_rewards(states))[0]
