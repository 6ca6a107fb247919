"""The policy of a model while it is learned: many states at once, and no plans."""

from collections.abc import Sequence

import numpy as np

from sequoia.models.graph_model import GraphModel
from sequoia.optimize.auto import RolloutAuto
from sequoia.policies import Policy
from sequoia.problem import limits_of
from sequoia.problem.environment import States
from sequoia.simulate import Decisions


class GreedyModel(Policy):
    """Takes the best action of each state by a model."""

    name = "greedy"

    def __init__(self, model: GraphModel, argmax: RolloutAuto) -> None:
        self._model, self._argmax = model, argmax

    def act(self, states: States, step: int, rngs: Sequence[np.random.Generator]) -> Decisions:  # noqa: ARG002
        """Return the best action of each state."""
        steps = np.full(len(states), step)
        limits = limits_of(self._model.environment, states, steps)
        net = self._model.fold(states, steps)
        return Decisions.of_actions(self._argmax.best_of(net, limits))
