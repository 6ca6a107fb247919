"""The model of the one learner: what is known, learned scores of columns, and a joint part."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sequoia.models.factored_part import FactoredPart
from sequoia.models.joint_part import JointPart
from sequoia.models.known import Known, Nothing, factored, known_parts, priced
from sequoia.models.network import Network
from sequoia.models.price_part import PricePart
from sequoia.models.scores import LinearScores
from sequoia.models.sight import Sight
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Environment, capabilities_of
from sequoia.problem.environment import States
from sequoia.validation import FloatArray, IntArray

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class LearnedModel:
    """``Q(s, a) = known(s, a) + sum_i u_i(s, t) a_i + joint(s, a)``, up to what no action changes.

    Attributes
    ----------
    known
        What is known in closed form; see `Known`.
    sight
        What is seen of a state, with the structure that was declared or found.
    linear, network
        Scores u of columns, from what is seen around them; either may be missing.
    joint
        What columns are worth together, where it was learned.
    prices, part
        What ``known`` is made from, if it is made from prices.
    """

    kind: ClassVar[str] = "policy-improvement"

    environment: Environment
    encoding: ActionEncoding
    known: Known
    sight: Sight
    linear: LinearScores | None = None
    network: Network | None = None
    joint: JointPart | None = None
    prices: PricePart | None = None
    part: FactoredPart | None = None

    def scores(self, states: States, steps: IntArray) -> FloatArray:
        """Return what is learned of each column, ``(B, N)``."""
        found = np.zeros((len(states), self.sight.n_columns))
        for own in (self.linear, self.network):
            if own is not None:
                found += own.scores(states, steps)
        return found

    def weights(self, states: States, steps: IntArray) -> FloatArray:
        """Return the weight of every input, ``(B, I)``, beside what is joint."""
        scores = self.scores(states, steps)
        if self.known.name == Nothing.name and self.is_bare:
            # As little is done as is allowed.
            scores -= 1.0
        missing = self.encoding.n_inputs - scores.shape[1]
        return self.known.weights(states, steps, np.pad(scores, ((0, 0), (0, missing))))

    @property
    def n_inputs(self) -> int:
        """``I``, of the actions that it learned about."""
        return self.encoding.n_inputs

    @property
    def is_bare(self) -> bool:
        """Whether nothing was learned: the model is its base policy."""
        return self.linear is None and self.network is None and self.joint is None

    def fold(self, states: States, steps: IntArray) -> ReluNet:
        """Return the function of the inputs for every state, ``(B, D)``, and step."""
        states, steps = np.asarray(states), np.asarray(steps)
        linear = ReluNet.of_linear(self.weights(states, steps))
        if self.joint is not None:
            return self.joint.added_to(linear, states, steps)
        if self.known.units is not None:
            return self.known.units.added_to(linear, states, steps)
        return linear

    def learned_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the learned parts by name; sight and what is known are not among them."""
        arrays: Arrays = {}
        facts: dict[str, Any] = {"known": self.known.name, "units": self.known.units is not None}
        if self.linear is not None:
            arrays |= {"linear.weights": self.linear.weights, "linear.bias": self.linear.bias}
        for name, own in (("network", self.network), ("joint", self.joint)):
            if own is not None:
                arrays |= {f"{name}.{key}": value for key, value in own.parameters.items()}
                facts[name] = own.scale
        return arrays, facts

    def with_learned(self, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Self:
        """Return this model with the parts that `learned_arrays` returned."""
        linear = network = joint = None
        if "linear.weights" in arrays:
            linear = LinearScores(self.sight, arrays["linear.weights"], arrays["linear.bias"])
        if "network" in facts:
            own = under(arrays, "network.")
            network = Network(self.sight, False, own, float(facts["network"]))
        if "joint" in facts:
            joint = JointPart(self.sight, under(arrays, "joint."), float(facts["joint"]))
        return replace(self, linear=linear, network=network, joint=joint)

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return everything by name, and facts as JSON holds them."""
        arrays, facts = self.learned_arrays()
        arrays |= {f"sight.{name}": array for name, array in self.sight.to_arrays().items()}
        if self.prices is not None:
            arrays |= {f"prices.{name}": array for name, array in self.prices.to_arrays().items()}
        if self.part is not None:
            arrays["factored"] = self.part.to_array()
            facts["factored"] = self.part.facts
        return arrays, facts

    @classmethod
    def from_arrays(
        cls,
        environment: Environment,
        arrays: Mapping[str, NDArray[Any]],
        facts: Mapping[str, Any],
    ) -> Self:
        """Build it from what `to_arrays` returned."""
        encoding, sight = ActionEncoding.of(environment), Sight.from_arrays(under(arrays, "sight."))
        start = environment.draw_start(np.random.default_rng(0), 1)
        if sight.n_components != start.shape[1] or sight.n_columns != environment.space.n_actions:
            raise ValueError(f"it sees {sight.n_components} components of {start.shape[1]}")
        tables = under(arrays, "prices.")
        prices = PricePart(**tables) if tables else None
        part = None
        problem = capabilities_of(environment).problem
        if "factored" in facts and problem is not None:
            values = arrays["factored"]
            part = FactoredPart.from_array(problem, values, **facts["factored"])
        known = {own.name: own for own in known_parts(environment, encoding)}
        if prices is not None:
            known["price"] = priced(encoding, prices)
        if part is not None and problem is not None:
            known["price"] = factored(problem, encoding, part, bool(facts["units"]))
        model = cls(environment, encoding, known[facts["known"]], sight, prices=prices, part=part)
        return model.with_learned(arrays, facts)


def under(arrays: Mapping[str, NDArray[Any]], prefix: str) -> Arrays:
    """Return the arrays whose names begin so, by the rest of their names."""
    return {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
