"""An epidemic on a network of villages: nodes infect their neighbours."""

from itertools import combinations
from typing import Annotated

import networkx as nx
import numpy as np

from sequoia.errors import ProblemError
from sequoia.problem.arms import Arms
from sequoia.problem.contagion import Contagion
from sequoia.problem.families import base
from sequoia.problem.problem import Problem
from sequoia.problem.spaces import ActionSpace, Budget, Walk
from sequoia.rng import stream
from sequoia.sizes import MOST_COLUMNS, require_at_most, require_memory
from sequoia.validation import FloatArray, IntArray


def epidemic(
    arms: Annotated[int, "number of nodes"] = 20,
    budget: Annotated[
        int | None, "treatments in a step; a quarter of the nodes, a fifth from 100 on"
    ] = None,
    route: Annotated[bool, "treat along a closed walk on the network"] = False,
    steps: Annotated[int | None, "steps of that walk; twice the budget"] = None,
    village: Annotated[int, "nodes of a village; all are neighbours of each other"] = 4,
    importance: Annotated[int, "a healthy node pays 1 to so much, at random"] = 3,
    infect: Annotated[float, "probability to catch it from one infected neighbour"] = 0.3,
    arrive: Annotated[float, "probability to catch it from elsewhere"] = 0.02,
    recover: Annotated[float, "probability to recover without treatment"] = 0.1,
    cure: Annotated[float, "probability that treatment cures an infected node"] = 0.8,
    protect: Annotated[float, "share of infections that treatment of a healthy node averts"] = 0.8,
    sick_share: Annotated[float, "probability that a node is infected at first"] = 0.3,
    horizon: base.Horizon = 20,
    discount: base.Discount = 0.99,
    seed: base.Seed = 0,
) -> Problem:
    """Make an epidemic on a ring of villages: treating a node also spares its neighbours.

    State 0 is infected and pays nothing; state 1 is healthy. The neighbours' states decide how
    likely a healthy node is to fall ill, so the arms cannot be taken one by one.
    """
    rng = stream(seed, "family:epidemic")
    _check_chances(infect=infect, arrive=arrive, recover=recover, cure=cure, protect=protect)
    _check_chances(sick_share=sick_share)
    for name, value in (("arms", arms), ("village", village), ("importance", importance)):
        base.at_least(name, value, 1)
    require_at_most(
        f"{arms} nodes in villages of {village}",
        0.5 * arms * min(village, arms),
        "pairs of neighbours",
        MOST_COLUMNS,
    )
    require_memory(f"{importance} kinds of nodes", 8.0 * importance * (min(village, arms) + 2))
    graph = ring_of_villages(arms, village, rng)
    neighbours = nx.to_scipy_sparse_array(graph, dtype=np.int64, format="csr")
    most = int(neighbours.sum(axis=1).max())
    pays = rng.integers(1, importance + 1, arms)
    limit = base.budget_for(arms, budget)
    # Nodes of one importance share their models: one for each number of infected neighbours.
    models: IntArray = (pays - 1)[:, None] * (most + 1) + np.arange(most + 1)
    caught: FloatArray = 1 - (1 - arrive) * np.power(1.0 - infect, np.arange(most + 1))
    return Problem(
        name=_name(arms, limit, route, seed),
        arms=Arms(
            rewards=np.repeat([[0, paid] for paid in range(1, importance + 1)], most + 1, axis=0),
            doses=np.tile([0.0, 1.0], (importance * (most + 1), 1)),
            kernels=np.tile(_kernels(caught, recover, cure, protect), (importance, 1, 1, 1)),
            model=models[:, 0],
            names=list(graph.nodes),
        ),
        space=_space(graph, limit, route, steps),
        start=np.tile([sick_share, 1 - sick_share], (arms, 1)),
        horizon=horizon,
        discount=discount,
        contagion=Contagion(neighbours, np.array([1, 0]), models),
    )


def ring_of_villages(nodes: int, village: int, rng: np.random.Generator) -> nx.Graph:
    """Return villages in which all are neighbours, each joined to the next by one bridge."""
    graph = nx.Graph()
    firsts = range(0, nodes, village)
    angle = 2 * np.pi / max(len(firsts), 1)
    members = []
    for number, first in enumerate(firsts):
        names = [f"node {node}" for node in range(first, min(first + village, nodes))]
        for place, name in enumerate(names):
            turn = number * angle + 2 * np.pi * place / len(names)
            centre = len(firsts) * np.exp(1j * number * angle)
            where = centre + 0.8 * np.exp(1j * turn)
            graph.add_node(name, pos=(float(where.real), float(where.imag)))
        graph.add_edges_from(combinations(names, 2))
        members.append(names)
    bridges = len(members) if len(members) > 2 else len(members) - 1
    for number in range(bridges):
        here, there = members[number], members[(number + 1) % len(members)]
        graph.add_edge(str(rng.choice(here)), str(rng.choice(there)))
    return graph


def _kernels(caught: FloatArray, recover: float, cure: float, protect: float) -> FloatArray:
    """Return the chances to be infected or healthy next, by pressure, dose and state."""
    healthy = np.empty((len(caught), 2, 2))
    healthy[:, 0, 0], healthy[:, 1, 0] = recover, cure
    healthy[:, 0, 1], healthy[:, 1, 1] = 1 - caught, 1 - (1 - protect) * caught
    # Rounded, so that people who open the file read 0.2 and not 0.19999999999999996.
    return np.stack([1 - healthy, healthy], axis=-1).round(12)


def _space(graph: nx.Graph, limit: int, route: bool, steps: int | None) -> ActionSpace:
    names = list(graph.nodes)
    if route:
        walk = max(1, 2 * limit) if steps is None else steps
        return Walk.from_graph(graph, names[0], walk, limit)
    if steps is not None:
        raise ProblemError(f"steps is {steps}, but only a route has steps; ask for route as well.")
    return Budget(np.ones(len(names)), limit, names)


def _name(arms: int, limit: int, route: bool, seed: int) -> str:
    how = "on a route" if route else "a step"
    what = "treatment" if limit == 1 else "treatments"
    return f"epidemic, {arms} nodes, {limit} {what} {how}, seed {seed}"


def _check_chances(**chances: float) -> None:
    for name, value in chances.items():
        if not 0 <= value <= 1:
            raise ProblemError(f"{name} is {value}; 0 to 1 is wanted.")
