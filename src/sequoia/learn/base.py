"""The seam for learners: one learner is one file, and is trained like any other."""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

import torch

from sequoia.evaluation.intervals import Estimate
from sequoia.learn.config import Config
from sequoia.models.model import Model
from sequoia.problem import Environment

Tensors = dict[str, torch.Tensor]
Value = TypeVar("Value")


def under(by_name: dict[str, Value], prefix: str) -> dict[str, Value]:
    """Return what has names that begin so, by the rest of these names."""
    found = {name: value for name, value in by_name.items() if name.startswith(prefix)}
    return {name.removeprefix(prefix): value for name, value in found.items()}


@dataclass(frozen=True)
class Round:
    """What one round of learning did.

    Attributes
    ----------
    epsilon
        The chance of a random action; 0 for a learner that does not explore so.
    loss
        Mean squared error of the round.
    reward
        Mean reward per step in the held-out episodes; ``None`` when they were not played.
    best
        What the policy that is kept earns.
    half
        Half of the 95 % interval of ``best``; ``None`` where it is not known.
    gain, gain_half
        What the policy that is kept earns more than the best base policy, and half of its 95 %
        interval, under the same luck.
    won
        By how much the round's policy won its paired test; ``None`` where it did not.
    did
        What the round did, in some words.
    hit_rate
        Share of best actions that were remembered; ``None`` for a learner that remembers none.
    """

    round: int
    epsilon: float
    loss: float
    reward: float | None
    best: float
    hit_rate: float | None = None
    half: float | None = None
    gain: float | None = None
    gain_half: float | None = None
    won: float | None = None
    did: str = ""


Settings = TypeVar("Settings", bound=Config)


class Learner(ABC, Generic[Settings]):
    """Learns a model for an environment, round by round.

    `train` calls `begin`, then `play_round` until `is_done`, and writes a checkpoint whenever
    `may_be_kept`: what `state` returns, which `restore` takes over bit for bit.

    Attributes
    ----------
    name, settings, changes
        Its name, the class of its settings, and those whose defaults are other values for it.
    environment, config, seed
        What is learned, how, and from which luck.
    rounds
        How many rounds are done.
    is_late
        Whether the time that the settings give is over.
    spent_before
        Processor seconds that went into what was restored.
    bound
        No policy earns more per step; ``None`` where no bound is known.
    played_by
        The name of the policy that plays the result.
    bound_stopped_by
        What ended the search for it, and for the prices that prove it, as in `Bound`.
    """

    name: ClassVar[str]
    settings: ClassVar[type[Config]]
    changes: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    played_by: ClassVar[str] = "sequoia"

    def __init__(self, environment: Environment, config: Settings, seed: int) -> None:
        self.environment, self.config, self.seed = environment, config, seed
        self.rounds = 0
        self.is_late = False
        self.spent_before = 0.0
        self._began = time.process_time()
        self.bound: float | None = None
        self.bound_stopped_by: str | None = None

    @property
    def spent(self) -> float:
        """Processor seconds so far."""
        return self.spent_before + time.process_time() - self._began

    @property
    def is_over_time(self) -> bool:
        """Whether the settings give less time than was spent so far."""
        return self.config.seconds is not None and self.spent >= self.config.seconds

    def count_round(self) -> None:
        """Take note that a round is done, and what time it is."""
        self.rounds += 1
        self.is_late = self.is_over_time

    @property
    def is_last(self) -> bool:
        """Whether no round comes after this one, by number or by time."""
        return self.is_late or self.rounds >= self.config.rounds

    @property
    @abstractmethod
    def is_done(self) -> bool:
        """Whether there is nothing more to learn."""

    @property
    def may_be_kept(self) -> bool:
        """Whether nothing is remembered that a checkpoint would miss."""
        return True

    @abstractmethod
    def begin(self) -> Round:
        """Prepare, and see how good that is already."""

    @abstractmethod
    def play_round(self) -> Round:
        """Learn for one round."""

    @abstractmethod
    def result(self) -> Model:
        """Return the model that was learned."""

    @property
    @abstractmethod
    def result_reward(self) -> float:
        """What that model earns per step in the held-out episodes."""

    @property
    def gain(self) -> Estimate | None:
        """By how much the result earns more per step than where learning started, if known."""
        return None

    @property
    def base_name(self) -> str:
        """The policy that ``gain`` is over; nothing where it is the first network."""
        return ""

    @property
    def structure_in_words(self) -> str:
        """What was found out, or declared, of who depends on whom; nothing where nobody asked."""
        return ""

    @abstractmethod
    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """Return everything that changes: tensors by name, and facts as JSON holds them."""

    @abstractmethod
    def restore(self, tensors: Tensors, facts: dict[str, Any]) -> None:
        """Take over what `state` returned."""
