"""A trained model whose weights come from one network that all columns share, and what it sees."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sequoia.models.factored_part import FactoredPart
from sequoia.models.graph_network import node_scores
from sequoia.models.joint_units import JointUnits
from sequoia.models.neighbourhood import (
    ComponentNeighbourhood,
    Neighbourhood,
    Outlets,
    Single,
    WholeState,
    degrees,
    message_matrices,
)
from sequoia.models.next_step import NextStep, next_step_of
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Environment, Problem
from sequoia.problem.dependencies import dependencies_of
from sequoia.problem.environment import States
from sequoia.validation import FloatArray, IntArray

# Nodes times states that are computed together: what the layers hold then stays in the cache.
_TOGETHER = 20_000


class ArmNeighbourhood(Neighbourhood):
    """A node for every arm of a problem.

    Of each arm under its pressure: its state; the rewards of its states; the pressure; and by dose
    level, where it goes, what it then earns and presses. For dose levels above none, the difference
    to none is given, because that is what an action buys. Further what one unit less pressure would
    save the arm, its degrees, the time left, and the share of each state among all arms; and what
    each dose level changes in a factored value of the next state, where one is given.
    """

    def __init__(
        self, problem: Problem, encoding: ActionEncoding, factored: FactoredPart | None
    ) -> None:
        self._problem, self._factored = problem, factored
        models = _models(problem)
        # Arms with the same models share a row of the table.
        self._rows, self._row_of = np.unique(models, axis=0, return_inverse=True)
        self._row_of = self._row_of.reshape(-1)
        table = _table(problem, self._rows)
        self._n_pressures, self._n_states = table.shape[1:3]
        self._table = table.reshape(-1, table.shape[-1]).astype(np.float32)
        components = problem.dependencies.components
        self._degrees = degrees(components).astype(np.float32)
        self.n_nodes = problem.arms.n_arms
        self.n_features = self._table.shape[1] + 2 + 1 + self._n_states
        self.is_guessed = factored is not None
        if factored is not None:
            self.n_features += problem.arms.n_doses - 1
        self.matrices = message_matrices(components)
        node, level = np.nonzero(encoding.level_input >= 0)
        self.outlets = Outlets(node, level - 1, encoding.level_input[node, level])

    def see(self, states: States, steps: IntArray) -> Single:
        """Return the features of each arm in each state, ``(J, B, F)``."""
        states = np.asarray(states)
        row = self._row_of * self._n_pressures
        if self._problem.contagion is not None:
            row = row + self._problem.contagion.pressure(states)
        where = (row * self._n_states + states).T
        own = self._table.shape[1]
        seen = np.empty((*where.shape, self.n_features), dtype=np.float32)
        seen[:, :, :own] = self._table[where]
        seen[:, :, own : own + 2] = self._degrees[:, None]
        seen[:, :, own + 2] = 1 - np.asarray(steps) / self._problem.horizon
        for state in range(self._n_states):
            seen[:, :, own + 3 + state] = (states == state).mean(axis=1)
        if self._factored is not None:
            seen[:, :, own + 3 + self._n_states :] = self._factored.effects(states, steps)
        return seen


def _models(problem: Problem) -> IntArray:
    """Return the model that each arm follows under each pressure, ``(J, P)``."""
    if problem.contagion is None:
        return problem.arms.model[:, None]
    return problem.contagion.models


def _table(problem: Problem, models: IntArray) -> FloatArray:
    """Return what is seen of an arm by kind of arm, pressure and state, ``(R, P, S, F)``."""
    arms = problem.arms
    size, pressures, states = *models.shape, arms.n_states
    sources = np.zeros(states) if problem.contagion is None else problem.contagion.sources
    sources = sources / max(float(sources.max(initial=0)), 1.0)
    kernels = arms.kernels[models].transpose(0, 1, 3, 2, 4)  # (R, P, S, L, S)
    rewards = arms.rewards[models] / max(float(np.abs(arms.rewards).max()), 1e-12)
    earned = np.einsum("rpslt,rpt->rpsl", kernels, rewards)
    pressed = kernels @ sources
    lower = np.maximum(np.arange(pressures) - 1, 0)
    share = np.arange(pressures) / max(pressures - 1, 1)
    shape = (size, pressures, states)
    parts = [
        np.broadcast_to(np.eye(states), (*shape, states)),
        np.broadcast_to(rewards[:, :, None], (*shape, states)),
        np.broadcast_to(share[None, :, None, None], (*shape, 1)),
        _against_none(kernels).reshape(*shape, -1),
        _against_none(earned[..., None]).reshape(*shape, -1),
        _against_none(pressed[..., None]).reshape(*shape, -1),
        (earned[:, lower] - earned)[..., :1],
        (pressed[:, lower] - pressed)[..., :1],
    ]
    return np.concatenate(parts, axis=-1)


def _against_none(by_level: FloatArray) -> FloatArray:
    """Keep dose level 0, and of each other level the difference to it; levels are axis 3."""
    return np.concatenate([by_level[:, :, :, :1], by_level[:, :, :, 1:] - by_level[:, :, :, :1]], 3)


@dataclass(frozen=True, eq=False)
class GraphModel:
    """``Q(s, a) = sum_i u_i(s) x_i``, up to what no action changes; beside it, joint units.

    The inputs x are those of `ActionEncoding`: columns, and dose levels where columns add up. Their
    weights are what they earn in the next step, where the environment tells, plus ``scale`` times
    the scores of the nodes that they reach; see `NextStep` for rewards that are no sums. So the
    best action is that of a linear function over the space, exactly. Where the network scores 0,
    the model is the myopic policy; where it scores what a factored value function says of doses, a
    price policy; with ``is_joint``, that of `price` itself: a hidden layer adds what doses are
    worth together.

    Attributes
    ----------
    next_step
        What is known of the next step without learning.
    parameters
        As `graph_network.shapes` names them.
    is_joint
        Whether what ``factored`` knows of doses together, beyond their sum, is a part of Q.
    """

    kind: ClassVar[str] = "graph-network"

    environment: Environment
    encoding: ActionEncoding
    neighbourhood: Neighbourhood
    next_step: NextStep
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
        seen = neighbourhood_of(environment, encoding, factored, "guess" in own)
        if own["in"].shape[0] != seen.n_features:
            raise ValueError(f"a node has {seen.n_features} features, not {len(own['in'])}")
        known, scale = next_step_of(environment, encoding), float(facts["scale"])
        return cls(environment, encoding, seen, known, own, scale, factored, is_joint)

    def fold(self, states: States, steps: IntArray) -> ReluNet:
        """Return the function of the inputs for every state, ``(B, D)``, and step."""
        linear = ReluNet.of_linear(self.weights(states, steps))
        units = self._joint_units
        if units is None:
            return linear
        biases, tables = units.layer(np.asarray(states), np.asarray(steps))
        return replace(
            linear,
            weights=(units.weights,),
            first_bias=biases,
            output=np.ones(len(units.weights)),
            tables=tables,
        )

    def weights(self, states: States, steps: IntArray) -> FloatArray:
        """Return ``u``, the weight of every input, ``(B, I)``."""
        states, steps = np.asarray(states), np.asarray(steps)
        scores = np.zeros((len(states), self.encoding.n_inputs))
        few = max(1, _TOGETHER // self.neighbourhood.n_nodes)
        for first in range(0, 0 if self._is_untrained else len(states), few):
            part = slice(first, first + few)
            scores[part] = self.scale * self._scores(states[part], steps[part])
        return self.next_step.weights(states, scores)

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
    environment: Environment,
    encoding: ActionEncoding,
    factored: FactoredPart | None = None,
    is_guided: bool = False,
) -> Neighbourhood:
    """Return what a shared network sees: arms, components of a state, or the state as a whole.

    ``is_guided`` says whether components come with the environment's own guess of their scores.
    """
    if isinstance(environment, Problem):
        return ArmNeighbourhood(environment, encoding, factored)
    known = dependencies_of(environment)
    if known is None:
        return WholeState(environment)
    return ComponentNeighbourhood(environment, known, is_guided)
