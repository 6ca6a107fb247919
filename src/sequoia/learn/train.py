"""Train from beginning to end, safely."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from sequoia.errors import FileError
from sequoia.io import clear_unfinished, locked, refuse_to_replace
from sequoia.learn.checkpoint import NAME, restore_checkpoint, save_checkpoint
from sequoia.learn.config import TrainConfig
from sequoia.learn.start import usual_preset
from sequoia.learn.trainer import Round, Trainer
from sequoia.models.folder import ABOUT, HISTORY, WEIGHTS, Trained, save_model
from sequoia.problem import Environment


@dataclass(frozen=True)
class TrainProgress:
    """How far training is.

    Attributes
    ----------
    kept
        Up to which round everything is on disk; ``None`` where nothing is written.
    """

    round: Round
    rounds: int
    bound: float | None
    seconds: float
    seconds_left: float
    kept: int | None


def train(
    environment: Environment,
    config: TrainConfig | None = None,
    seed: int = 0,
    *,
    folder: Path | None = None,
    resume: bool = False,
    on_event: Callable[[TrainProgress], None] | None = None,
) -> Trained:
    """Learn a Q-function for ``environment``.

    The same environment, configuration and seed give the same weights, also when training was
    ended in the middle and resumed.

    Parameters
    ----------
    config
        `usual_preset` unless given.
    folder
        Where checkpoints and, in the end, the model are written.
    resume
        Go on from the checkpoint in ``folder``, where there is one; otherwise begin anew, and
        forget the model that was there.
    on_event
        Called after every round.
    """
    config = TrainConfig.preset(usual_preset(environment)) if config is None else config
    with _one_thread(), nullcontext() if folder is None else locked(folder, "training"):
        if folder is not None:
            _tidy(folder, resume)
        began = time.perf_counter()
        trainer = Trainer(environment, config, seed)
        run = _Run(trainer, folder, on_event, began)
        run.play(resume)
        trained = run.result()
        if folder is not None:
            save_model(folder, trained)
            (folder / NAME).unlink(missing_ok=True)
    return trained


def _tidy(folder: Path, resume: bool) -> None:
    """Remove what is half-written and, unless it is resumed, what was trained before."""
    clear_unfinished(folder)
    for name in () if resume else (ABOUT, NAME):
        (folder / name).unlink(missing_ok=True)


class _Run:
    """One training with its history."""

    def __init__(
        self,
        trainer: Trainer,
        folder: Path | None,
        on_event: Callable[[TrainProgress], None] | None,
        began: float,
    ) -> None:
        self._trainer, self._folder, self._on_event = trainer, folder, on_event
        self._began = began
        self._earlier = 0.0
        self._kept: int | None = None
        self._first = 0
        self.history: list[dict[str, Any]] = []

    @property
    def seconds(self) -> float:
        """Time spent, that of earlier runs included."""
        return self._earlier + time.perf_counter() - self._began

    def play(self, resume: bool) -> None:
        if resume and self._folder is not None and (self._folder / NAME).exists():
            extra = restore_checkpoint(self._folder, self._trainer)
            self.history, self._earlier = extra["history"], extra["seconds"]
            self._kept = self._first = self._trainer.rounds
        else:
            self._note(self._trainer.begin())
        while not self._trainer.is_done:
            self._note(self._trainer.play_round())

    def _note(self, done: Round) -> None:
        trainer = self._trainer
        self.history.append({**asdict(done), "seconds": round(self.seconds, 3)})
        if self._folder is not None and trainer.may_be_kept:
            extra = {"history": self.history, "seconds": self.seconds}
            save_checkpoint(self._folder, trainer, extra)
            self._kept = trainer.rounds
        if self._on_event is not None:
            played = trainer.rounds - self._first
            pace = (time.perf_counter() - self._began) / max(played, 1)
            left = pace * (trainer.config.rounds - trainer.rounds) if played else float("nan")
            bound = trainer.bound
            self._on_event(
                TrainProgress(done, trainer.config.rounds, bound, self.seconds, left, self._kept)
            )

    def result(self) -> Trained:
        trainer = self._trainer
        chosen = trainer.best if trainer.config.keep_best else trainer.learner.q.online
        rewards = [row["reward"] for row in self.history if row["reward"] is not None]
        return Trained(
            trainer.learner.model(chosen),
            trainer.config.model_dump(mode="json"),
            trainer.seed,
            trainer.best_reward if trainer.config.keep_best else rewards[-1],
            trainer.bound,
            self.seconds,
            self.history,
        )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch use one thread: networks are small, and sums then have one order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def refuse_other_work(folder: Path, resume: bool, force: bool = False) -> None:
    """Raise when ``folder`` holds a model, a checkpoint or files of others that would be lost."""
    if force:
        return
    begun = [name for name in (ABOUT, NAME) if (folder / name).exists()]
    if not begun:
        refuse_to_replace([folder / WEIGHTS, folder / HISTORY])
    elif not resume:
        raise FileError(
            f"{folder} holds {begun[0]} already; --resume goes on with it, --force or another "
            "folder begins anew."
        )
