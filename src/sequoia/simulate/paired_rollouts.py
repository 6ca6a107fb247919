"""Gains of other actions: neighbours of a policy's actions, played under its luck."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from sequoia.problem import Environment, capabilities_of
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

Played = tuple[States, ActionArray]


class PairedStep(NamedTuple):
    """One step of B pairs of rollouts under the same luck.

    Attributes
    ----------
    candidate
        Which candidate each pair is of, ``(B,)``.
    ahead
        Steps since the candidates' own actions.
    gained
        What the candidate earned more than the policy, ``(B,)``.
    ours, theirs
        States and actions of the candidate, and of the policy.
    """

    candidate: IntArray
    ahead: int
    gained: FloatArray
    ours: Played
    theirs: Played


class Credit(Protocol):
    """Gathers what pairs of rollouts earn, step by step."""

    def add(self, step: PairedStep) -> None:
        """Take note of one step."""
        ...


class WholeCredit:
    """The difference in all that was earned, summed over rollouts, ``values``, ``(C,)``."""

    def __init__(self, candidates: int) -> None:
        self.values = np.zeros(candidates)

    def add(self, step: PairedStep) -> None:
        """Add up what was gained."""
        np.add.at(self.values, step.candidate, step.gained)


# The actions of a policy: from states (B, D), steps (B,) and uniforms (B, N) to actions (B, N).
Act = Callable[[States, IntArray, FloatArray], ActionArray]

# Components times rows that are played together: some ten megabytes for each array.
_TOGETHER = 1_000_000
# How the columns that change are picked: half by rank, where what is close to being chosen
# otherwise comes first, and half evenly, so that nothing is never tried.
_EVENLY = 0.5
_IN_SCALE, _OUT_SCALE = 2.0, 1.5
# The share of candidates that only leave out, where acting may cost something.
_DROPS = 0.25
# Steps under different luck by which it is seen whether a candidate changes anything.
_TRIALS = 3


@dataclass(frozen=True, eq=False)
class Candidates:
    """C actions, each a neighbour of the policy's action in its state.

    Attributes
    ----------
    state
        Which state each is for, ``(C,)``, ascending.
    actions
        ``(C, N)``.
    """

    state: IntArray
    actions: ActionArray

    def only(self, keep: BoolArray | IntArray | slice) -> "Candidates":
        """Return some of them."""
        return Candidates(self.state[keep], self.actions[keep])


def drops_for(environment: Environment) -> float:
    """Return the share of candidates that only leave out: arms take a dose for nothing."""
    return _DROPS if capabilities_of(environment).problem is None else 0.0


def neighbours(
    weights: FloatArray,
    actions: ActionArray,
    best: Callable[[FloatArray, IntArray], ActionArray],
    count: int,
    changes: int,
    rng: np.random.Generator,
    drops: float = 0.0,
) -> Candidates:
    """Return feasible neighbours of each action: some columns are forced in, some out.

    The rest is left to the argmax over the space, whatever its rules are: it drops what no longer
    fits, and fills what is free. With a budget this is a swap. A share of the candidates leaves
    out some columns and fills nothing: only they tell that an action is not worth its price.

    Parameters
    ----------
    weights
        Of the inputs in each state, ``(K, I)``.
    actions
        The best ones by these weights, ``(K, N)``.
    best
        The argmax, from weights ``(B, I)``, and which of the states each row is for, ``(B,)``, to
        actions ``(B, N)``.
    count, changes
        How many for each state, and how many columns each forces in and out.
    drops
        The share of candidates that only leave out.
    """
    states, columns = actions.shape
    column_weights = weights[:, :columns]
    state = np.repeat(np.arange(states), count)
    chosen = actions[state] == 1
    # Sums of weights up to this size are what a forced column must outweigh.
    force = 1.0 + 2 * np.abs(weights).sum(axis=1)[state]
    wanted = weights[state].copy()
    leaves_out = rng.random(len(state)) < drops if drops else np.zeros(len(state), np.bool_)
    is_shut = leaves_out[:, None] & ~chosen
    wanted[:, :columns] = np.where(is_shut, -force[:, None], wanted[:, :columns])
    for is_in, scale in ((False, _OUT_SCALE), (True, _IN_SCALE)):
        # Those that may be forced in are ranked by weight from above, those out from below.
        keys = np.where(
            chosen == is_in, np.inf, (-column_weights if is_in else column_weights)[state]
        )
        ranks = _picked(keys, scale * changes, changes, rng)
        row, place = np.nonzero((ranks >= 0) & ~(is_in & leaves_out[:, None]))
        wanted[row, ranks[row, place]] = force[row] if is_in else -force[row]
    tried = best(wanted, state)
    return Candidates(state, tried).only((tried != actions[state]).any(axis=1))


def _picked(keys: FloatArray, scale: float, count: int, rng: np.random.Generator) -> IntArray:
    """Return some columns of each row with a finite key, small keys first, ``(B, count)``.

    -1 stands where there is none, or where nothing is to change.
    """
    order = np.argsort(keys, axis=1, kind="stable")
    there = np.isfinite(keys).sum(axis=1)[:, None]
    evenly = rng.random((len(keys), count)) * there
    by_rank = rng.exponential(scale, (len(keys), count))
    rank = np.where(rng.random((len(keys), count)) < _EVENLY, evenly, by_rank).astype(np.int64)
    rank = np.minimum(rank, np.maximum(there - 1, 0))
    picked: IntArray = np.where(there > 0, np.take_along_axis(order, rank, axis=1), -1)
    return picked


def that_matter(
    environment: Environment,
    states: States,
    actions: ActionArray,
    tried: Candidates,
    count: int,
    rng: np.random.Generator,
) -> Candidates:
    """Return up to ``count`` candidates of each state that change what comes next.

    The trial steps have luck of their own: what is then measured is not biased by it.
    """
    matters = np.zeros(len(tried.state), dtype=np.bool_)
    for part in _parts(len(tried.state), states.shape[1]):
        few = tried.only(part)
        for _ in range(_TRIALS):
            noise = rng.random((len(few.state), environment.n_noise))
            one, other = (
                environment.step(states[few.state], own, noise)
                for own in (actions[few.state], few.actions)
            )
            matters[part] |= (one[1] != other[1]).any(axis=1) | (one[0] != other[0])
    kept = tried.only(matters)
    first = np.searchsorted(kept.state, kept.state)
    return kept.only(np.arange(len(kept.state)) - first < count)


def compare(
    environment: Environment,
    act: Act,
    states: States,
    steps: IntArray,
    actions: ActionArray,
    tried: Candidates,
    credit: Credit,
    rollouts: int,
    depth: int,
    rng: np.random.Generator,
) -> None:
    """Play ``tried`` and the policy's ``actions`` under the same luck, and tell ``credit``.

    After the first step all follow the policy. A candidate that comes to the same state as the
    policy's own action stays there, under the same luck: it is played no further, which is most of
    the work saved. Common random numbers: Glasserman and Yao 1992.
    """
    for part in _parts(len(tried.state), states.shape[1] * rollouts):
        _compare(
            environment, act, states, steps, actions, tried, part, credit, rollouts, depth, rng
        )


def _compare(
    environment: Environment,
    act: Act,
    states: States,
    steps: IntArray,
    actions: ActionArray,
    tried: Candidates,
    part: slice,
    credit: Credit,
    rollouts: int,
    depth: int,
    rng: np.random.Generator,
) -> None:
    few, begun = tried.only(part), np.arange(len(tried.state))[part]
    known, place = np.unique(few.state, return_inverse=True)
    # A pair is a candidate under one luck; its twin is the policy's own action under that luck.
    twin = (place[:, None] * rollouts + np.arange(rollouts)).reshape(-1)
    pair = np.repeat(begun, rollouts)
    at = np.repeat(steps[known], rollouts)
    own, other = np.repeat(states[known], rollouts, 0), np.repeat(states[few.state], rollouts, 0)
    own_action = np.repeat(actions[known], rollouts, 0)
    action = np.repeat(few.actions, rollouts, 0)
    played = np.arange(len(at))
    luck_size, uniforms = environment.space.n_actions, environment.n_noise
    for ahead in range(depth):
        luck, noise = rng.random((len(at), luck_size)), rng.random((len(at), uniforms))
        alive = at[twin] + ahead < environment.horizon
        pair, twin, other, action = pair[alive], twin[alive], other[alive], action[alive]
        if not len(twin):
            return
        needed, where = np.unique(twin, return_inverse=True)
        kept = np.searchsorted(played, needed)
        played, own, own_action = needed, own[kept], own_action[kept]
        if ahead:
            both = np.concatenate([own, other])
            which = np.concatenate([needed, twin])
            acted = act(both, at[which] + ahead, luck[which])
            own_action, action = acted[: len(needed)], acted[len(needed) :]
        reward, after = environment.step(own, own_action, noise[needed])
        rewards, afters = environment.step(other, action, noise[twin])
        ours, theirs = (other, action), (own[where], own_action[where])
        credit.add(PairedStep(pair, ahead, rewards - reward[where], ours, theirs))
        own, other = after, afters
        apart = (other != own[where]).any(axis=1)
        pair, twin, other, action = pair[apart], twin[apart], other[apart], action[apart]


def _parts(rows: int, size: int) -> Iterator[slice]:
    """Cut rows of some size into parts that fit into memory."""
    few = max(1, _TOGETHER // max(size, 1))
    for first in range(0, rows, few):
        yield slice(first, min(first + few, rows))
