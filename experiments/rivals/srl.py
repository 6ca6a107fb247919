"""Structured reinforcement learning (Hoppe et al., arXiv 2505.19053).

An actor gives every column a score, and a combinatorial layer, here our linear argmax, turns
scores into an action. No gradient passes through that layer. Instead scores are perturbed, a
critic rates the actions that come out, and the actor is drawn towards their softmax-weighted mean
by a Fenchel-Young loss (Blondel et al. 2020; with perturbations, Berthet et al. 2020).
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from pydantic import Field

from experiments.rivals.rival import Rival, RivalConfig
from experiments.rivals.scores import ByScores, ScoreArgmax, n_seen, score_model, seen
from sequoia.learn.base import Tensors, under
from sequoia.learn.q_learning_config import FULL_NETWORK, QLearningConfig
from sequoia.learn.q_network import QNetwork, StateBatch
from sequoia.learn.replay import Replay
from sequoia.models.q_model import QModel, of_pairs
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.rng import stream
from sequoia.validation import ActionArray, FloatArray, IntArray


class SrlConfig(RivalConfig):
    """Settings of ``srl``.

    After each step, ``gradient_steps`` batches of ``batch_size`` are learned. Scores are perturbed
    by Gaussian noise: of size ``explore`` when acting, which falls to half in the course of
    training, of size ``perturb`` for the ``candidates`` that the critic rates, and of size
    ``smooth`` for the ``samples`` of the Fenchel-Young loss. Candidates are weighted by a softmax
    of their values over ``temperature`` times their spread. The target critic takes over the share
    ``tau`` of the weights after each batch.
    """

    learner: ClassVar[str] = "srl"

    rounds: int = Field(default=60, ge=0)
    gradient_steps: int = Field(default=2, ge=1)
    batch_size: int = Field(default=64, ge=1)
    buffer_size: int = Field(default=10_000, ge=1)
    explore: float = Field(default=1.0, ge=0)
    perturb: float = Field(default=1.0, gt=0)
    candidates: int = Field(default=20, ge=1)
    temperature: float = Field(default=0.3, gt=0)
    smooth: float = Field(default=1.0, gt=0)
    samples: int = Field(default=10, ge=1)
    tau: float = Field(default=0.01, gt=0, le=1)


class Srl(Rival[SrlConfig]):
    """An actor over a combinatorial layer, and a critic that rates actions."""

    name: ClassVar[str] = "srl"
    settings = SrlConfig

    def __init__(self, environment: Environment, config: SrlConfig, seed: int) -> None:
        super().__init__(environment, config, seed)
        self._argmax = ScoreArgmax(environment)
        rng = stream(seed, "srl:weights")
        with torch.random.fork_rng():
            torch.manual_seed(int(rng.integers(2**31)))
            self._actor = torch.nn.Sequential(
                torch.nn.Linear(n_seen(environment), config.hidden),
                torch.nn.ReLU(),
                torch.nn.Linear(config.hidden, environment.space.n_actions),
            )
        self._descent = torch.optim.Adam(self._actor.parameters(), config.learning_rate)
        self._encoding = ActionEncoding.of(environment)
        self._critic = QNetwork(environment, self._encoding, _critic_settings(config), rng)
        self._replay = Replay(environment, config.buffer_size, 0.0)

    def learn(self, rng: np.random.Generator) -> float:
        """Play with perturbed scores, and learn after every step."""
        self._critic.scale = self.scale
        states = self.environment.draw_start(rng, self.config.episodes)
        losses: list[float] = []
        for step in range(self.environment.horizon):
            # Where one argmax takes milliseconds, a round has hundreds of thousands of them.
            if losses and self.is_over_time:
                break
            steps = np.full(len(states), step)
            actions = self._explore(states, steps, rng)
            noise = rng.random((len(states), self.environment.n_noise))
            rewards, following = self.environment.step(states, actions, noise)
            self._replay.add(states, steps, actions, rewards, following)
            states = following
            losses += [self._learn_batch(rng) for _ in range(self.config.gradient_steps)]
        return float(np.mean(losses))

    def _explore(self, states: States, steps: IntArray, rng: np.random.Generator) -> ActionArray:
        size = self.config.explore * (1 - 0.5 * self.rounds / max(1, self.config.rounds))
        scores = self._scores(states, steps)
        noisy = scores + size * _spread(scores) * _noise(rng, scores.shape)
        return self._argmax.best(noisy, states, steps)

    def _scores(self, states: States, steps: IntArray) -> torch.Tensor:
        with torch.no_grad():
            found: torch.Tensor = self._actor(seen(self.environment, states, steps))
        return found

    def _learn_batch(self, rng: np.random.Generator) -> float:
        places, weights = self._replay.sample(rng, self.config.batch_size, 0.0)
        states, steps = self._replay.states[places], self._replay.steps[places]
        self._learn_actor(states, steps, rng)
        last = self.environment.horizon - 1
        after = self._critic.see(self._replay.following[places], np.minimum(steps + 1, last))
        scores = self._scores(after.states, after.steps)
        acted = self._argmax.best(scores, after.states, after.steps)
        ahead = self._critic.worth(after, acted)
        targets = self._critic.targets(steps, self._replay.rewards[places], ahead)
        now = self._critic.see(states, steps)
        errors = self._critic.fit(now, self._replay.actions[places], targets, weights)
        return float((errors**2).mean())

    def _learn_actor(self, states: States, steps: IntArray, rng: np.random.Generator) -> None:
        """Take one step of the Fenchel-Young loss towards the mean of well rated actions.

        Its gradient by the scores is ``E[argmax (theta + smooth Z)] - target`` (Berthet et al.
        2020, proposition 3.1), so it needs no derivative of the layer.
        """
        own = self.config
        theta = self._actor(seen(self.environment, states, steps))
        size = own.perturb * _spread(theta.detach())[:, None]
        tried = self._perturbed(theta, states, steps, own.candidates, size, rng)
        target = self._target(states, steps, tried)
        mean = self._perturbed(theta, states, steps, own.samples, own.smooth, rng).mean(axis=1)
        gradient = torch.from_numpy((mean - target).astype(np.float32)) / len(states)
        self._descent.zero_grad()
        theta.backward(gradient)
        self._descent.step()

    def _perturbed(
        self,
        theta: torch.Tensor,
        states: States,
        steps: IntArray,
        count: int,
        size: float | torch.Tensor,
        rng: np.random.Generator,
    ) -> ActionArray:
        """Return the actions of perturbed scores, ``(B, count, N)``."""
        batch, columns = theta.shape
        noisy = theta.detach()[:, None] + size * _noise(rng, (batch, count, columns))
        rows = np.repeat(np.arange(batch), count)
        actions = self._argmax.best(noisy.reshape(-1, columns), states[rows], steps[rows])
        return actions.reshape(batch, count, columns)

    def _target(self, states: States, steps: IntArray, tried: ActionArray) -> FloatArray:
        """Return the mean of candidates, ``(B, N)``, weighted by a softmax of their values."""
        batch, count, columns = tried.shape
        rows = np.repeat(np.arange(batch), count)
        values = self._rate(states[rows], steps[rows], tried.reshape(-1, columns))
        values = values.reshape(batch, count)
        spread = values.std(axis=1, keepdims=True) + 1e-12
        values = (values - values.max(axis=1, keepdims=True)) / (self.config.temperature * spread)
        chances = np.exp(values)
        chances /= chances.sum(axis=1, keepdims=True)
        mean: FloatArray = (chances[:, :, None] * tried).sum(axis=1)
        return mean

    def _rate(self, states: States, steps: IntArray, actions: ActionArray) -> FloatArray:
        """Return the critic's value of actions, ``(B,)``, in units of an episode."""
        given: StateBatch = self._critic.see(states, steps)
        inputs = torch.from_numpy(self._encoding.encode(actions).astype(np.float32))
        with torch.no_grad():
            found = of_pairs(self._critic.q.online, given.features, inputs)
        values: FloatArray = found.numpy().astype(np.float64)
        return values

    def actor(self) -> ByScores:
        """Return the policy of the scores without noise."""
        return ByScores(self.environment, self._actor, self._argmax)

    def model(self) -> QModel:
        """Return the scores as a function linear in the action."""
        first, last = self._actor[0], self._actor[2]
        assert isinstance(first, torch.nn.Linear)
        assert isinstance(last, torch.nn.Linear)
        return score_model(self.environment, first, last)

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """Return everything that changes: the critic and what is remembered, too."""
        tensors, facts = super().state()
        tensors |= {f"critic/{name}": one for name, one in self._critic.q.state().items()}
        tensors |= {f"replay/{name}": one for name, one in self._replay.state().items()}
        facts |= {"batches": self._critic.q.batches, "replay": self._replay.count}
        return tensors, facts

    def restore(self, tensors: Tensors, facts: dict[str, Any]) -> None:
        """Take over what `state` returned."""
        super().restore(tensors, facts)
        self._critic.q.restore(under(tensors, "critic/"), facts["batches"])
        self._replay.restore(under(tensors, "replay/"), facts["replay"])

    def networks(self) -> Mapping[str, torch.nn.Module]:
        """Return the actor."""
        return {"actor": self._actor}

    def optimizers(self) -> Mapping[str, torch.optim.Optimizer]:
        """Return that of the actor."""
        return {"actor": self._descent}


def _spread(scores: torch.Tensor) -> torch.Tensor:
    """Return the standard deviation of the scores of each state, ``(B, 1)``, at least 1.

    The loss makes scores grow until their perturbation changes nothing; noise of a fixed size would
    then show the critic one action only.
    """
    return scores.std(dim=1, keepdim=True).clamp(min=1.0)


def _noise(rng: np.random.Generator, shape: tuple[int, ...]) -> torch.Tensor:
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32))


def _critic_settings(config: SrlConfig) -> QLearningConfig:
    """Return a Q-network whose target follows slowly."""
    return QLearningConfig.of(
        {
            "network": {**FULL_NETWORK, "hidden": (config.hidden,), "value": config.hidden},
            "gamma": 1.0,
            "adam_epsilon": 1e-8,
            "max_grad_norm": 10.0,
            "learning_rate": config.learning_rate,
            "target_update_interval": 1,
            "tau": config.tau,
        }
    )
