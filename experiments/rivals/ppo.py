"""What both forms of PPO share: a round of Stable-Baselines3, and its luck."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np
import torch
from pydantic import Field

from experiments.rivals.rival import Rival, RivalConfig
from sequoia.errors import ConfigError
from sequoia.problem import Environment
from sequoia.validation import IntArray


class PpoConfig(RivalConfig):
    """Settings of proximal policy optimisation; names are those of Stable-Baselines3.

    Each round plays and then learns it ``n_epochs`` times in batches of ``batch_size``. Nothing is
    discounted unless ``gamma`` says so: an episode has an end, and every step counts the same.
    """

    rounds: int = Field(default=60, ge=0)
    episodes: int = Field(default=128, ge=1)
    n_epochs: int = Field(default=10, ge=1)
    batch_size: int = Field(default=256, ge=1)
    gamma: float = Field(default=1.0, gt=0, le=1)
    gae_lambda: float = Field(default=0.95, ge=0, le=1)
    clip_range: float = Field(default=0.2, gt=0)
    ent_coef: float = Field(default=0.0, ge=0)


Settings = TypeVar("Settings", bound=PpoConfig)


class Ppo(Rival[Settings]):
    """PPO (Schulman et al. 2017) over an actor with one hidden layer and a critic with another."""

    def __init__(self, environment: Environment, config: Settings, seed: int) -> None:
        super().__init__(environment, config, seed)
        self._require()
        with _luck(np.random.default_rng(seed)):
            self._ppo = self._make()
        # Otherwise each batch leaves an empty folder for its log among the system's.
        from stable_baselines3.common.logger import Logger

        self._ppo.set_logger(Logger(folder=None, output_formats=[]))

    def _require(self) -> None:
        for library in ("stable_baselines3", "sb3_contrib"):
            if find_spec(library) is None:
                raise ConfigError(
                    f"{self.name} needs {library}, which is not installed; "
                    "pip install --editable experiments."
                )

    @abstractmethod
    def _make(self) -> Any:
        """Return the learner of Stable-Baselines3."""

    def _settings(self, n_steps: int) -> dict[str, Any]:
        own = self.config
        batches = _divisor(n_steps * own.episodes, own.batch_size)
        return {
            "n_steps": n_steps,
            "n_epochs": own.n_epochs,
            # Batches of one size, about that of the settings: the last would be a small one.
            "batch_size": n_steps * own.episodes // batches,
            "learning_rate": own.learning_rate,
            "gamma": own.gamma,
            "gae_lambda": own.gae_lambda,
            "clip_range": own.clip_range,
            "ent_coef": own.ent_coef,
            "device": "cpu",
            "policy_kwargs": {
                "net_arch": {"pi": [own.hidden], "vf": [own.hidden]},
                "activation_fn": torch.nn.ReLU,
            },
        }

    def learn(self, rng: np.random.Generator) -> float:
        """Play one batch of episodes and learn from it."""
        ppo = self._ppo
        ppo.env.scale, ppo.env.rng = self.scale, rng
        with _luck(rng):
            ppo.learn(ppo.n_steps * ppo.n_envs)
        return float(ppo.logger.name_to_value.get("train/value_loss", 0.0))

    def networks(self) -> Mapping[str, torch.nn.Module]:
        """Actor and critic are one module."""
        return {"policy": self._ppo.policy}

    def optimizers(self) -> Mapping[str, torch.optim.Optimizer]:
        """They share one optimiser."""
        return {"policy": self._ppo.policy.optimizer}

    @property
    def _hidden(self) -> Any:
        return self._ppo.policy.mlp_extractor.policy_net[0]

    @property
    def _output(self) -> Any:
        return self._ppo.policy.action_net


def _divisor(steps: int, batch: int) -> int:
    """Return into how many equal batches of at most ``batch`` so many steps are cut."""
    least = -(-steps // batch)
    return next(count for count in range(least, steps + 1) if steps % count == 0)


@contextmanager
def _luck(rng: np.random.Generator) -> Iterator[None]:
    """Let the global generators, which Stable-Baselines3 draws from, follow ``rng`` for a while."""
    seeds: IntArray = rng.integers(0, 2**31, 2)
    before, ours = np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    np.random.seed(int(seeds[0]))  # noqa: NPY002
    torch.manual_seed(int(seeds[1]))
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
        torch.set_rng_state(ours)
