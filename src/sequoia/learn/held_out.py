"""Episodes that no evaluation with the same seed sees, in which models are compared."""

from collections.abc import Sequence

import numpy as np

from sequoia.learn.learner import HELD_OUT
from sequoia.models.graph_model import GraphModel
from sequoia.optimize.auto import RolloutAuto
from sequoia.policies import Policy
from sequoia.problem import Environment, limits_of
from sequoia.problem.environment import States
from sequoia.simulate import Decisions, Scenarios, rollout
from sequoia.validation import FloatArray


class HeldOut:
    """The same episodes, with the same luck, for each model."""

    def __init__(
        self, environment: Environment, argmax: RolloutAuto, episodes: int, seed: int
    ) -> None:
        self._environment, self._argmax = environment, argmax
        self._scenarios = Scenarios.sample(environment, episodes, seed + HELD_OUT)

    def play(self, model: GraphModel) -> FloatArray:
        """Return what a model earns per step in each episode, ``(E,)``."""
        played = rollout(self._environment, _Greedy(model, self._argmax), self._scenarios)
        rewards: FloatArray = played.rewards.mean(axis=1)
        return rewards


class _Greedy(Policy):
    """The policy of a model, on a batch of states and without plans."""

    name = "greedy"

    def __init__(self, model: GraphModel, argmax: RolloutAuto) -> None:
        self._model, self._argmax = model, argmax

    def act(self, states: States, step: int, rngs: Sequence[np.random.Generator]) -> Decisions:  # noqa: ARG002
        """Return the best action of each state."""
        steps = np.full(len(states), step)
        limits = limits_of(self._model.environment, states, steps)
        net = self._model.fold(states, steps)
        return Decisions.of_actions(self._argmax.best_of(net, limits))
