"""A Q-network in training: what it says of states and actions, and what it should say."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from sequoia.learn.q_learning_config import QLearningConfig
from sequoia.learn.target_network import Single, TargetNetwork
from sequoia.models.q_model import QModel, View, of_pairs, shapes
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class StateBatch:
    """States ``(B, D)`` at steps ``(B,)``, with their features ``(B, F)``."""

    states: States
    steps: IntArray
    features: torch.Tensor


class QNetwork:
    """A Q-network with its target.

    Attributes
    ----------
    scale
        What the network's values are multiplied by.
    """

    def __init__(
        self,
        environment: Environment,
        columns: ActionEncoding,
        config: QLearningConfig,
        rng: np.random.Generator,
    ) -> None:
        self._environment, self._columns = environment, columns
        own = config.network
        self._view = View(own.indicators, own.time_feature)
        self._discount = config.gamma
        self.scale = 1.0
        start = environment.draw_start(np.random.default_rng(0), 1)
        features = self._features(start, np.zeros(1, np.int64)).shape[1]
        sizes = shapes(features, columns.n_inputs, own.hidden, own.value, own.linear)
        self.q = TargetNetwork(sizes, config, rng)

    def model(self, parameters: Mapping[str, torch.Tensor] | None = None) -> QModel:
        """Return the Q-function of ``parameters``; the online ones unless given."""
        chosen = self.q.online if parameters is None else parameters
        arrays = {name: w.detach().numpy().copy() for name, w in chosen.items()}
        return QModel(self._environment, self._columns, self._view, arrays, self.scale)

    def see(self, states: States, steps: IntArray) -> StateBatch:
        """Return states at steps with what the network sees of them."""
        return StateBatch(states, steps, torch.from_numpy(self._features(states, steps)))

    def fit(
        self, seen: StateBatch, actions: ActionArray, targets: FloatArray, weights: FloatArray
    ) -> Single:
        """Move Q of states and actions towards ``targets``; return how far off it was."""
        inputs = torch.from_numpy(self._columns.encode(actions).astype(np.float32))
        return self.q.descend(
            lambda weight: of_pairs(weight, seen.features, inputs),
            (targets / self.scale).astype(np.float32),
            weights.astype(np.float32),
        )

    def targets(self, steps: IntArray, rewards: FloatArray, ahead: FloatArray) -> FloatArray:
        """Return what the network should say of transitions, where ``ahead`` is what follows."""
        goes_on = steps + 1 < self._environment.horizon if self._view.time_feature else 1.0
        result: FloatArray = rewards + self._discount * goes_on * ahead
        return result

    def worth(self, seen: StateBatch, best: ActionArray) -> FloatArray:
        """Return the worth of states in which ``best`` is done, by the target network, ``(B,)``."""
        given = torch.from_numpy(self._columns.encode(best).astype(np.float32))
        said = self.q.ask_target(lambda weight: of_pairs(weight, seen.features, given))
        worth: FloatArray = self.scale * said
        return worth

    def _features(self, states: States, steps: IntArray) -> Single:
        return self._view.features(self._environment, states, steps).astype(np.float32)
