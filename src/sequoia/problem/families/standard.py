"""The classical restless bandit: act on at most so many arms."""

from typing import Annotated, Literal

import numpy as np

from sequoia.problem.arms import Arms
from sequoia.problem.families import base
from sequoia.problem.problem import Problem
from sequoia.problem.spaces import Budget
from sequoia.rng import stream


def standard(
    arms: base.NumberOfArms = 20,
    budget: base.BudgetKnob = None,
    states: base.States = 4,
    dynamics: Annotated[
        Literal["ladder", "random"], "the paper's ladder of states, or any transitions"
    ] = "ladder",
    long_run: base.LongRun = None,
    start_share: base.StartShare = 0.2,
    horizon: base.Horizon = 20,
    discount: base.Discount = 0.99,
    seed: base.Seed = 0,
) -> Problem:
    """Make a standard restless bandit; two states give the binary one."""
    rng = stream(seed, "family:standard")
    limit = base.budget_for(arms, budget)
    base.one_of("dynamics", dynamics, ("ladder", "random"))
    if dynamics == "ladder":
        chains = base.ladder_arms(arms, states, long_run, limit, rng)
    else:
        base.at_least("arms", arms, 1)
        base.at_least("states", states, 2)
        kernels = rng.dirichlet(np.ones(states), (arms, 2, states))
        rewards = np.sort(rng.random((arms, states)), axis=1)
        chains = Arms(rewards, np.tile([0.0, 1.0], (arms, 1)), kernels)
    return Problem(
        name=f"standard ({dynamics}), {arms} arms, budget {limit}, seed {seed}",
        arms=chains,
        space=Budget(np.ones(arms), limit),
        start=base.bernoulli_start(arms, states, start_share),
        horizon=horizon,
        discount=discount,
    )
