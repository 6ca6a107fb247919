"""A score for each action column by state: the actors of ``ppo-scores``, ``srl`` and ``lsflow``."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from sequoia.models.q_model import FULL_VIEW, QModel
from sequoia.optimize.auto import RolloutAuto
from sequoia.optimize.encoding import ActionEncoding
from sequoia.policies import Policy
from sequoia.problem import Environment, limits_of
from sequoia.problem.environment import States
from sequoia.simulate import Decisions
from sequoia.validation import ActionArray, IntArray


def seen(environment: Environment, states: States, steps: IntArray) -> torch.Tensor:
    """Return what networks see of states at steps, ``(B, F)``."""
    return torch.from_numpy(FULL_VIEW.features(environment, states, steps).astype(np.float32))


def n_seen(environment: Environment) -> int:
    """Return ``F``."""
    start = environment.draw_start(np.random.default_rng(0), 1)
    return int(FULL_VIEW.features(environment, start, np.zeros(1, np.int64)).shape[1])


def score_model(
    environment: Environment, hidden: torch.nn.Linear, output: torch.nn.Linear
) -> QModel:
    """Return the function ``a -> scores(z) @ a`` of a network with one hidden layer.

    ``scores(z) = W relu(V z + b) + c``. It is linear in the action, so its argmax over the space is
    what the policy ``sequoia`` finds, exactly.
    """
    encoding = ActionEncoding.of(environment)
    columns, width = output.weight.shape
    weight, bias = np.zeros((encoding.n_inputs, width)), np.zeros(encoding.n_inputs)
    weight[:columns] = output.weight.detach().numpy()
    bias[:columns] = output.bias.detach().numpy()
    parameters = {
        "constant": np.zeros(()),
        "value.in": hidden.weight.detach().numpy().copy(),
        "value.bias": hidden.bias.detach().numpy().copy(),
        "value.out": np.zeros(width),
        "linear.state": np.zeros((encoding.n_inputs, hidden.in_features)),
        "linear.bias": bias,
        "linear.hidden": weight,
    }
    return QModel(environment, encoding, FULL_VIEW, parameters)


class ScoreArgmax:
    """The feasible action of the largest sum of scores, within the limits of each state."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._argmax = RolloutAuto(ActionEncoding.of_space(environment.space))

    def best(self, scores: torch.Tensor, states: States, steps: IntArray) -> ActionArray:
        """Return an action for each row of scores, ``(B, N)``."""
        limits = limits_of(self._environment, states, steps)
        return self._argmax.best(scores.detach().numpy().astype(np.float64), limits)


class ByScores(Policy):
    """Acts by the scores of a network, on a batch of states and without plans."""

    name = "scores"

    def __init__(
        self,
        environment: Environment,
        network: Callable[[torch.Tensor], torch.Tensor],
        argmax: ScoreArgmax,
    ) -> None:
        self._environment, self._network, self._argmax = environment, network, argmax

    def act(self, states: States, step: int, rngs: Sequence[np.random.Generator]) -> Decisions:
        """Return the action of the largest sum of scores in each state."""
        steps = np.full(len(states), step)
        with torch.no_grad():
            scores = self._network(seen(self._environment, states, steps))
        return Decisions.of_actions(self._argmax.best(scores, states, steps))
