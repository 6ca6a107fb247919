"""From a log to transitions with their uncertainty."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sequoia.errors import ProblemError
from sequoia.frames import Library, frame_of
from sequoia.problem import Problem
from sequoia.problem.names import Numbered, count
from sequoia.records.em import Mode, find_mode
from sequoia.records.log import Log, Words, groups_of
from sequoia.records.posterior import Posterior
from sequoia.records.segments import Segments
from sequoia.records.shrinkage import normal
from sequoia.records.structure import Structure, make_rising
from sequoia.rng import stream
from sequoia.shown import Columns, Shown
from sequoia.sizes import require_memory
from sequoia.validation import FloatArray, frozen

# Chains that are drawn at once: as many as keep nodes and entries of all of them this few, so that
# memory does not grow. Small chains take as long as the calls that draw them, many or one.
_CHAINS, _AT_ONCE = (2, 4, 8, 16), 20_000
# What came before so many sweeps is forgotten; chains begin at the mode, not far from anything.
_BURN_IN = 80
# Draws are kept every so many sweeps: neighbours are much alike.
_THIN = 5
# Kept draws: first those after which chains are looked at again and again, then the most.
_PERIOD, _MOST_DRAWS = 80, 400
# Chains are long enough when nearly all entries have so many independent draws: the ends of 90 %
# intervals are then known to about a quarter of a standard deviation, sqrt(0.05 * 0.95 / 60) over
# the density there.
_ENOUGH, _NEARLY_ALL = 60.0, 0.05
_BATCHES = 20
# Rows whose 90 % interval is wider say little; rows with fewer transitions rest on the others.
_WIDE, _FEW = 0.3, 5.0
_TAIL = 0.05
# The most likely rows and what guesses are worth depend on each other: found in turn.
_LOOKS = 3


class Unsure(NamedTuple):
    """A row that the data cannot tell: how often it was met, and its widest 90 % interval."""

    group: int
    dose: int
    state: int
    met: float
    width: float


@dataclass(frozen=True, eq=False, repr=False)
class FittedModel(Shown):
    """Transitions from a log. Axes: D draws, G groups, L doses, S states.

    Attributes
    ----------
    kernels
        Posterior means, ``(G, L, S, S)``.
    draws
        From the posterior, ``(D, G, L, S, S)``.
    counts
        Transitions from, by and to, as far as they are seen or can be guessed, ``(G, L, S, S)``.
    mode
        The most likely transitions, by expectation–maximisation, ``(G, L, S, S)``.
    log_likelihood
        Of the log at the mode.
    worth
        How many observations each guess at a group's rows is worth, by dose and row,
        ``(B, L, R)``: what groups have in common, and moves that are the same from every state.
    independent
        How many independent draws the draws are worth, for all but the slowest entries.
    n_rows, n_segments
        Rows of the log, and pairs of neighbouring sightings of an arm.
    words
        The names of groups, states and doses; numbers where the log does not say them.
    """

    kernels: FloatArray
    draws: FloatArray
    counts: FloatArray
    mode: FloatArray
    log_likelihood: float
    worth: FloatArray
    independent: float
    n_rows: int
    n_segments: int
    words: Words

    def _lines(self) -> list[str]:
        """Return what it rests on, and what it does not know."""
        groups, levels, states = self.kernels.shape[:3]
        return [
            f"FittedModel of {count(groups, 'group')}, {count(levels, 'dose')}, "
            f"{count(states, 'state')} from {count(self.n_rows, 'row')}",
            f"{len(self.unsure)} of {groups * levels * states} rows of transitions are unsure",
        ]

    def _shown_table(self) -> Columns:
        """Return a row for each move: how likely it is, its 90 % interval, how often it was met."""
        words, shape = self.words, self.kernels.shape
        group, level, state, to = np.indices(shape).reshape(4, -1)
        low, high = self.interval
        return {
            "model": [words.groups[g] for g in group.tolist()],
            "dose": np.asarray(words.doses)[level],
            "state": [words.states[s] for s in state.tolist()],
            "to": [words.states[s] for s in to.tolist()],
            "probability": self.kernels.reshape(-1),
            "low": low.reshape(-1),
            "high": high.reshape(-1),
            "count": self.counts.reshape(-1),
        }

    def to_frame(self, library: Library = "pandas") -> Any:
        """Return a data frame with a row for each move; `Problem.from_frames` reads it.

        Its columns are ``model``, ``dose``, ``state``, ``to``, ``probability``, the ends ``low``
        and ``high`` of the 90 % interval, and ``count``, how often the move was met.
        """
        return frame_of(self._shown_table(), library)

    @cached_property
    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Ends of the 90 % intervals, ``(G, L, S, S)`` each."""
        low, high = np.quantile(self.draws, [_TAIL, 1 - _TAIL], axis=0)
        return low, high

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Return one draw from the posterior, ``(G, L, S, S)``: for Thompson sampling."""
        drawn: FloatArray = self.draws[rng.integers(len(self.draws))]
        return drawn

    @cached_property
    def unsure(self) -> list[Unsure]:
        """Rows that the data cannot tell, the least known first."""
        low, high = self.interval
        width, count = (high - low).max(axis=-1), self.counts.sum(axis=-1)
        rows = np.argwhere((width > _WIDE) | (count < _FEW))
        unsure = [
            Unsure(g, a, s, float(count[g, a, s]), float(width[g, a, s]))
            for g, a, s in rows.tolist()
        ]
        return sorted(unsure, key=lambda row: (-row.width, row.met))


def fit(
    log: Log,
    n_states: int | None = None,
    n_doses: int | None = None,
    *,
    n_groups: int | None = None,
    structure: Structure | None = None,
    features: ArrayLike | None = None,
    seed: int = 0,
) -> FittedModel:
    """Estimate transitions by group and dose from states that are seen only now and then.

    First the most likely ones by expectation–maximisation, then draws from the posterior by a Gibbs
    sampler that begins there. Both take unseen states into account exactly.

    Parameters
    ----------
    n_states, n_doses
        As many as the log has names for, unless given.
    n_groups
        As many as the log names, unless given; groups without data get what is common to all.
    structure
        What is known anyway; nothing unless given.
    features
        Of each group, ``(G, F)``: groups are then shrunk towards what a multinomial logit in them
        predicts. Arms with features of their own are groups of one.

    Raises
    ------
    ProblemError
        When the log has numbers out of range, or sightings that the structure rules out.

    Examples
    --------
    >>> import sequoia
    >>> seen = {'arm': ['Ada'] * 4, 'step': [0, 1, 2, 3], 'state': ['ill', 'ill', 'well', 'well']}
    >>> log = sequoia.Log.from_frame(seen, {'arm': ['Ada']}, states=['ill', 'well'])
    >>> sequoia.fit(log).kernels.shape  # groups, doses, from, to
    (1, 1, 2, 2)
    """
    words = log.words
    if words is None and (n_states is None or n_doses is None):
        raise ProblemError("the log has no names of states and doses; say how many there are.")
    if words is not None:
        n_states = len(words.states) if n_states is None else n_states
        n_doses = len(words.doses) if n_doses is None else n_doses
        n_groups = len(words.groups) if n_groups is None else n_groups
    assert n_states is not None
    assert n_doses is not None
    groups = log.n_groups if n_groups is None else n_groups
    if groups < 1:
        raise ProblemError("the log has no arms; at least one is wanted.")
    known = Structure() if structure is None else structure
    entries = float(groups) * n_doses * n_states**2
    what = f"{_MOST_DRAWS} draws of the transitions of {groups} groups"
    require_memory(what, _MOST_DRAWS * entries)
    segments = Segments.of(log, groups, n_doses, n_states)
    rng = stream(seed, "records:fit")
    chain = Posterior(segments, known, _standardised(features, groups), rng)
    mode = _mode(chain)
    start = mode.rows
    if known.never_hurts:
        start = make_rising(start, mode.counts.sum(axis=-1) + 1.0)
    many = _AT_ONCE // (len(segments.parent) + start.size)
    chain.begin(start, max((chains for chains in _CHAINS if chains <= many), default=1))
    draws, counts, worth, independent = _run(chain)
    return FittedModel(
        draws.mean(axis=0),
        draws,
        counts,
        chain.moves.kernels(start),
        mode.likelihood,
        worth,
        independent,
        log.n_rows,
        segments.n_segments,
        words or _numbered(groups, n_states, n_doses),
    )


def _numbered(groups: int, states: int, doses: int) -> Words:
    """Return numbers for names."""
    return Words(Numbered("model", groups), [str(s) for s in range(states)], range(doses))


def with_kernels(problem: Problem, kernels: FloatArray) -> Problem:
    """Return a problem with other transitions, ``(G, L, S, S)``, in the groups of `groups_of`."""
    arms = problem.arms
    if problem.contagion is None:
        return replace(problem, arms=replace(arms, kernels=kernels))
    # A level of the log is dose and pressure together.
    moved = arms.kernels.copy()
    group, doses = groups_of(problem), arms.n_doses
    for arm, models in enumerate(problem.contagion.models):
        arm_kernels = kernels[group[arm]].reshape(-1, doses, *kernels.shape[2:])
        moved[models] = arm_kernels[: len(models)]
    return replace(problem, arms=replace(arms, kernels=moved))


def _standardised(features: ArrayLike | None, groups: int) -> FloatArray | None:
    if features is None:
        return None
    given = frozen("features", features, np.float64, (groups, None))
    spread = given.std(axis=0)
    return np.asarray((given - given.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _mode(chain: Posterior) -> Mode:
    """Return the most likely rows: of all groups together, then of each, shrunk."""
    segments, moves, shrunk = chain.segments, chain.moves, chain.shrunk
    weak = normal(np.ones((1, *moves.allowed.shape)), moves.allowed)
    common = find_mode(segments.pooled(), moves, weak, weak)
    rows = np.repeat(common.rows, segments.shape[0], axis=0)
    counts, likelihood = segments.expected_counts(moves.kernels(rows))
    mode = Mode(rows, moves.fold(counts, rows), likelihood)
    # How much groups differ is seen better the better their own rows are known.
    for _ in range(_LOOKS):
        shrunk.fit(mode.counts[None])
        prior = np.broadcast_to(shrunk.prior[0], rows.shape)
        mode = find_mode(segments, moves, mode.rows, prior)
    return mode


def _run(chain: Posterior) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return draws, mean counts, median worth, and how many independent draws there are."""
    draws: list[FloatArray] = []
    worth: list[FloatArray] = []
    kernels = chain.kernels
    counts, chains = np.zeros(kernels.shape[1:]), len(kernels)
    for _ in range(_BURN_IN):
        chain.sweep()
    independent = 0.0
    while independent < _ENOUGH and len(draws) * chains < _MOST_DRAWS:
        for _ in range(_PERIOD // chains):
            for _ in range(_THIN):
                counts += chain.sweep().mean(axis=0) / _THIN
            draws.append(chain.kernels)
            worth.append(np.array(np.broadcast_arrays(*chain.shrunk.worth)))
        independent = _independent(np.array(draws))
    kept = np.concatenate(draws)
    return kept, counts / len(draws), np.median(worth, axis=(0, 2)), independent


def _independent(draws: FloatArray) -> float:
    """Return how many independent draws chains are worth, for all but the slowest entries.

    By batch means: ``n * var / (length of a batch * var of the batch means)``. ``draws`` is
    ``(D, C, …)``; with many chains, each is a batch.
    """
    steps, chains = draws.shape[:2]
    flat = draws.reshape(steps, chains, -1)
    flat = flat[..., flat.std(axis=(0, 1)) > 1e-9]
    if not flat.size:
        return float(steps * chains)
    batches = max(1, _BATCHES // chains)
    length = steps // batches
    means = flat[-length * batches :].reshape(batches, length, chains, -1).mean(axis=1)
    means = means.reshape(batches * chains, -1)
    ratio = flat.var(axis=(0, 1)) / np.maximum(length * means.var(axis=0, ddof=1), 1e-300)
    return float(np.quantile(steps * chains * np.minimum(ratio, 1.0), _NEARLY_ALL))
