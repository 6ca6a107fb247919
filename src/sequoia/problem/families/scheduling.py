"""Workers and arms meet in common slots (appendix C)."""

from typing import Annotated

import numpy as np

from sequoia.problem.families import base
from sequoia.problem.problem import Problem
from sequoia.problem.spaces import Schedule
from sequoia.rng import stream


def scheduling(
    arms: base.NumberOfArms = 20,
    workers: base.Workers = None,
    budget: Annotated[int | None, "most arms acted on; as many as workers"] = None,
    slots: Annotated[int, "number of slots"] = 5,
    slots_per_arm: Annotated[int, "open slots of an arm"] = 2,
    slots_per_worker: Annotated[int, "open slots of a worker"] = 3,
    visits: Annotated[int, "visits that an arm needs"] = 2,
    distinct_workers: Annotated[bool, "the visits to an arm are by different workers"] = False,
    skew: Annotated[bool, "arms prefer late slots and workers early ones"] = False,
    states: base.States = 4,
    long_run: base.LongRun = None,
    start_share: base.StartShare = 0.2,
    horizon: base.Horizon = 20,
    discount: base.Discount = 0.99,
    seed: base.Seed = 0,
) -> Problem:
    """Make a scheduling problem: an arm needs visits in slots that suit it and the workers."""
    rng = stream(seed, "family:scheduling")
    count = base.budget_for(arms, workers, "workers")
    limit = count if budget is None else budget
    base.at_least("budget", limit, 0)
    base.require_slots(slots, arms, count, slots_per_arm, slots_per_worker)
    chains = base.ladder_arms(arms, states, long_run, limit, rng)
    late = np.sort(rng.random(slots)) if skew else np.ones(slots)
    early = np.sort(rng.random(slots))[::-1] if skew else np.ones(slots)
    space = Schedule(
        worker_slots=base.open_slots(count, slots_per_worker, slots, rng, early),
        arm_slots=base.open_slots(arms, slots_per_arm, slots, rng, late),
        limit=limit,
        visits=visits,
        distinct_workers=distinct_workers,
    )
    return Problem(
        name=f"scheduling, {arms} arms, {count} workers, seed {seed}",
        arms=chains,
        space=space,
        start=base.bernoulli_start(arms, states, start_share),
        horizon=horizon,
        discount=discount,
    )
