"""The cost of not knowing the transitions: programmes that learn from their own log."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sequoia.bounds.lagrangian.relax import require_decoupled
from sequoia.defaults import FEW_EPISODES
from sequoia.errors import ProblemError
from sequoia.evaluation.intervals import Estimate, estimate
from sequoia.optimize import ActionEncoding, LinearArgmax
from sequoia.problem import Problem
from sequoia.problem.names import closest
from sequoia.records.learners import LEARNERS, Learner, Truth
from sequoia.records.log import Log, Seen
from sequoia.records.structure import Structure
from sequoia.rng import stream
from sequoia.validation import FloatArray, whole


@dataclass(frozen=True, eq=False)
class Regret:
    """Rewards of learners, and of a policy that knows the truth, under the same luck.

    Attributes
    ----------
    names
        Of K learners.
    rewards
        By learner, episode and step, ``(K, E, T)``: the expected reward of the next states.
    truth
        Of the one that knows the transitions, ``(E, T)``.
    """

    problem: str
    names: Sequence[str]
    rewards: FloatArray
    truth: FloatArray

    @property
    def cumulative(self) -> FloatArray:
        """The loss of each learner so far, ``(K, E, T)``."""
        lost: FloatArray = (self.truth - self.rewards).cumsum(axis=2)
        return lost

    def at(self, name: str, step: int) -> Estimate:
        """Estimate the regret of a learner after so many steps."""
        return estimate(self.cumulative[list(self.names).index(name), :, step - 1])

    def share(self, name: str, step: int) -> Estimate:
        """Estimate the regret as a share of what the truth earned in those steps."""
        lost = self.cumulative[list(self.names).index(name), :, step - 1]
        return estimate(lost / self.truth[:, :step].sum(axis=1))


def regret(
    problem: Problem,
    learners: Sequence[str] | None = None,
    *,
    steps: int = 50,
    episodes: int = FEW_EPISODES,
    seen: Seen = Seen(1.0),
    every: int = 5,
    structure: Structure | None = None,
    seed: int = 0,
    on_episode: Callable[[int], None] | None = None,
) -> Regret:
    """Play programmes that learn, and one that knows the truth, under the same luck.

    Parameters
    ----------
    learners
        Names of `LEARNERS`; all that apply unless given.
    every
        Steps between two looks at the log.
    structure
        What learners know anyway.
    on_episode
        Called with the number of episodes that are done.
    """
    require_decoupled(problem)
    steps, episodes = whole("steps", steps, 1), whole("episodes", episodes, 1)
    every = whole("every", every, 1)
    known = Structure() if structure is None else structure
    names = _names(learners, problem, seen, every, known)
    earned = np.empty((len(names) + 1, episodes, steps))
    for episode in range(episodes):
        for index, name in enumerate([Truth.name, *names]):
            rng = stream(seed, f"learner:{name}:episode:{episode}")
            # Whoever knows the truth plans once.
            kind, look = (Truth, steps) if name == Truth.name else (LEARNERS[name], every)
            learner = kind(problem, seen, look, known, rng)
            earned[index, episode] = play(problem, learner, steps, seen, seed, episode)[0]
        if on_episode is not None:
            on_episode(episode + 1)
    return Regret(problem.name, names, earned[1:], earned[0])


def _names(
    learners: Sequence[str] | None, problem: Problem, seen: Seen, every: int, known: Structure
) -> list[str]:
    """Return the names of learners that apply; those that are asked for have to."""
    rng = np.random.default_rng(0)
    for name in learners or ():
        if name not in LEARNERS:
            hint = closest(name, list(LEARNERS))
            raise ProblemError(f"there is no learner {name!r}; known: {', '.join(LEARNERS)}{hint}.")
        LEARNERS[name](problem, seen, every, known, rng)
    if learners:
        return list(learners)
    fine = []
    for name, learner in LEARNERS.items():
        try:
            learner(problem, seen, every, known, rng)
        except ProblemError:
            continue
        fine.append(name)
    return fine


def play(
    problem: Problem, learner: Learner, steps: int, seen: Seen, seed: int, episode: int = 0
) -> tuple[FloatArray, Log]:
    """Return what one learner earns in each step, ``(T,)``, and its log."""
    luck = stream(seed, f"scenario:{episode}")
    state = problem.draw_start(luck, 1)[0]
    noise = luck.random((steps, problem.n_noise))
    shown = luck.random((2, steps, problem.arms.n_arms))
    argmax = LinearArgmax(ActionEncoding.of_problem(problem))
    sightings = np.empty((0, 3), dtype=np.int64)
    visits = np.empty((0, 3), dtype=np.int64)
    rewards = np.empty(steps)
    arm = np.arange(len(state))
    for step in range(steps):
        is_reported = shown[0, step] < seen.before
        rows = np.column_stack([arm, np.full_like(arm, step), state])
        sightings = np.concatenate([sightings, rows[is_reported]])
        log = Log(problem.arms.model, step, sightings, visits)
        action = argmax.best_doses(learner.table(log)[None]).actions
        level = problem.levels(action)[0]
        is_shown = (level > 0) & (shown[1, step] < seen.at_visit) & ~is_reported
        sightings = np.concatenate([sightings, rows[is_shown]])
        given = np.column_stack([arm, np.full_like(arm, step), level])
        visits = np.concatenate([visits, given[level > 0]])
        reward, following = problem.step(state[None], action, noise[step][None])
        rewards[step], state = reward[0], following[0]
    return rewards, Log(problem.arms.model, steps, sightings, visits)
