"""Workers with slots and minutes visit arms, each for so long, whom they may visit."""

from typing import Annotated

import numpy as np

from sequoia.problem.families import base
from sequoia.problem.problem import Problem
from sequoia.problem.spaces import Rota
from sequoia.rng import stream
from sequoia.validation import FloatArray

_QUARTER = 15


def rota(
    arms: base.NumberOfArms = 20,
    workers: base.Workers = None,
    slots: Annotated[int, "number of slots"] = 5,
    slots_per_arm: Annotated[int, "open slots of an arm"] = 3,
    slots_per_worker: Annotated[int, "slots that a worker works"] = 1,
    least_minutes: Annotated[int, "least minutes of a worker in a slot; quarters of an hour"] = 60,
    most_minutes: Annotated[int, "most minutes of a worker in a slot"] = 120,
    least_length: Annotated[int, "least minutes of a visit; quarters of an hour"] = 30,
    most_length: Annotated[int, "most minutes of a visit"] = 60,
    visits: Annotated[int, "an arm needs 1 to so many visits, at random"] = 1,
    may_visit: Annotated[float, "probability that a worker may visit an arm"] = 0.8,
    distinct_workers: Annotated[bool, "the visits to an arm are by different workers"] = False,
    most_in_a_row: Annotated[
        int | None, "slots in a row that a worker may work; any number"
    ] = None,
    budget: Annotated[int | None, "most arms acted on; all"] = None,
    states: base.States = 4,
    long_run: base.LongRun = None,
    start_share: base.StartShare = 0.2,
    horizon: base.Horizon = 20,
    discount: base.Discount = 0.99,
    seed: base.Seed = 0,
) -> Problem:
    """Make a rota: visits of some minutes fit into the slots of workers who may make them."""
    rng = stream(seed, "family:rota")
    count = base.budget_for(arms, workers, "workers")
    base.at_least("arms", arms, 1)
    base.chances(may_visit=may_visit)
    base.at_least("visits", visits, 1)
    base.require_slots(slots, arms, count, slots_per_arm, slots_per_worker)
    chains = base.ladder_arms(arms, states, long_run, count, rng)
    minutes = _quarters("minutes", least_minutes, most_minutes, count, rng)
    space = Rota(
        minutes=minutes[:, None] * base.open_slots(count, slots_per_worker, slots, rng),
        arm_slots=base.open_slots(arms, slots_per_arm, slots, rng),
        lengths=_quarters("length", least_length, most_length, arms, rng),
        visits=rng.integers(1, visits + 1, arms),
        may_visit=rng.random((count, arms)) < may_visit,
        limit=budget,
        distinct_workers=distinct_workers,
        most_in_a_row=most_in_a_row,
    )
    return Problem(
        name=f"rota, {arms} arms, {count} workers, seed {seed}",
        arms=chains,
        space=space,
        start=base.bernoulli_start(arms, states, start_share),
        horizon=horizon,
        discount=discount,
    )


def _quarters(name: str, least: int, most: int, count: int, rng: np.random.Generator) -> FloatArray:
    """Return random multiples of a quarter of an hour, ``(count,)``."""
    base.at_least(f"least_{name}", least, _QUARTER)
    base.at_least(f"most_{name}", most, least)
    quarters = rng.integers(-(-least // _QUARTER), most // _QUARTER + 1, count)
    result: FloatArray = _QUARTER * quarters.astype(np.float64)
    return result
