"""Ways to run a programme whose transitions are not known: what each makes of its own log."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from sequoia.bounds.lagrangian.prices import Prices
from sequoia.bounds.lagrangian.relax import relax
from sequoia.bounds.whittle import whittle_indices
from sequoia.errors import ProblemError
from sequoia.policies.whittle import require_standard
from sequoia.problem import Problem
from sequoia.records.belief import BeliefProblem, belief_problem
from sequoia.records.fit import with_kernels
from sequoia.records.log import Log, Seen
from sequoia.records.posterior import Posterior
from sequoia.records.segments import Segments
from sequoia.records.structure import Structure
from sequoia.validation import FloatArray

# Sweeps of the sampler each time: enough to forget the last draw where most states are seen.
_SWEEPS = 20
# UCWhittle's confidence: with 1 - delta, all rows are within their radius.
_DELTA = 0.05
# Value iteration of the optimistic model: what is left is a thousandth, at a discount of 0.95.
_ROUNDS = 150


class Learner(ABC):
    """Says what doses are worth, from a log alone.

    Parameters
    ----------
    problem
        The programme; a learner does not look at its transitions, unless it knows the truth.
    seen
        When states are seen.
    every
        Steps between two looks at the log.
    """

    name: ClassVar[str]
    words: ClassVar[str]

    def __init__(
        self,
        problem: Problem,
        seen: Seen,
        every: int,
        structure: Structure,
        rng: np.random.Generator,
    ) -> None:
        self.problem, self.seen, self.every = problem, seen, every
        self.structure, self.rng = structure, rng

    @abstractmethod
    def table(self, log: Log) -> FloatArray:
        """Return what each dose level is worth to every arm today, ``(J, L)``."""


class Planner(Learner):
    """Plans by stationary prices, on beliefs, for the transitions that it takes for true."""

    _plan: tuple[BeliefProblem, Prices] | None = None

    @abstractmethod
    def kernels(self, log: Log) -> FloatArray:
        """Return the transitions to plan for, ``(G, L, S, S)``."""

    def table(self, log: Log) -> FloatArray:
        """Return what prices make of the belief about each arm."""
        if self._plan is None or log.n_steps % self.every == 0:
            belief = belief_problem(with_kernels(self.problem, self.kernels(log)), self.seen)
            # Without an end and with one price for ever: a programme goes on.
            prices = relax(belief.problem, horizon=0, discounted=True).prices
            self._plan = belief, prices
        belief, prices = self._plan
        return prices.weights(belief.nodes(belief.about(log)))


class Truth(Planner):
    """Knows the transitions."""

    name, words = "truth", "knows the transitions"

    def kernels(self, log: Log) -> FloatArray:
        """Return the problem's own."""
        return self.problem.arms.kernels


class Thompson(Planner):
    """Plans for a draw from the posterior (Thompson 1933): what is not known is tried out."""

    name, words = "thompson", "plans for a draw from the posterior"
    _chain: Posterior | None = None

    def kernels(self, log: Log) -> FloatArray:
        """Return a draw; the sampler goes on from the last one with the longer log."""
        return self.sweep(log)[-1]

    def sweep(self, log: Log) -> list[FloatArray]:
        """Return a few draws."""
        arms = self.problem.arms
        segments = Segments.of(log, arms.n_models, arms.n_doses, arms.n_states)
        if self._chain is None:
            self._chain = Posterior(segments, self.structure, None, self.rng)
        self._chain.segments = segments
        draws = []
        for _ in range(_SWEEPS):
            self._chain.sweep()
            draws.append(self._chain.kernels[0])
        return draws


class Refit(Thompson):
    """Plans for the posterior mean: never tries anything for the sake of learning."""

    name, words = "refit", "plans for the estimate, without exploring"

    def kernels(self, log: Log) -> FloatArray:
        """Return the mean of a few draws."""
        mean: FloatArray = np.mean(self.sweep(log), axis=0)
        return mean


class ByGroups(Learner):
    """A rule without a model: groups by how badly they are off, in each who waits longest.

    The score of an arm is its group's mean shortfall, the best reward less that of the states seen,
    times the steps since its last visit.
    """

    name, words = "groups", "worse-off groups first, in each who waits longest"

    def table(self, log: Log) -> FloatArray:
        """Return the score for any dose, and a little more for larger ones."""
        arms = self.problem.arms
        arm, _, state = log.sightings.T
        group = log.group[arm]
        short = arms.rewards[group].max(axis=1) - arms.rewards[group, state]
        size = arms.n_models
        # One sighting of the worst state is assumed, so that a group is visited at all.
        worst = arms.rewards.max(axis=1) - arms.rewards.min(axis=1)
        need = (np.bincount(group, short, size) + worst) / (np.bincount(group, minlength=size) + 1)
        last = np.full(arms.n_arms, -1)
        np.maximum.at(last, log.visits[:, 0], log.visits[:, 1])
        score = need[arms.model] * (log.n_steps - last)
        levels = np.arange(arms.n_doses) / max(arms.n_doses - 1, 1)
        table: FloatArray = score[:, None] * np.sqrt(levels)
        return table


