"""Blocks of episodes: where they are played, kept until all are done, and how many are left."""

import hashlib
import io
import json
import multiprocessing
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from sequoia.bounds.certificate import Bound
from sequoia.errors import FileError, SolverFailed
from sequoia.evaluation.evaluation import bound_from_json, bound_to_json
from sequoia.evaluation.processes import (
    end_all,
    end_with_parent,
    first_done,
    mortal,
    nursery,
    starting,
)
from sequoia.io import (
    UNFINISHED,
    clear_unfinished,
    locked,
    make_folder,
    read_json,
    write_bytes,
    write_text,
)
from sequoia.policies import Policy
from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.problem.names import roughly
from sequoia.simulate import Scenarios, rollout
from sequoia.solvers.registry import DEFAULT, using_solver
from sequoia.validation import ActionArray, BoolArray, FloatArray

_FIELDS = ("rewards", "seconds", "gaps", "is_at_limit", "is_late", "states", "actions")


class Block(NamedTuple):
    """Some episodes of one policy: a piece of work that is done or not done."""

    name: str
    first: int
    size: int


@dataclass(frozen=True, eq=False)
class Played:
    """The record of the B episodes of a block.

    Attributes
    ----------
    rewards, seconds, gaps, is_at_limit, is_late
        As in `Trajectory`, ``(B, H)`` each.
    states, actions
        Those of its first episode, ``(H + 1, D)`` and ``(H, N)``.
    """

    rewards: FloatArray
    seconds: FloatArray
    gaps: FloatArray
    is_at_limit: BoolArray
    is_late: BoolArray
    states: States
    actions: ActionArray


@dataclass(frozen=True, eq=False)
class BlockRunner:
    """Everything that is needed to play a block; each policy is made once, when first wanted."""

    environment: Environment
    scenarios: Scenarios
    makers: Mapping[str, Callable[[Any], Policy]]
    seed: int
    solver: str = DEFAULT
    _made: dict[str, Policy] = field(default_factory=dict)

    def play(self, block: Block) -> Played:
        """Play one block; in a process of its own, too, programs go to the solver asked for."""
        with using_solver(self.solver):
            return self._play(block)

    def _play(self, block: Block) -> Played:
        if block.name not in self._made:
            self._made[block.name] = self.makers[block.name](self.environment)
        part = slice(block.first, block.first + block.size)
        scenarios = Scenarios(self.scenarios.start[part], self.scenarios.noise[part])
        trajectory = rollout(
            self.environment,
            self._made[block.name],
            scenarios,
            self.seed,
            first=block.first,
            name=block.name,
        )
        flags = trajectory.is_at_limit, trajectory.is_late
        return Played(
            trajectory.rewards,
            trajectory.seconds,
            trajectory.gaps,
            *flags,
            trajectory.states[0],
            trajectory.actions[0],
        )


def play_blocks(
    runner: BlockRunner, blocks: Iterable[Block], jobs: int
) -> Iterator[tuple[Block, Played]]:
    """Yield every block with what happened, as they get done."""
    blocks = list(blocks)
    if jobs <= 1 or len(blocks) <= 1:
        for block in blocks:
            yield block, runner.play(block)
    else:
        yield from _play_apart(runner, blocks, jobs)


def _play_apart(
    runner: BlockRunner, blocks: list[Block], jobs: int
) -> Iterator[tuple[Block, Played]]:
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(min(jobs, len(blocks)), nursery(__name__), _begin, (runner,))
    waiting: dict[Future[Played], Block] = {}
    try:
        with starting():
            waiting |= {pool.submit(_play, block): block for block in blocks}
        while waiting:
            for future in first_done(waiting):
                yield waiting.pop(future), future.result()
    except BrokenProcessPool:
        raise SolverFailed("a process of the evaluation was ended from outside.") from None
    finally:
        # Whatever is under way when this ends early is not waited for.
        pool.shutdown(wait=False, cancel_futures=True)
        if waiting:
            end_all(set(multiprocessing.active_children()) - before)
        pool.shutdown(wait=True)


