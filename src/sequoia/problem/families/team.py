"""A team of walkers on the London Underground, each on a round trip of limited time."""

from typing import Annotated

import networkx as nx

from sequoia.errors import ProblemError
from sequoia.problem.families import base
from sequoia.problem.problem import Problem
from sequoia.problem.spaces import Team
from sequoia.problem.underground import stations_around_source
from sequoia.rng import stream


def team(
    arms: base.NumberOfArms = 20,
    walkers: Annotated[int, "number of walkers"] = 3,
    minutes: Annotated[int, "minutes of travel and service that a walker has"] = 60,
    depots: Annotated[int, "number of stations where walkers begin and end, in turn"] = 1,
    least_travel: Annotated[int, "least minutes from a station to the next"] = 2,
    most_travel: Annotated[int, "most minutes from a station to the next"] = 5,
    least_service: Annotated[int, "least minutes to serve an arm"] = 5,
    most_service: Annotated[int, "most minutes to serve an arm"] = 15,
    states: base.States = 4,
    long_run: base.LongRun = None,
    start_share: base.StartShare = 0.2,
    horizon: base.Horizon = 20,
    discount: base.Discount = 0.99,
    seed: base.Seed = 0,
) -> Problem:
    """Make a problem of several routes, with as many minutes there as it takes, and others back."""
    rng = stream(seed, "family:team")
    base.at_least("walkers", walkers, 0)
    base.at_least("minutes", minutes, 0)
    if not 1 <= depots <= arms:
        raise ProblemError(f"depots is {depots}; 1 to {arms} is wanted.")
    for what, low, high in (
        ("travel", least_travel, most_travel),
        ("service", least_service, most_service),
    ):
        base.at_least(f"least_{what}", low, 1)
        base.at_least(f"most_{what}", high, low)
    stations = stations_around_source(arms)
    names = [str(node) for node in stations.nodes]
    ways = nx.DiGraph(stations)
    for edge in ways.edges:
        ways.edges[edge]["minutes"] = int(rng.integers(least_travel, most_travel + 1))
    source = names.index(str(stations.graph["source"]))
    others = rng.permutation([arm for arm in range(arms) if arm != source])
    begin = [source, *others.tolist()][:depots]
    budget = base.budget_for(arms, None)
    return Problem(
        name=f"team, {arms} arms, {walkers} walkers, {minutes} minutes, seed {seed}",
        arms=base.ladder_arms(arms, states, long_run, budget, rng, names),
        space=Team.from_graph(
            ways,
            dict(
                zip(
                    stations.nodes, rng.integers(least_service, most_service + 1, arms), strict=True
                )
            ),
            [names[begin[walker % depots]] for walker in range(walkers)],
            [minutes] * walkers,
        ),
        start=base.bernoulli_start(arms, states, start_share),
        horizon=horizon,
        discount=discount,
    )
