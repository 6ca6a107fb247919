"""Everything that changes while learning, in one file that is written at once."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save as write_tensors

from sequoia.errors import FileError
from sequoia.io import write_bytes
from sequoia.learn.base import Learner
from sequoia.learn.config import Config
from sequoia.problem import Environment
from sequoia.solvers.registry import DEFAULT, used_solver

NAME = "checkpoint.safetensors"


def save_checkpoint(folder: Path, learner: Learner[Any], extra: dict[str, Any]) -> None:
    """Write a checkpoint; ``extra`` is any JSON that belongs to it."""
    tensors, facts = learner.state()
    about = {
        "identity": identity(learner.environment, learner.config, learner.seed),
        "facts": facts,
        "extra": extra,
    }
    content = write_tensors(
        {name: value.contiguous().clone() for name, value in tensors.items()},
        {"about": json.dumps(about)},
    )
    write_bytes(folder / NAME, content)


def require_own_checkpoint(
    folder: Path, environment: Environment, config: Config, seed: int
) -> None:
    """Raise a `FileError` unless the checkpoint is of this problem, configuration and seed.

    It takes no time, so it is asked before anything else is done.
    """
    path = folder / NAME
    with _opened(path) as file:
        found = _about(path, file)["identity"]
    require_same(path, found, identity(environment, config, seed))


def restore_checkpoint(folder: Path, learner: Learner[Any]) -> dict[str, Any]:
    """Bring ``learner`` to where the checkpoint was written, and return what was kept with it.

    Raises
    ------
    FileError
        When the file is damaged.
    """
    path = folder / NAME
    with _opened(path) as file:
        about = _about(path, file)
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    learner.restore(tensors, about["facts"])
    extra: dict[str, Any] = about["extra"]
    return extra


def _opened(path: Path) -> Any:
    try:
        return safe_open(path, framework="pt")
    except (OSError, SafetensorError):
        raise FileError(f"{path} is not a checkpoint that can be read.") from None


def _about(path: Path, file: Any) -> dict[str, Any]:
    try:
        about: dict[str, Any] = json.loads(file.metadata()["about"])
        return {name: about[name] for name in ("identity", "facts", "extra")}
    except (KeyError, ValueError, TypeError):
        raise FileError(f"{path} is not a checkpoint that can be read.") from None


def identity(environment: Environment, config: Config, seed: int) -> dict[str, Any]:
    """Return what must be the same for a training to be continued."""
    own = {"fingerprint": environment.fingerprint, "seed": seed, "learner": config.learner}
    return own | {"solver": used_solver()} | config.flat()


def require_same(path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise a `FileError` that names the first thing in which ``found`` differs."""
    # What version 0.1 wrote does not name a solver; there was no choice.
    found = {"solver": DEFAULT} | dict(found)
    for name, value in wanted.items():
        if found.get(name) != value:
            raise FileError(
                f"{path} was written with {name} {found.get(name)}; {value} is asked for now. Go "
                "on with the same problem, seed and settings, or train into another folder."
            )
