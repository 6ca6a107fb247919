"""A closed walk on the London Underground, or on any graph (appendix C)."""

from typing import Annotated

import networkx as nx

from sequoia.problem.families import base
from sequoia.problem.problem import Problem
from sequoia.problem.spaces import Walk
from sequoia.problem.underground import stations_around_source
from sequoia.rng import stream


def routing(
    arms: base.NumberOfArms = 20,
    budget: base.BudgetKnob = None,
    steps: Annotated[int | None, "steps of the walk; twice the budget"] = None,
    longest_edge: Annotated[int, "edges take 1 to so many steps, at random"] = 1,
    states: base.States = 4,
    long_run: base.LongRun = None,
    start_share: base.StartShare = 0.2,
    horizon: base.Horizon = 20,
    discount: base.Discount = 0.99,
    seed: base.Seed = 0,
) -> Problem:
    """Make a path-constrained problem on stations of the London Underground."""
    rng = stream(seed, "family:routing")
    base.at_least("longest_edge", longest_edge, 1)
    graph = stations_around_source(arms)
    for edge in graph.edges:
        graph.edges[edge]["length"] = int(rng.integers(1, longest_edge + 1))
    return route_on(
        graph,
        graph.graph["source"],
        budget,
        steps,
        states,
        long_run,
        start_share,
        horizon,
        discount,
        seed,
    )


def route_on(
    graph: nx.Graph,
    source: str,
    budget: int | None = None,
    steps: int | None = None,
    states: int = 4,
    long_run: int | None = None,
    start_share: float = 0.2,
    horizon: int = 20,
    discount: float = 0.99,
    seed: int = 0,
) -> Problem:
    """Make a path-constrained problem on any graph, with one random arm at each node."""
    rng = stream(seed, "family:routing:arms")
    names = [str(node) for node in graph.nodes]
    limit = base.budget_for(len(names), budget)
    walk = max(1, 2 * limit) if steps is None else steps
    return Problem(
        name=f"routing, {len(names)} arms, budget {limit}, {walk} steps, seed {seed}",
        arms=base.ladder_arms(len(names), states, long_run, limit, rng, names),
        space=Walk.from_graph(graph, source, walk, limit),
        start=base.bernoulli_start(len(names), states, start_share),
        horizon=horizon,
        discount=discount,
    )