_runner: BlockRunner


def _begin(runner: BlockRunner) -> None:
    """Set a process up."""
    global _runner
    _runner = runner
    end_with_parent()


def _play(block: Block) -> Played:
    with mortal():
        return _runner.play(block)


@dataclass(frozen=True)
class BlockCache:
    """A folder of pieces, each named by everything that its content depends on.

    A piece of another problem, seed or model has another name, so it is never mistaken for one
    that is wanted. A damaged piece counts as missing.
    """

    folder: Path

    def make(self) -> None:
        """Make the folder."""
        make_folder(self.folder)
        clear_unfinished(self.folder)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other evaluations out, and leave no empty folder behind."""
        try:
            with locked(self.folder, "evaluation"):
                yield
        finally:
            self.drop_if_empty()

    def drop_if_empty(self) -> None:
        """Remove the folder unless it holds a piece."""
        with suppress(OSError):
            self.folder.rmdir()

    def _path(self, ending: str, key: tuple[object, ...]) -> Path:
        digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:20]
        return self.folder / f"{key[0]}-{digest}{ending}"

    def load(self, key: tuple[object, ...]) -> Played | None:
        """Return what was kept under ``key``; ``None`` when there is nothing."""
        try:
            content = io.BytesIO(self._path(".npz", key).read_bytes())
            with np.load(content, allow_pickle=False) as arrays:
                return Played(*(arrays[field] for field in _FIELDS))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None

    def save(self, key: tuple[object, ...], played: Played) -> None:
        """Keep a piece."""
        buffer = io.BytesIO()
        np.savez(buffer, **{field: getattr(played, field) for field in _FIELDS})
        write_bytes(self._path(".npz", key), buffer.getvalue())

    def load_bound(self, key: tuple[object, ...]) -> Bound | None:
        """Return the bound that was kept under ``key``."""
        try:
            return bound_from_json(read_json(self._path(".json", key)))
        except (FileError, LookupError, TypeError, ValueError):
            return None

    def save_bound(self, key: tuple[object, ...], bound: Bound) -> None:
        """Keep a bound."""
        write_text(self._path(".json", key), json.dumps(bound_to_json(bound)))

    def clear(self) -> None:
        """Forget all pieces, also half-written ones, and the folder if nothing else is in it."""
        patterns = [f"*-{'[0-9a-f]' * 20}{ending}" for ending in (".npz", ".json")]
        for pattern in (*patterns, f"{UNFINISHED}*"):
            for file in self.folder.glob(pattern):
                file.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


@dataclass(frozen=True)
class Progress:
    """The progress of an evaluation.

    Attributes
    ----------
    done, total
        Blocks of episodes.
    kept
        Blocks that an earlier evaluation had left behind.
    seconds_left
        Expected time until the end.
    """

    done: int
    total: int
    kept: int
    seconds_left: float

    def in_words(self) -> str:
        """Return the time that is left."""
        return f"{roughly(self.seconds_left)} left"


class Clock:
    """Expects every block of a policy to take as long as its blocks so far."""

    def __init__(self, blocks: Iterable[Block], kept: int) -> None:
        self._open = Counter(block.name for block in blocks)
        self._kept = kept
        self._done = 0
        self._total = kept + self._open.total()
        self._last = time.perf_counter()
        self._spent: dict[str, list[float]] = {}

    def tick(self, block: Block) -> Progress:
        """Take note that ``unit`` is done now.

        With several processes blocks overlap, so what is counted is the time since the last one.
        """
        now = time.perf_counter()
        self._spent.setdefault(block.name, []).append(now - self._last)
        self._last = now
        self._open[block.name] -= 1
        self._done += 1
        every = [seconds for spent in self._spent.values() for seconds in spent]
        left = sum(
            count * fmean(self._spent.get(name, every)) for name, count in self._open.items()
        )
        return Progress(self._kept + self._done, self._total, self._kept, left)
