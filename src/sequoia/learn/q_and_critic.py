"""What is learned: Q over states and actions and, beside it, the worth of states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from sequoia.learn.q_learning_config import QLearningConfig
from sequoia.learn.target_network import Single, TargetNetwork
from sequoia.models.price_part import PricePart
from sequoia.models.q_model import QModel, View, of_pairs, of_state, shapes
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


class QAndCritic:
    """A Q-network over a price part and, if wanted, a critic.

    Worth is counted from what prices think of a state; without prices, from 0. So with a price
    part the network answers only for what prices miss: the reward and the expected worth of the
    next state by prices are in the price part already.

    Attributes
    ----------
    scale
        What the networks' values are multiplied by.
    prices
        The price part, if there is one.
    """

    def __init__(
        self,
        environment: Environment,
        columns: ActionEncoding,
        config: QLearningConfig,
        hidden: Sequence[int],
        rng: np.random.Generator,
    ) -> None:
        self._environment, self._columns = environment, columns
        own = config.network
        self._view = View(own.indicators, own.time_feature)
        self.prices: PricePart | None = None
        self.scale = 1.0
        self.discount = _discount(environment, config)
        start = environment.draw_start(np.random.default_rng(0), 1)
        features = self._features(start, np.zeros(1, np.int64)).shape[1]
        sizes = shapes(features, columns.n_inputs, hidden, own.value, own.linear)
        self.q = TargetNetwork(sizes, config, rng)
        self.critic = TargetNetwork(shapes(features, 0, (), own.critic, False), config, rng)

    @property
    def has_prices(self) -> bool:
        """Whether there is a price part."""
        return self.prices is not None

    def model(self, parameters: Mapping[str, torch.Tensor] | None = None) -> QModel:
        """Return the Q-function of ``parameters``; the online ones unless given."""
        chosen = self.q.online if parameters is None else parameters
        arrays = {name: w.detach().numpy().copy() for name, w in chosen.items()}
        return QModel(self._environment, self._columns, self._view, arrays, self.scale, self.prices)

    def see(self, states: States, steps: IntArray) -> StateBatch:
        """Return states at steps with what the networks see of them."""
        return StateBatch(states, steps, torch.from_numpy(self._features(states, steps)))

    def fit_q(
        self, seen: StateBatch, actions: ActionArray, targets: FloatArray, weights: FloatArray
    ) -> Single:
        """Move Q of states and actions towards ``targets``; return how far off it was."""
        inputs = torch.from_numpy(self._columns.encode(actions).astype(np.float32))
        return self.q.descend(
            lambda weight: of_pairs(weight, seen.features, inputs),
            (targets / self.scale).astype(np.float32),
            weights.astype(np.float32),
        )

    def fit_critic(self, seen: StateBatch, targets: FloatArray) -> Single:
        """Move the worth of states towards ``targets``; return how far off it was."""
        return self.critic.descend(
            lambda weight: of_state(weight, seen.features)[2],
            (targets / self.scale).astype(np.float32),
            np.ones(len(targets), np.float32),
        )

    def targets(self, steps: IntArray, rewards: FloatArray, ahead: FloatArray) -> FloatArray:
        """Return what the network should say of transitions, ``(B,)``.

        Parameters
        ----------
        ahead
            Worth of the next states, from `worth_by_action` or `worth_by_critic`.
        """
        goes_on = steps + 1 < self._environment.horizon if self._view.time_feature else 1.0
        now = 0.0 if self.has_prices else rewards
        result: FloatArray = now + self.discount * goes_on * ahead
        return result

    def worth_by_action(self, seen: StateBatch, best: ActionArray) -> FloatArray:
        """Return the worth of states in which ``best`` is done, by the target network, ``(B,)``."""
        inputs = self._columns.encode(best)
        given = torch.from_numpy(inputs.astype(np.float32))
        said = self.q.ask_target(lambda weight: of_pairs(weight, seen.features, given))
        worth: FloatArray = self.scale * said
        if self.prices is None:
            return worth
        table, offset = self.prices.levels(seen.states, seen.steps)
        linear, constant = self._columns.objective(table)
        worth += (linear * inputs).sum(axis=1) + constant + offset
        worth -= self.prices.state_values(seen.states, seen.steps)
        return worth

    def worth_by_critic(self, seen: StateBatch) -> FloatArray:
        """Return the worth of states by the target critic, ``(B,)``."""
        said = self.critic.ask_target(lambda weight: of_state(weight, seen.features)[2])
        worth: FloatArray = self.scale * said
        return worth

    def _features(self, states: States, steps: IntArray) -> Single:
        return self._view.features(self._environment, states, steps).astype(np.float32)


def _discount(environment: Environment, config: QLearningConfig) -> float:
    """Return the weight of the next step: an episode that ends counts each step the same."""
    if config.gamma is not None:
        return config.gamma
    return 1.0 if config.network.time_feature else environment.discount
