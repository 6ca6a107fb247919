"""Where blocks of episodes are played: here, or in processes of their own."""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sequoia.errors import SolverFailed
from sequoia.evaluation.processes import deaf_to_interrupts, end_all, end_with_parent, mortal
from sequoia.policies import Policy
from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.simulate import Scenarios, rollout
from sequoia.solvers.registry import DEFAULT, using_solver
from sequoia.validation import ActionArray, BoolArray, FloatArray


class Block(NamedTuple):
    """Some episodes of one policy: a piece of work that is done or not done."""

    name: str
    first: int
    size: int


@dataclass(frozen=True, eq=False)
class Played:
    """What happened in the B episodes of a block.

    Attributes
    ----------
    rewards, seconds, gaps, is_at_limit
        As in `Trajectory`, ``(B, H)`` each.
    states, actions
        Those of its first episode, ``(H + 1, D)`` and ``(H, N)``.
    """

    rewards: FloatArray
    seconds: FloatArray
    gaps: FloatArray
    is_at_limit: BoolArray
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
        one = rollout(
            self.environment,
            self._made[block.name],
            scenarios,
            self.seed,
            first=block.first,
            name=block.name,
        )
        return Played(
            one.rewards, one.seconds, one.gaps, one.is_at_limit, one.states[0], one.actions[0]
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
    spawn = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(min(jobs, len(blocks)), spawn, _begin, (runner,))
    waiting: dict[Future[Played], Block] = {}
    try:
        with deaf_to_interrupts():
            waiting |= {pool.submit(_play, block): block for block in blocks}
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
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
