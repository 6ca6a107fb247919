"""Train from beginning to end, safely, with one of the learners; curves for TensorBoard."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from sequoia.defaults import PRESET
from sequoia.errors import ConfigError, FileError
from sequoia.evaluation.intervals import estimate
from sequoia.io import clear_unfinished, locked, refuse_to_replace
from sequoia.learn.base import Learner, Round
from sequoia.learn.checkpoint import (
    NAME,
    require_own_checkpoint,
    restore_checkpoint,
    save_checkpoint,
)
from sequoia.learn.config import Config
from sequoia.learn.held_out import HeldOut
from sequoia.learn.presets import make_config
from sequoia.learn.registry import LEARNERS
from sequoia.models.folder import ABOUT, HISTORY, WEIGHTS, Trained, save_model
from sequoia.policies import Policy
from sequoia.policies.registry import make_policy
from sequoia.problem import Environment, capabilities_of
from sequoia.problem.environment_checks import check_environment
from sequoia.problem.names import roughly
from sequoia.progress import bar
from sequoia.solvers import used_solver

# Episodes of the paired test against a base policy.
_BASE_EPISODES = 200


@dataclass(frozen=True)
class TrainProgress:
    """How far training is.

    Attributes
    ----------
    seconds, seconds_left
        Of the processor: what else the machine does counts for nothing.
    kept
        Up to which round everything is on disk; ``None`` where nothing is written.
    """

    round: Round
    rounds: int
    bound: float | None
    seconds: float
    seconds_left: float
    kept: int | None

    @property
    def done(self) -> int:
        """The rounds that are done."""
        return self.round.round

    @property
    def total(self) -> int:
        """The rounds that there are at most."""
        return self.rounds

    def in_words(self) -> str:
        """Return what the policy that is kept earns, what the round did, and the time left."""
        done = self.round
        half = "" if done.half is None else f" ± {done.half:.2g}"
        parts = [f"reward {done.best:.4g}{half}"]
        if done.won is not None:
            parts.append(f"won {done.won:+.3g}")
        if self.bound is not None:
            parts.append(f"bound {self.bound:.4g}")
        if done.did:
            parts.append(done.did)
        if done.loss:
            parts.append(f"loss {done.loss:.2g}")
        if done.hit_rate is not None:
            parts.append(f"remembered {100 * done.hit_rate:.0f} %")
        if self.seconds_left == self.seconds_left:
            parts.append(f"{roughly(self.seconds_left)} left")
        return ", ".join(parts)


def train(
    environment: Environment,
    config: Config | None = None,
    seed: int = 0,
    *,
    seconds: float | None = None,
    base: Policy | str | None = None,
    folder: Path | None = None,
    resume: bool = False,
    on_event: Callable[[TrainProgress], None] | None = None,
    progress: bool = True,
) -> Trained:
    """Learn a model for ``environment``.

    The same environment, configuration and seed give the same weights, also when training was
    ended in the middle and resumed. Interrupted (Ctrl-C), the best policy so far is returned; with
    a folder it is written there, and a later call with ``resume`` goes on.

    Parameters
    ----------
    config
        From `make_config`; the preset ``default`` unless given.
    seconds
        Of the processor: no round begins later.
    base
        A policy, or its name, that the result must not be worse than: if it earns more in a paired
        test, the result says so, and is played by it.
    folder
        Where checkpoints and, in the end, the model are written.
    resume
        Go on from the checkpoint in ``folder``, where there is one; otherwise begin anew, and
        forget the model that was there.
    on_event
        Called after every round.
    progress
        Whether a bar shows how far it is, in a terminal or a notebook.

    Examples
    --------
    >>> import sequoia
    >>> trained = sequoia.train(sequoia.make('trap', horizon=4), seconds=1, progress=False)
    >>> trained.played_by
    'sequoia'
    """
    config = make_config(PRESET) if config is None else config
    if seconds is not None:
        config = config.of({**config.flat(), "seconds": seconds})
    if capabilities_of(environment).problem is None:
        check_environment(environment)
    alone = nullcontext() if folder is None else locked(folder, "training")
    with _one_thread(), alone, bar("Training", progress) as show:
        if folder is not None:
            _tidy(folder, resume)
        goes_on = resume and folder is not None and (folder / NAME).exists()
        if folder is not None and goes_on:
            require_own_checkpoint(folder, environment, config, seed)
        learner = LEARNERS[config.learner](environment, config, seed)
        run = _Run(learner, folder, [show, *([on_event] if on_event else [])])
        try:
            run.play(goes_on)
        except KeyboardInterrupt:
            if not run.history:
                raise
            if folder is not None:
                save_model(folder, run.result())
                raise
            return run.result()
        trained = run.result()
        if base is not None:
            trained = _no_worse(trained, base, seed)
        if folder is not None:
            save_model(folder, trained)
            (folder / NAME).unlink(missing_ok=True)
    return trained


def _no_worse(trained: Trained, base: Policy | str, seed: int) -> Trained:
    """Return what was trained or, where a base policy wins a paired test, say that it plays."""
    environment = trained.model.environment
    policy = make_policy(base, environment) if isinstance(base, str) else base
    learned = make_policy(trained.played_by, environment, trained.model)
    judge = HeldOut(environment, _BASE_EPISODES, seed)
    theirs = judge.play(policy)
    gain = estimate(theirs - judge.play(learned))
    if gain.low <= 0:
        return trained
    reward = float(theirs.mean())
    return replace(trained, played_by=policy.name, reward=reward, gain=(0.0, 0.0, 0.0))


def _tidy(folder: Path, resume: bool) -> None:
    """Remove what is half-written and, unless it is resumed, what was trained before."""
    clear_unfinished(folder)
    for name in () if resume else (ABOUT, NAME):
        (folder / name).unlink(missing_ok=True)


class _Run:
    """One training with its history."""

    def __init__(
        self,
        learner: Learner[Any],
        folder: Path | None,
        watchers: Sequence[Callable[[TrainProgress], None]],
    ) -> None:
        self._learner, self._folder, self._watchers = learner, folder, watchers
        self._kept: int | None = None
        self._first = 0
        self.history: list[dict[str, Any]] = []

    def play(self, goes_on: bool) -> None:
        if goes_on and self._folder is not None:
            extra = restore_checkpoint(self._folder, self._learner)
            self.history, self._learner.spent_before = extra["history"], extra["seconds"]
            self._kept = self._first = self._learner.rounds
        else:
            self._note(self._learner.begin())
        while not self._learner.is_done:
            self._note(self._learner.play_round())

    def _note(self, done: Round) -> None:
        learner = self._learner
        self.history.append({**asdict(done), "seconds": round(learner.spent, 3)})
        if self._folder is not None and learner.may_be_kept:
            extra = {"history": self.history, "seconds": learner.spent}
            save_checkpoint(self._folder, learner, extra)
            self._kept = learner.rounds
        played, most = learner.rounds - self._first, max(learner.config.rounds, learner.rounds)
        pace = (learner.spent - learner.spent_before) / max(played, 1)
        left = pace * (most - learner.rounds) if played else float("nan")
        if learner.config.seconds is not None:
            left = min(left, max(0.0, learner.config.seconds - learner.spent))
        now = (learner.spent, left, self._kept)
        for watch in self._watchers:
            watch(TrainProgress(done, most, learner.bound, *now))

    def result(self) -> Trained:
        learner = self._learner
        gain = learner.gain
        structure = learner.structure_in_words
        return Trained(
            learner.result(),
            learner.config.learner,
            learner.config.flat(),
            learner.seed,
            learner.result_reward,
            learner.bound,
            None if gain is None else (gain.mean, gain.low, gain.high),
            learner.spent,
            self.history,
            used_solver(),
            learner.bound_stopped_by,
            learner.played_by,
            structure,
            learner.base_name,
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


class Board:
    """Writes every round to a folder that TensorBoard reads."""

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise ConfigError(
                'tensorboard is not installed; pip install "sequoia-plan[tensorboard]", or read '
                "history.csv instead."
            ) from None
        self._writer: Any = SummaryWriter(str(folder))

    def __call__(self, progress: TrainProgress) -> None:
        """Add the curves of one round."""
        done = progress.round
        curves = {
            "reward": done.reward,
            "best": done.best,
            "bound": progress.bound,
            "loss": done.loss,
            "epsilon": done.epsilon,
            "hit rate": done.hit_rate,
            "won": done.won,
        }
        for name, value in curves.items():
            if value is not None:
                self._writer.add_scalar(name, value, done.round)
        self._writer.flush()
