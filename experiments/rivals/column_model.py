"""A policy that chooses one column at a time: arrays, and no torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sequoia.models.q_model import FULL_VIEW
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ColumnModel:
    """How much each next column is preferred, given the state and what is chosen so far.

    ``logits(z, a) = W relu(V [z, a] + b) + c``, one for each of N columns, the last for carrying
    out what is chosen.

    Attributes
    ----------
    parameters
        ``hidden.weight`` (H, F + N), ``hidden.bias`` (H,), ``choice.weight`` (N + 1, H) and
        ``choice.bias`` (N + 1,).
    """

    kind: ClassVar[str] = "columns"
    played_by: ClassVar[str] = "one-by-one"

    environment: Environment
    parameters: Mapping[str, NDArray[Any]]

    def logits(self, states: States, steps: IntArray, begun: ActionArray) -> FloatArray:
        """Return the preference of each choice, ``(B, N + 1)``, where ``begun`` is chosen."""
        own = {name: np.asarray(value, np.float64) for name, value in self.parameters.items()}
        features = FULL_VIEW.features(self.environment, states, steps)
        inputs = np.concatenate([features, begun], axis=1)
        hidden = (inputs @ own["hidden.weight"].T + own["hidden.bias"]).clip(min=0)
        result: FloatArray = hidden @ own["choice.weight"].T + own["choice.bias"]
        return result

    def fold(self, states: States, steps: IntArray) -> ReluNet:
        """Return how much rather each column is chosen first than none, as a linear function.

        It tells models apart; what the model would do is asked of the policy ``one-by-one``.
        """
        encoding = ActionEncoding.of(self.environment)
        nothing = np.zeros((len(states), self.environment.space.n_actions), np.int8)
        logits = self.logits(states, steps, nothing)
        linear = np.zeros((len(states), encoding.n_inputs))
        linear[:, : logits.shape[1] - 1] = logits[:, :-1] - logits[:, -1:]
        return ReluNet.of_linear(linear)

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return all numbers by name."""
        return {name: np.asarray(value) for name, value in self.parameters.items()}, {}

    @classmethod
    def from_arrays(
        cls,
        environment: Environment,
        arrays: Mapping[str, NDArray[Any]],
        facts: Mapping[str, Any],
    ) -> Self:
        """Build it from what `to_arrays` returned."""
        return cls(environment, dict(arrays))
