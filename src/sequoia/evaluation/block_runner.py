"""Where blocks of episodes are played: here, or in processes of their own."""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import NamedTuple

from sequoia.errors import SolverFailed
from sequoia.evaluation.play import Played, play
from sequoia.evaluation.processes import deaf_to_interrupts, end_with_parent
from sequoia.policies import Policy
from sequoia.problem import Problem
from sequoia.simulate import Scenarios


class Block(NamedTuple):
    """Some episodes of one policy: a piece of work that is done or not done."""

    name: str
    first: int
    size: int


class Maker(NamedTuple):
    """How a policy is made, and whether it is made anew for every unit."""

    make: Callable[[Problem], Policy]
    remembers: bool = False


@dataclass(frozen=True, eq=False)
class BlockRunner:
    """Everything that is needed to play a unit; each policy is made once, when first wanted."""

    problem: Problem
    scenarios: Scenarios
    makers: Mapping[str, Maker]
    seed: int
    _made: dict[str, Policy] = field(default_factory=dict)

    def play(self, block: Block) -> Played:
        """Play one unit."""
        maker = self.makers[block.name]
        if block.name not in self._made or maker.remembers:
            self._made[block.name] = maker.make(self.problem)
        part = slice(block.first, block.first + block.size)
        scenarios = Scenarios(self.scenarios.start[part], self.scenarios.noise[part])
        policy = self._made[block.name]
        return play(self.problem, policy, block.name, scenarios, block.first, self.seed)


def play_blocks(
    bench: BlockRunner, blocks: Iterable[Block], jobs: int
) -> Iterator[tuple[Block, Played]]:
    """Yield every unit with what happened, as they get done."""
    blocks = list(blocks)
    if jobs <= 1 or len(blocks) <= 1:
        for block in blocks:
            yield block, bench.play(block)
    else:
        yield from _play_apart(bench, blocks, jobs)


def _play_apart(
    bench: BlockRunner, blocks: list[Block], jobs: int
) -> Iterator[tuple[Block, Played]]:
    spawn = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(min(jobs, len(blocks)), spawn, _begin, (bench,))
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
            for child in set(multiprocessing.active_children()) - before:
                child.terminate()
        pool.shutdown(wait=True)


_bench: BlockRunner


def _begin(bench: BlockRunner) -> None:
    """Set a process up."""
    global _bench
    _bench = bench
    end_with_parent()


def _play(block: Block) -> Played:
    return _bench.play(block)
