"""What all rivals have in common: held-out episodes, the best network seen, checkpoints."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import torch
from pydantic import Field

from sequoia.evaluation.intervals import Estimate
from sequoia.learn.base import Learner, Round, Tensors, under
from sequoia.learn.config import Config
from sequoia.learn.held_out import HeldOut
from sequoia.learn.q_learning_config import SelectionSettings
from sequoia.learn.selection import Selection
from sequoia.learn.warm_start import first_samples
from sequoia.models.model import Model
from sequoia.problem import Environment
from sequoia.rng import stream
from sequoia.simulate.rollout import Actor
from sequoia.validation import FloatArray

# Transitions by which the size of rewards is measured; their mean need not be precise.
_MEASURED = 200


class RivalConfig(Config):
    """What rivals have in common.

    In each of ``rounds`` rounds, ``episodes`` episodes run side by side. ``hidden`` is the width
    of each network's one hidden layer, with ReLU.
    """

    selection: SelectionSettings = SelectionSettings(eval_freq=5, patience=1_000)
    rounds: int = Field(default=100, ge=0)
    episodes: int = Field(default=32, ge=1)
    hidden: int = Field(default=64, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0)


Settings = TypeVar("Settings", bound=RivalConfig)


class Rival(Learner[Settings]):
    """A learner of another paper.

    Each round draws from a stream of its own and begins new episodes, so that a checkpoint holds
    networks and their optimisers alone. The best network seen in the held-out episodes is the
    result, as it is for SEQUOIA.

    Attributes
    ----------
    scale
        What rewards are divided by, so that the reward of an episode is of size 1.
    """

    def __init__(self, environment: Environment, config: Settings, seed: int) -> None:
        super().__init__(environment, config, seed)
        episodes = config.selection.n_eval_episodes
        self._held_out = HeldOut(environment, episodes, seed)
        self.scale = 1.0
        self.selection: Selection[Tensors] = Selection({})

    @abstractmethod
    def learn(self, rng: np.random.Generator) -> float:
        """Learn for one round and return its loss."""

    @abstractmethod
    def actor(self) -> Actor:
        """Return the policy as it is now."""

    @abstractmethod
    def model(self) -> Model:
        """Return the model as it is now."""

    @abstractmethod
    def networks(self) -> Mapping[str, torch.nn.Module]:
        """Return every network by name."""

    @abstractmethod
    def optimizers(self) -> Mapping[str, torch.optim.Optimizer]:
        """Return every optimiser by name."""

    @property
    def is_done(self) -> bool:
        """Whether all rounds are done, or the last tries brought nothing."""
        own = self.config.selection
        enough = own.keep_best and self.selection.tries_since_best >= own.patience
        return self.is_last or enough

    def begin(self) -> Round:
        """Measure rewards, and see how good the first network is."""
        rng = stream(self.seed, "rival:begin")
        samples = first_samples(self.environment, _MEASURED, False, rng)
        size = float(np.abs(samples.rewards).mean()) * self.environment.horizon
        self.scale = size or 1.0
        return self._report(0.0, self._validate())

    def play_round(self) -> Round:
        """Learn for one round, and play the held-out episodes where they are due."""
        loss = self.learn(stream(self.seed, f"rival:{self.rounds}"))
        self.count_round()
        due = self.rounds % self.config.selection.eval_freq == 0 or self.is_last
        return self._report(loss, self._validate() if due else None)

    def _validate(self) -> FloatArray:
        return self._held_out.play(self.actor())

    def _report(self, loss: float, rewards: FloatArray | None) -> Round:
        if rewards is not None:
            self.selection.see(self._weights(), rewards)
        reward = None if rewards is None else self.selection.last_reward
        return Round(self.rounds, 0.0, loss, reward, self.selection.best_reward)

    def result(self) -> Model:
        """Return the model of the best networks seen, or of the last ones."""
        if self.config.selection.keep_best:
            self._set_weights(self.selection.best)
        return self.model()

    @property
    def result_reward(self) -> float:
        """What `result` earned when it was last played."""
        own = self.selection
        return own.best_reward if self.config.selection.keep_best else own.last_reward

    @property
    def gain(self) -> Estimate | None:
        """Of the best network over the first one, in the same held-out episodes."""
        return self.selection.gain if self.config.selection.keep_best else None

    def _weights(self) -> Tensors:
        return {
            f"{name}/{key}": value.detach().clone()
            for name, network in self.networks().items()
            for key, value in network.state_dict().items()
        }

    def _set_weights(self, weights: Tensors) -> None:
        for name, network in self.networks().items():
            network.load_state_dict(under(weights, f"{name}/"))

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """Return everything that changes."""
        tensors = {f"now/{name}": value for name, value in self._weights().items()}
        tensors |= {f"best/{name}": value for name, value in self.selection.best.items()}
        for name, optimizer in self.optimizers().items():
            for index, moments in optimizer.state_dict()["state"].items():
                tensors |= {f"adam/{name}/{index}/{key}": one for key, one in moments.items()}
        facts = {
            "rounds": self.rounds,
            "scale": self.scale,
            "selection": self.selection.facts(),
        }
        return tensors, facts

    def restore(self, tensors: Tensors, facts: dict[str, Any]) -> None:
        """Take over what `state` returned."""
        self.rounds, self.scale = facts["rounds"], facts["scale"]
        self.selection.restore(under(tensors, "best/"), facts["selection"])
        self._set_weights(under(tensors, "now/"))
        for name, optimizer in self.optimizers().items():
            moments: dict[int, dict[str, torch.Tensor]] = {}
            for key, value in under(tensors, f"adam/{name}/").items():
                index, _, last = key.partition("/")
                moments.setdefault(int(index), {})[last] = value
            optimizer.load_state_dict({**optimizer.state_dict(), "state": moments})
