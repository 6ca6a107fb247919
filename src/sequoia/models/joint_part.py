"""Scores of columns and what they are worth together: the paper's network, in the program."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sequoia.models.graph_network import node_scores, shapes
from sequoia.models.network import features
from sequoia.models.sight import Sight
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray, IntArray

Parameters = Mapping[str, Any]


def joint_shapes(seen: int, columns: int, hidden: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter."""
    own = {
        "state": (seen, hidden),
        "action": (columns, hidden),
        "bias": (hidden,),
        "output": (hidden,),
    }
    return shapes(seen, columns, 0, hidden, 1) | own


def joint_values(parameters: Parameters, seen: Any, actions: Any) -> Any:
    """Return the value of pairs of features, ``(B, F)``, and actions, ``(B, N)``."""
    scores = node_scores(parameters, seen[None], ())[0]
    hidden = seen @ parameters["state"] + actions @ parameters["action"] + parameters["bias"]
    return (scores * actions).sum(-1) + hidden.clip(min=0) @ parameters["output"]


@dataclass(frozen=True, eq=False)
class JointPart:
    """``scale * (u(z) . a + output . relu(S z + A a + b))``, z all that is seen of a state.

    u is a network of its own; only the last term goes into the program over actions.
    """

    sight: Sight
    parameters: Mapping[str, NDArray[np.float32]]
    scale: float

    def added_to(self, net: ReluNet, states: States, steps: IntArray) -> ReluNet:
        """Return a function of the inputs with this part added."""
        own = {name: np.asarray(a, np.float64) for name, a in self.parameters.items()}
        seen = features(self.sight, True, states, steps)[0].astype(np.float64)
        columns = len(own["action"])
        linear = net.linear.copy()
        linear[:, :columns] += self.scale * node_scores(own, seen[None], ())[0]
        weights = np.zeros((own["action"].shape[1], net.n_inputs))
        weights[:, :columns] = own["action"].T
        return replace(
            net,
            weights=(weights,),
            first_bias=seen @ own["state"] + own["bias"],
            output=self.scale * own["output"],
            linear=linear,
        )

    def values(self, states: States, steps: IntArray, actions: ActionArray) -> FloatArray:
        """Return what this part says of each pair of a state and an action, ``(B,)``."""
        seen = features(self.sight, True, states, steps)[0]
        found = joint_values(self.parameters, seen, actions.astype(np.float32))
        return np.asarray(self.scale * found, dtype=np.float64)
