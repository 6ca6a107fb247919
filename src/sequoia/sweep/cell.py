"""One cell of a sweep: a problem, a seed and the policies that are compared on it."""

import hashlib
import inspect
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from sequoia.evaluation.evaluate import BoundKind
from sequoia.problem import Problem
from sequoia.problem.families import FAMILIES
from sequoia.sweep.models import settings_of
from sequoia.version import __version__

# Raise it when cells that were computed by older code must not be taken for new ones.
FORMAT = 1


@dataclass(frozen=True)
class Training:
    """How a model is trained: a preset, and what differs from it."""

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

    def problem(self) -> Problem:
        """Make the problem."""
        return FAMILIES[self.family](**self._arguments)

    @property
    def _arguments(self) -> dict[str, Any]:
        """Every argument of the family, so that a new default makes a new cell."""
        known = inspect.signature(FAMILIES[self.family]).parameters
        given = {name: knob.default for name, knob in known.items()} | dict(self.knobs)
        return given | ({"seed": self.seed} if "seed" in known else {})

    @property
    def group(self) -> str:
        """What cells have in common that take about the same time."""
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
