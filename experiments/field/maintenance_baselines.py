"""Baselines of `maintenance`: rules of thumb, and what was published of others."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from experiments.field.maintenance import FAILED, HORIZON, Maintenance
from experiments.play import Policy, mean_and_half_width, returns
from sequoia.problem.environment import Environment
from sequoia.validation import ActionArray, FloatArray, IntArray

# Intervals of inspections and thresholds of probabilities that `best_heuristic` tries. A component
# lives 8 to 13 steps; the last interval is the horizon, which is never to inspect.
INTERVALS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, HORIZON)
THRESHOLDS = tuple(round(0.1 * tenth, 1) for tenth in range(1, 10))
# How many of the first round play again, and for how many times as many episodes.
_FINALISTS, _LONGER = 10, 10


class Published(NamedTuple):
    """Discounted costs from arXiv 2603.11884 and its public code (prateekbhustali/imprl).

    Attributes
    ----------
    sarsop, lower, upper
        SARSOP's policy in simulation, and the interval of the optimum that SARSOP certified without
        a horizon: compare with ``upper`` what is measured in episodes of 40 steps.
    ddqn
        The best of ten runs of DDQN; ``None`` where it is not noted here.
    heuristic
        The best of inspecting so many components at intervals and replacing at a reading.
    fail_replace
        See `fail_and_replace`.
    nothing
        Doing nothing.
    """

    sarsop: float
    lower: float
    upper: float
    ddqn: float | None
    heuristic: float
    fail_replace: float
    nothing: float


# By k, of the four published components, in episodes of 20 steps.
PUBLISHED = {
    1: Published(50.41, 43.67, 51.82, 50.81, 70.19, 340.65, 222.23),
    2: Published(138.59, 113.19, 141.76, 141.70, 159.32, 357.91, 640.79),
    3: Published(303.93, 272.84, 309.06, None, 358.51, 550.37, 1231.83),
    4: Published(747.54, 727.36, 755.52, None, 913.03, 1494.49, 2039.27),
}


def discounted_cost(
    environment: Environment, policy: Policy, episodes: int, seed: int
) -> tuple[float, float]:
    """Return the mean discounted cost of an episode and half of its 95 % interval."""
    return mean_and_half_width(-returns(environment, policy, episodes, seed))


def fail_and_replace(environment: Maintenance) -> Policy:
    """Return the policy behind the figures published as fail-and-replace.

    It replaces what the last reading calls failed and never inspects. In the public code a reading
    without an inspection is 0, 1 or 2 with probability 1/3 each, so from the second step on it
    replaces each component with probability 1/3, whatever its damage.
    """
    count = environment.n_components

    def policy(states: FloatArray, step: int, rng: np.random.Generator) -> ActionArray:
        actions = np.zeros((len(states), 2 * count), dtype=np.int8)
        if step:
            actions[:, :count] = rng.random((len(states), count)) < 1 / 3
        return actions

    return policy


@dataclass(frozen=True, eq=False)
class Heuristic:
    """Inspect at intervals, replace at a threshold, and let some components go; a `Policy`.

    Attributes
    ----------
    interval
        Steps from one inspection to the next; the first is after so many steps.
    kept
        How many components are looked after: the first of `in_order`.
    damage, threshold
        A component is replaced when it has at least this damage with at least this probability.
    """

    environment: Maintenance
    interval: int
    kept: int
    damage: int
    threshold: float

    def __call__(self, states: FloatArray, step: int, rng: np.random.Generator) -> ActionArray:
        """Return the action in each state, ``(B, 2 n)``."""
        is_kept = np.zeros(self.environment.n_components, dtype=np.bool_)
        is_kept[in_order(self.environment)[: self.kept]] = True
        damaged = self.environment.beliefs(states)[:, :, self.damage :].sum(axis=2)
        replaced = is_kept & (damaged >= self.threshold)
        is_time = step > 0 and step % self.interval == 0
        inspected = is_kept & ~replaced & is_time
        return np.concatenate([replaced, inspected], axis=1).astype(np.int8)

    def __str__(self) -> str:
        """Say what it does."""
        return (
            f"inspect {self.kept} components every {self.interval} steps, replace where "
            f"P(damage >= {self.damage}) >= {self.threshold}"
        )


def in_order(environment: Maintenance) -> IntArray:
    """Return components by replacement cost per step of life, the cheapest first, ``(n,)``.

    The life of a new component is the mean number of steps until it fails, ``(I - Q)^-1 1`` with
    ``Q`` the wear between the damages before failure.
    """
    remain = np.eye(FAILED) - environment.wear[:, :, :FAILED]
    life = np.linalg.solve(remain, np.ones((environment.n_components, FAILED, 1)))[:, 0, 0]
    return np.argsort(environment.replace_cost / life, kind="stable")


def best_heuristic(
    environment: Maintenance,
    episodes: int = 100,
    seed: int = 0,
    intervals: Sequence[int] = INTERVALS,
    thresholds: Sequence[float] = THRESHOLDS,
) -> Heuristic:
    """Return the best `Heuristic` of a grid; the first ten play ten times as many episodes.

    All play with the same luck. Estimate its cost with another seed.
    """
    kept, damages = range(1, environment.n_components + 1), range(1, FAILED + 1)
    grid = [
        Heuristic(environment, *choice) for choice in product(intervals, kept, damages, thresholds)
    ]

    def ranked(candidates: list[Heuristic], count: int) -> list[Heuristic]:
        costs = [discounted_cost(environment, each, count, seed)[0] for each in candidates]
        return [candidates[place] for place in np.argsort(costs, kind="stable")]

    finalists = ranked(grid, episodes)[:_FINALISTS]
    return ranked(finalists, _LONGER * episodes)[0]
