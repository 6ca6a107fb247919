"""Campaigns that each reach several arms, whose effects compound (section 3, appendix C)."""

from typing import Annotated, Literal

import numpy as np
from scipy.sparse import csr_array

from sequoia.problem import links
from sequoia.problem.arms import Arms
from sequoia.problem.families import base
from sequoia.problem.names import Numbered
from sequoia.problem.problem import Problem
from sequoia.problem.spaces import Budget
from sequoia.rng import stream
from sequoia.sizes import require_memory
from sequoia.validation import FloatArray


def interventions(
    arms: base.NumberOfArms = 20,
    budget: base.BudgetKnob = None,
    actions: Annotated[int | None, "number of interventions; twice the budget"] = None,
    reach: Annotated[int, "most arms that an intervention reaches"] = 3,
    group: Annotated[int, "interventions that reach the same arms"] = 3,
    weight: Annotated[float, "dose that one intervention gives"] = 3.0,
    link: Annotated[
        Literal["sigmoid", "linear", "submodular"], "from dose to the probability of moving up"
    ] = "sigmoid",
    breakpoints: Annotated[
        int | None,
        "approximate the link by straight lines between so many points; exact if left out",
    ] = None,
    states: base.States = 4,
    long_run: base.LongRun = None,
    start_share: base.StartShare = 0.2,
    horizon: base.Horizon = 20,
    discount: base.Discount = 0.99,
    seed: base.Seed = 0,
) -> Problem:
    """Make a multiple-interventions problem: arms respond to the sum of what reaches them.

    Half of the arms respond strongly, but only to several interventions at once; the others
    respond a little to each. Interventions come in groups that reach the same arms.
    """
    rng = stream(seed, "family:interventions")
    limit = base.budget_for(arms, budget)
    count = 2 * limit if actions is None else actions
    base.at_least("actions", count, 1)
    base.at_least("reach", reach, 1)
    base.at_least("group", group, 1)
    base.at_least("weight", weight, 1e-6)
    base.one_of("link", link, ("sigmoid", "linear", "submodular"))
    require_memory(f"{count} interventions on {arms} arms", float(count) * arms)
    rewards = base.ladder_rewards(arms, states, long_run, limit, rng)
    order = rng.permutation(arms)
    strong, weak = order[: arms // 2], order[arms // 2 :]
    influence = np.zeros((arms, count))
    first_half = np.arange(count) < count // 2
    for members, pool in (
        (np.flatnonzero(first_half), strong),
        (np.flatnonzero(~first_half), weak),
    ):
        for rank, action in enumerate(members.tolist()):
            first = (rank // group) * reach
            influence[pool[first : first + reach], action] = weight
    influence = influence[:, rng.permutation(count)]
    levels = int((influence > 0).sum(axis=1).max()) + 1
    what = f"{arms} arms with {states} states and {levels} doses"
    require_memory(what, float(arms) * levels * states**2)
    doses = np.tile(weight * np.arange(levels), (arms, 1))
    is_strong = np.isin(np.arange(arms), strong)
    if breakpoints is None:
        up = _respond(link, doses, is_strong, weight, rng)
    else:
        base.at_least("breakpoints", breakpoints, 2)
        require_memory(f"{breakpoints} points on {arms} links", float(breakpoints) * arms)
        nodes = np.linspace(0.0, weight * count, breakpoints)
        curves = _respond(link, np.tile(nodes, (arms, 1)), is_strong, weight, rng)
        up = links.piecewise_linear(curves, nodes, doses)
    return Problem(
        name=f"interventions ({link}), {arms} arms, {count} actions, budget {limit}, seed {seed}",
        arms=Arms.ladder(rewards, up, doses),
        space=Budget(np.ones(count), limit, Numbered("intervention", count)),
        start=base.bernoulli_start(arms, states, start_share),
        influence=csr_array(influence),
        horizon=horizon,
        discount=discount,
    )


def _respond(
    link: str,
    doses: FloatArray,
    is_strong: np.ndarray[tuple[int], np.dtype[np.bool_]],
    weight: float,
    rng: np.random.Generator,
) -> FloatArray:
    size = len(doses)
    height = np.where(is_strong, rng.uniform(0.7, 1.0, size), rng.uniform(0.2, 0.5, size))
    slope = np.where(is_strong, rng.uniform(1.4, 1.9, size), 1.0)
    middle = np.where(is_strong, rng.integers(9, 11, size), rng.integers(1, 3, size))
    if link == "sigmoid":
        return links.sigmoid(doses, height, slope, middle)
    if link == "linear":
        return links.linear(doses, np.full(size, 0.01), 0.98 * height / (3 * weight))
    return links.submodular(doses, np.full(size, 0.01), 1 - (1 - height) ** (1 / weight))