class UcWhittle(Learner):
    """Whittle indices of the most hopeful transitions (UCWhittle, Wang et al. 2023).

    Rows may differ from what was counted by ``sqrt(2 S log(2 S A J t / delta) / n)`` in total. The
    most hopeful ones are those of extended value iteration (Jaksch et al. 2010), at the charge that
    the budget last implied; acting is then by their indices.

    Raises
    ------
    ProblemError
        Where it does not apply: it needs a standard bandit, and states that are all seen.
    """

    name, words = "ucwhittle", "Whittle indices of the most hopeful model"
    _index: FloatArray | None = None
    _charge = 0.0

    def __init__(
        self,
        problem: Problem,
        seen: Seen,
        every: int,
        structure: Structure,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(problem, seen, every, structure, rng)
        self._most, acted = require_standard(problem)
        if seen.before < 1:
            raise ProblemError("ucwhittle needs every state to be seen in every step.")
        self._pair = np.stack([np.zeros_like(acted), acted], axis=1)

    def table(self, log: Log) -> FloatArray:
        """Return the index of each arm's state for acting."""
        arms = self.problem.arms
        if self._index is None or log.n_steps % self.every == 0:
            self._index = self._indices(log)
        today = log.sightings[log.sightings[:, 1] == log.n_steps]
        state = np.zeros(arms.n_arms, dtype=np.int64)
        state[today[:, 0]] = today[:, 2]
        index = self._index[arms.model, state]
        self._charge = max(0.0, float(np.sort(index)[::-1][min(self._most, len(index) - 1)]))
        table = np.zeros((arms.n_arms, arms.n_doses))
        acted = self._pair[arms.model, 1]
        table[np.arange(arms.n_arms), acted] = index
        return table

    def _indices(self, log: Log) -> FloatArray:
        arms, discount = self.problem.arms, self.problem.discount
        each = np.arange(arms.n_models)[:, None]
        segments = Segments.of(log, arms.n_models, arms.n_doses, arms.n_states)
        flat = np.full(arms.kernels.shape, 1 / arms.n_states)
        counts = segments.sample_counts(flat, self.rng)[each, self._pair].astype(np.float64)
        met = counts.sum(axis=-1)
        mean = np.where(
            met[..., None] > 0, counts / np.maximum(met, 1)[..., None], flat[0, 0, 0, 0]
        )
        tries = 2 * arms.n_states * 2 * arms.n_arms * max(log.n_steps, 1) / _DELTA
        radius = np.minimum(np.sqrt(2 * arms.n_states * np.log(tries) / np.maximum(met, 1)), 2.0)
        rewards = arms.rewards[:, None, None, :]
        value = np.zeros((arms.n_models, arms.n_states))
        charges = np.array([0.0, self._charge])[:, None]
        for _ in range(_ROUNDS):
            hope = hopeful(mean, radius, rewards + discount * value[:, None, None, :])
            ahead = (hope * (rewards + discount * value[:, None, None, :])).sum(axis=-1)
            value = (ahead - charges).max(axis=1)
        indices = whittle_indices(hope, (hope * rewards).sum(axis=-1), discount)
        # A hopeful model need not be indexable; the advantage of acting is then used.
        return np.where(np.isnan(indices.indices), ahead[:, 1] - ahead[:, 0], indices.indices)


def hopeful(mean: FloatArray, radius: FloatArray, worth: FloatArray) -> FloatArray:
    """Return rows within ``radius`` of ``mean``, by total difference, that are worth most.

    Half the radius goes to the best next state, and is taken from the worst ones.
    """
    order = np.argsort(np.broadcast_to(worth, mean.shape), axis=-1)
    rows = np.take_along_axis(mean, order, axis=-1)
    gain = np.minimum(radius / 2, 1 - rows[..., -1])
    # What the worst states lose, from below, until it is as much as the best one gains.
    below = np.concatenate([np.zeros_like(rows[..., :1]), rows[..., :-1].cumsum(axis=-1)], axis=-1)
    lost = np.clip(gain[..., None] - below, 0.0, rows)
    lost[..., -1] = -gain
    result = np.empty_like(mean)
    np.put_along_axis(result, order, rows - lost, axis=-1)
    return result


LEARNERS: dict[str, type[Learner]] = {
    learner.name: learner for learner in (Thompson, Refit, ByGroups, UcWhittle)
}
