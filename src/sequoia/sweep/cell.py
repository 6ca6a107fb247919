"""One cell of a sweep: a problem, a seed, the policies compared on it, and their model."""

import hashlib
import inspect
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from sequoia.evaluation.evaluate import BoundKind
from sequoia.models.folder import ABOUT, load_model, read_about
from sequoia.policies import QFunction
from sequoia.problem import Assortment, Environment, Problem
from sequoia.problem.families import EVERY
from sequoia.version import __version__

# Raise it when cells that were computed by older code must not be taken for new ones.
FORMAT = 1


class Model(NamedTuple):
    """A trained model and how long it took."""

    q: QFunction
    seconds: float


def settings_of(preset: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything that training with ``preset`` depends on, or say what is wrong."""
    # Torch costs seconds of imports, which sweeps without training should not pay.
    from sequoia.learn import make_config

    config = make_config(preset, **overrides)
    # Learners may have the same settings, and still learn other models.
    return {"learner": config.learner, **config.model_dump(mode="json")}


def trained_model(
    problem: Environment, preset: str, overrides: Mapping[str, Any], seed: int, folder: Path
) -> Model:
    """Return the model in ``folder``, after training it if need be; half a training goes on."""
    if not (folder / ABOUT).exists():
        from sequoia.learn import make_config, train

        config = make_config(preset, **overrides)
        train(problem, config, seed=seed, folder=folder, resume=True, progress=False)
    # Also a fresh model is read back, so that a cell that goes on later decides the same.
    return Model(load_model(folder, problem), float(read_about(folder)["seconds"]))


@dataclass(frozen=True)
class Training:
    """The training of a model: a preset, and what differs from it."""

    preset: str
    overrides: Mapping[str, Any]

    def settings(self) -> dict[str, Any]:
        """Return everything that training depends on, or say what is wrong."""
        return settings_of(self.preset, self.overrides)

    @property
    def digest(self) -> str:
        """A short name; equal settings share it, and so share a model."""
        return _digest(self.settings())


@dataclass(frozen=True)
class Entry:
    """A policy under the name that it has in the results.

    Attributes
    ----------
    policy
        A name known to `make_policy`.
    training
        How its model is trained; ``None`` where none is needed.
    """

    name: str
    policy: str
    training: Training | None = None


@dataclass(frozen=True, eq=False)
class Cell:
    """A piece of a sweep that is done or not done.

    Attributes
    ----------
    knobs
        Arguments of the family that differ from its defaults.
    seed
        Of the problem, of training and of the episodes.
    solver
        Who solves the programs.
    """

    family: str
    knobs: Mapping[str, Any]
    seed: int
    entries: tuple[Entry, ...]
    episodes: int
    bound: BoundKind
    decision_seconds: float
    solver: str

    def problem(self) -> Problem | Assortment:
        """Make the problem."""
        return EVERY[self.family](**self._arguments)

    @property
    def _arguments(self) -> dict[str, Any]:
        """Every argument of the family, so that a new default makes a new cell."""
        known = inspect.signature(EVERY[self.family]).parameters
        given = {name: knob.default for name, knob in known.items()} | dict(self.knobs)
        return given | ({"seed": self.seed} if "seed" in known else {})

    @property
    def group(self) -> str:
        """The key of cells that take about the same time."""
        names = ",".join(entry.name for entry in self.entries)
        return f"{self.family} {sorted(self.knobs.items())} {names}"

    @cached_property
    def key(self) -> str:
        """The name of its folder: a hash of all that its numbers depend on."""
        content = asdict(self) | {
            "knobs": self._arguments,
            "entries": [
                (entry.name, entry.policy, entry.training and entry.training.settings())
                for entry in self.entries
            ],
            "version": [FORMAT, __version__],
        }
        arms = f"-{self.knobs['arms']}" if "arms" in self.knobs else ""
        return f"{self.family}{arms}-seed{self.seed}-{_digest(content)}"


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
