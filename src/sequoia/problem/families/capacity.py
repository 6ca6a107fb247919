"""Workers with capacities visit arms with costs (appendix C)."""

from typing import Annotated

import numpy as np

from sequoia.problem.families import base
from sequoia.problem.problem import Problem
from sequoia.problem.spaces import Assignment
from sequoia.rng import stream
from sequoia.sizes import MOST_COLUMNS, require_at_most


def capacity(
    arms: base.NumberOfArms = 20,
    workers: base.Workers = None,
    least_cost: Annotated[int, "least cost of a visit"] = 2,
    most_cost: Annotated[int, "largest cost of a visit"] = 6,
    least_capacity: Annotated[int, "least capacity of a worker"] = 2,
    most_capacity: Annotated[int, "largest capacity of a worker"] = 7,
    states: base.States = 4,
    long_run: base.LongRun = None,
    start_share: base.StartShare = 0.2,
    horizon: base.Horizon = 20,
    discount: base.Discount = 0.99,
    seed: base.Seed = 0,
) -> Problem:
    """Make a capacity-constrained problem: each worker's visits fit into the worker's capacity."""
    rng = stream(seed, "family:capacity")
    count = base.budget_for(arms, workers, "workers")
    require_at_most("assignment", arms * count, "pairs of worker and arm", MOST_COLUMNS)
    base.at_least("least_cost", least_cost, 1)
    base.at_least("most_cost", most_cost, least_cost)
    base.at_least("least_capacity", least_capacity, 0)
    base.at_least("most_capacity", most_capacity, least_capacity)
    chains = base.ladder_arms(arms, states, long_run, count, rng)
    space = Assignment(
        rng.integers(least_cost, most_cost + 1, arms).astype(np.float64),
        rng.integers(least_capacity, most_capacity + 1, count).astype(np.float64),
    )
    return Problem(
        name=f"capacity, {arms} arms, {count} workers, seed {seed}",
        arms=chains,
        space=space,
        start=base.bernoulli_start(arms, states, start_share),
        horizon=horizon,
        discount=discount,
    )
