"""Compare policies under common random numbers."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sequoia.bounds.bound import best_bound, resolve_kind
from sequoia.bounds.bound import bound as find_bound
from sequoia.bounds.certificate import Bound, Kind
from sequoia.defaults import DECISION_SECONDS, EPISODES, ROLLOUTS
from sequoia.errors import ProblemError, SequoiaError
from sequoia.evaluation.blocks import (
    Block,
    BlockCache,
    BlockRunner,
    Clock,
    Played,
    Progress,
    play_blocks,
)
from sequoia.evaluation.evaluation import Evaluation
from sequoia.policies import Policy, QFunction, make_policy
from sequoia.policies.registry import policy_called
from sequoia.problem import Environment, capabilities_of
from sequoia.progress import bar
from sequoia.simulate import Episode, Scenarios
from sequoia.solvers import used_solver
from sequoia.version import __version__

# Episodes that are played side by side and kept together; numbers do not depend on it.
BLOCK = 5
REFERENCE = "random"

BoundKind = Literal["auto", "lp", "hull", "factored", "clairvoyant", "none"]
Key = tuple[object, ...]
Maker = Callable[[Any], Policy]


def evaluate(
    environment: Environment,
    policies: Sequence[str | Policy] | Mapping[str, Maker],
    episodes: int = EPISODES,
    seed: int = 0,
    *,
    model: QFunction | None = None,
    jobs: int = 1,
    bound: BoundKind = "auto",
    seconds: float = DECISION_SECONDS,
    rollouts: int = ROLLOUTS,
    work: Path | None = None,
    source: str | None = None,
    on_event: Callable[[Progress], None] | None = None,
    progress: bool = True,
) -> Evaluation:
    """Play every policy through the same episodes.

    Numbers depend on the environment, the policy, the seed and the episode, and on nothing else:
    not on the other policies, their order, or the number of processes. Programs are solved by the
    solver of `using_solver`.

    Interrupted (Ctrl-C, or the button of a notebook), the episodes that every policy has played
    are returned; with ``work``, what is done is kept there, and the interruption goes on.

    Parameters
    ----------
    environment
        A `Problem`, or an environment of your own.
    policies
        Names known to `make_policy`, and policies of your own. Or functions that make a policy from
        the environment, by name; with several processes these must be importable.
    model
        A trained model, for the policies that need one.
    jobs
        Number of processes.
    bound
        Which upper bound to compute beside it; see `sequoia.bound`. Where arms interact,
        ``"auto"`` is the lower of ``"factored"`` and ``"clairvoyant"``; for an environment that is
        no problem of arms it is none.
    seconds
        Longest time for one decision, where a solver is used.
    rollouts
        How many rollouts one decision may take, where it takes any.
    work
        A folder for finished pieces. When an evaluation ends early, the same call with the same
        folder goes on from there. `BlockCache.clear` removes it when it is no longer wanted.
    source
        Where the problem was read from, for reports.
    on_event
        Called after every finished piece.
    progress
        Whether a bar shows how far it is, in a terminal or a notebook.

    Examples
    --------
    >>> import sequoia
    >>> found = sequoia.evaluate(sequoia.make('trap'), ['myopic', 'exact'], episodes=5)
    >>> found
    Evaluation of 'trap': 2 policies, 5 episodes, seed 0
    best: exact, 9.605 ± 0 per step
    no policy earns more than 9.605 per step
    """
    makers = _makers(policies, model, seconds, rollouts)
    for name, value in (("episodes", episodes), ("jobs", jobs), ("policies", len(makers))):
        if value < 1:
            raise ProblemError(f"{name} is {value}; at least 1 is wanted.")
    everyone = {
        **makers,
        **({} if REFERENCE in makers else _makers([REFERENCE], None, seconds, rollouts)),
    }
    # Other environments have a bound only where one asks for it: a search may be too large.
    is_silent = bound == "auto" and capabilities_of(environment).problem is None
    asked = None if bound == "none" or is_silent else bound
    if asked is not None:
        resolve_kind(environment, asked)
    scenarios = Scenarios.sample(environment, episodes, seed)
    mark = "" if model is None else _mark(model, scenarios)
    content = (environment.fingerprint, seed, seconds, rollouts, used_solver(), __version__)
    # One block of every policy comes first, so that one that does not apply is known early.
    keys: dict[Block, Key] = {
        (block := Block(name, first, min(BLOCK, episodes - first))): (*block, *content, mark)
        for first in range(0, episodes, BLOCK)
        for name in everyone
    }
    cache = None if work is None else BlockCache(work)
    if cache is not None:
        cache.make()
    # Policies first: what does not apply should not have to wait for the bound.
    try:
        runner = BlockRunner(environment, scenarios, everyone, seed, used_solver())
        with bar("Evaluating", progress) as show:
            played = _play(runner, keys, jobs, cache, [show, *([on_event] if on_event else [])])
    except SequoiaError:
        if cache is not None:
            cache.drop_if_empty()
        raise
    bounded = None
    if asked is not None:
        bounded = _bound(environment, asked, cache)
    return _collect(environment, list(makers), played, seed, bounded, source)


def _makers(
    policies: Sequence[str | Policy] | Mapping[str, Maker],
    model: QFunction | None,
    seconds: float,
    rollouts: int,
) -> dict[str, Maker]:
    if isinstance(policies, Mapping):
        return dict(policies)
    ready = {policy.name: policy for policy in policies if isinstance(policy, Policy)}
    names = [policy if isinstance(policy, str) else policy.name for policy in policies]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ProblemError(f"the policy {twice[0]} is named twice.")
    makers: dict[str, Maker] = {}
    for name in names:
        if name in ready:
            makers[name] = partial(_made_before, ready[name])
            continue
        if policy_called(name).needs_model and model is None:
            raise ProblemError(f"{name} needs a trained model, and none is given.")
        makers[name] = partial(make_policy, name, model=model, seconds=seconds, rollouts=rollouts)
    return makers


def _made_before(policy: Policy, environment: Any) -> Policy:  # noqa: ARG001 (as other makers)
    return policy


def _mark(model: QFunction, scenarios: Scenarios) -> str:
    """Return a hash of what a model says about the first starts."""
    starts = scenarios.start[:4]
    net = model.fold(starts, np.zeros(len(starts), dtype=np.int64))
    digest = hashlib.sha256()
    for part in (*net.weights, net.first_bias, *net.biases, net.output, net.linear, net.constant):
        digest.update(np.ascontiguousarray(part, dtype=np.float64).tobytes())
    return digest.hexdigest()


def _bound(
    environment: Environment, kind: Kind | Literal["auto"], cache: BlockCache | None
) -> Bound:
    key: Key = ("bound", kind, environment.fingerprint, used_solver(), __version__)
    known = None if cache is None else cache.load_bound(key)
    if known is not None:
        return known
    computed = best_bound(environment) if kind == "auto" else find_bound(environment, kind)
    if cache is not None:
        cache.save_bound(key, computed)
    return computed


def _play(
    runner: BlockRunner,
    keys: Mapping[Block, Key],
    jobs: int,
    cache: BlockCache | None,
    watchers: Sequence[Callable[[Progress], None]],
) -> dict[Block, Played]:
    """Play what an earlier evaluation has not left behind."""
    played: dict[Block, Played] = {}
    if cache is not None:
        kept = {block: cache.load(key) for block, key in keys.items()}
        played = {block: piece for block, piece in kept.items() if piece is not None}
    open_blocks = [block for block in keys if block not in played]
    clock = Clock(open_blocks, len(played))
    try:
        for block, piece in play_blocks(runner, open_blocks, jobs):
            played[block] = piece
            if cache is not None:
                cache.save(keys[block], piece)
            progress = clock.tick(block)
            for watch in watchers:
                watch(progress)
    except KeyboardInterrupt:
        whole = _played_by_all(played, keys)
        if cache is not None or not whole:
            raise
        return whole
    return played


def _played_by_all(played: Mapping[Block, Played], blocks: Iterable[Block]) -> dict[Block, Played]:
    """Return the blocks of the episodes that every policy has played."""
    missing = {block.first for block in blocks if block not in played}
    return {block: piece for block, piece in played.items() if block.first not in missing}


def _collect(
    environment: Environment,
    names: Sequence[str],
    played: Mapping[Block, Played],
    seed: int,
    bound: Bound | None,
    source: str | None,
) -> Evaluation:
    def of(name: str) -> list[Played]:
        return [played[block] for block in sorted(played) if block.name == name]

    def table(field: str) -> Any:
        return np.array([np.concatenate([getattr(piece, field) for piece in of(n)]) for n in names])

    firsts = {name: of(name)[0] for name in names}
    return Evaluation(
        problem=environment.name,
        fingerprint=environment.fingerprint,
        seed=seed,
        names=names,
        rewards=table("rewards"),
        seconds=table("seconds"),
        gaps=table("gaps"),
        is_at_limit=table("is_at_limit"),
        is_late=table("is_late"),
        random=np.concatenate([piece.rewards for piece in of(REFERENCE)]),
        bound=bound,
        examples={
            name: Episode(piece.states, piece.actions, piece.rewards[0])
            for name, piece in firsts.items()
        },
        source=source,
        solver=used_solver(),
    )
