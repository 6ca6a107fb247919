"""Everything that changes while learning, in one file that is written at once."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as write_tensors

from sequoia.errors import FileError
from sequoia.io import write_bytes
from sequoia.learn.config import TrainConfig
from sequoia.learn.replay import Replay
from sequoia.learn.trainer import Trainer
from sequoia.models.price_part import PricePart
from sequoia.problem import Environment

NAME = "checkpoint.safetensors"
_COUNTS = ("rounds", "steps", "best_reward", "tries_since_best", "bound")


def save_checkpoint(folder: Path, trainer: Trainer, extra: dict[str, Any]) -> None:
    """Write a checkpoint; ``extra`` is any JSON that belongs to it."""
    learner, replay = trainer.learner, trainer.replay
    parts = {f"q.{name}": value for name, value in learner.q.state().items()}
    parts |= {f"critic.{name}": value for name, value in learner.critic.state().items()}
    parts |= {f"best.{name}": value for name, value in trainer.best.items()}
    parts |= {f"replay.{name}": torch.from_numpy(getattr(replay, name)) for name in Replay.FIELDS}
    if learner.prices is not None:
        own = learner.prices
        names = ("q_values", "values", "offset", "payback")
        parts |= {f"prices.{name}": torch.from_numpy(getattr(own, name)) for name in names}
    about = {
        "identity": identity(trainer.environment, trainer.config, trainer.seed),
        "counts": {name: getattr(trainer, name) for name in _COUNTS},
        "batches": [learner.q.batches, learner.critic.batches],
        "scale": learner.scale,
        "replay": replay.count,
        "memo": [trainer.cache.hits, trainer.cache.misses],
        "rng": trainer.rng.bit_generator.state,
        "extra": extra,
    }
    content = write_tensors(
        {name: value.contiguous().clone() for name, value in parts.items()},
        {"about": json.dumps(about)},
    )
    write_bytes(folder / NAME, content)


def restore_checkpoint(folder: Path, trainer: Trainer) -> dict[str, Any]:
    """Bring ``trainer`` to where the checkpoint was written, and return what was kept with it.

    Raises
    ------
    FileError
        When the file is damaged, or of another problem, configuration or seed.
    """
    path = folder / NAME
    try:
        with safe_open(path, framework="pt") as file:
            about = json.loads(file.metadata()["about"])
            parts = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            found = about["identity"]
    except (OSError, SafetensorError, KeyError, ValueError, TypeError):
        raise FileError(f"{path} is not a checkpoint that can be read.") from None
    require_same(path, found, identity(trainer.environment, trainer.config, trainer.seed))
    learner, replay = trainer.learner, trainer.replay
    for name in _COUNTS:
        setattr(trainer, name, about["counts"][name])
    learner.q.restore(_under(parts, "q."), about["batches"][0])
    learner.critic.restore(_under(parts, "critic."), about["batches"][1])
    learner.scale = about["scale"]
    trainer.best = _under(parts, "best.")
    for name, value in _under(parts, "replay.").items():
        getattr(replay, name)[:] = value.numpy()
    replay.count = about["replay"]
    prices = {name: value.numpy() for name, value in _under(parts, "prices.").items()}
    learner.prices = PricePart(**prices) if prices else None
    trainer.cache.hits, trainer.cache.misses = about["memo"]
    trainer.rng.bit_generator.state = about["rng"]
    extra: dict[str, Any] = about["extra"]
    return extra


def identity(environment: Environment, config: TrainConfig, seed: int) -> dict[str, Any]:
    """Return what must be the same for a training to be continued."""
    own = {"fingerprint": environment.fingerprint, "seed": seed}
    return own | config.model_dump(mode="json")


def require_same(path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise a `FileError` that names the first thing in which ``found`` differs."""
    for name, value in wanted.items():
        if found.get(name) != value:
            raise FileError(
                f"{path} was written with {name} {found.get(name)}; {value} is asked for now. Go "
                "on with the same problem, seed and settings, or train into another folder."
            )


def _under(parts: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    found = {name: value for name, value in parts.items() if name.startswith(prefix)}
    return {name.removeprefix(prefix): value for name, value in found.items()}
