"""A fire in a forest: burning trees light their neighbours (Haksar & Schwager 2018)."""

from typing import Annotated

import networkx as nx
import numpy as np

from sequoia.errors import ProblemError
from sequoia.problem.families import base, networks
from sequoia.problem.families.spreading import arms_on, caught
from sequoia.problem.problem import Problem
from sequoia.problem.spaces import Budget
from sequoia.rng import stream
from sequoia.validation import FloatArray

TREE, BURNING, BURNT = range(3)


def wildfire(
    arms: Annotated[int | None, "number of trees; 100, or as many as the file names"] = None,
    budget: Annotated[int, "trees treated in a step"] = 4,
    graph: networks.Graph = "lattice",
    village: networks.Village = None,
    columns: networks.Columns = None,
    degree: networks.Degree = None,
    rewire: networks.Rewire = None,
    importance: Annotated[int, "a tree that stands pays 1 to so much, at random"] = 1,
    treat: Annotated[str, "what treatment helps: burning, trees or both"] = "burning",
    spread: Annotated[float, "probability to catch fire from one burning neighbour"] = 0.2,
    lightning: Annotated[float, "probability to catch fire from elsewhere"] = 0.0,
    burn_out: Annotated[float, "probability that a fire left alone burns out"] = 0.1,
    douse: Annotated[float, "probability that a treated fire is out in the next step"] = 0.64,
    wet: Annotated[float, "share of fires that treatment of a standing tree averts"] = 0.8,
    burning: Annotated[int, "trees that burn at first, one at random and those nearest"] = 8,
    horizon: base.Horizon = 20,
    discount: base.Discount = 0.99,
    seed: base.Seed = 0,
) -> Problem:
    """Make a forest fire on a network: dousing a fire pays only by what it does not reach.

    State 0 is a tree and pays; state 1 is burning; state 2 is burnt, for good. Spread, burning out
    and dousing are by default those of Haksar & Schwager (alpha 0.2, beta 0.9, 0.54 more when
    treated); fires of several neighbours light a tree independently of each other.
    """
    rng = stream(seed, "family:wildfire")
    base.chances(spread=spread, lightning=lightning, burn_out=burn_out, douse=douse, wet=wet)
    base.one_of("treat", treat, ("burning", "trees", "both"))
    base.at_least("budget", budget, 0)
    net = networks.network(graph, arms, 100, rng, village, columns, degree, rewire)
    spared = np.array([0.0, 0.0 if treat == "burning" else wet])
    lit = np.multiply.outer(caught(net, spread, lightning), 1 - spared)
    out = np.array([burn_out, burn_out if treat == "trees" else douse])
    names = ["tree", "burning", "burnt"]
    kernels = _kernels(lit, out)
    trees, contagion = arms_on(net, kernels, [0, 1, 0], [1, 0, 0], importance, rng, names)
    what = "tree" if budget == 1 else "trees"
    return Problem(
        name=f"wildfire{networks.place(graph)}, {len(net)} trees, {budget} {what} treated a step, "
        f"seed {seed}",
        arms=trees,
        space=Budget(np.ones(len(net)), budget, list(net.nodes)),
        start=_start(net, burning, rng),
        horizon=horizon,
        discount=discount,
        contagion=contagion,
    )


def _kernels(lit: FloatArray, out: FloatArray) -> FloatArray:
    """Return the moves between tree, burning and burnt, ``(P, 2, 3, 3)``.

    Parameters
    ----------
    lit
        Probability that a tree catches fire, by pressure and dose, ``(P, 2)``.
    out
        Probability that a burning tree is burnt in the next step, by dose, ``(2,)``.
    """
    kernels = np.zeros((len(lit), 2, 3, 3))
    kernels[:, :, TREE, TREE], kernels[:, :, TREE, BURNING] = 1 - lit, lit
    kernels[:, :, BURNING, BURNING], kernels[:, :, BURNING, BURNT] = 1 - out, out
    kernels[:, :, BURNT, BURNT] = 1
    return kernels


def _start(graph: nx.Graph, burning: int, rng: np.random.Generator) -> FloatArray:
    """Return a start with so many burning trees around a random one, ``(J, 3)``."""
    if not 0 <= burning <= len(graph):
        raise ProblemError(f"burning is {burning}; 0 to {len(graph)} is wanted.")
    names = list(graph.nodes)
    steps = nx.single_source_shortest_path_length(graph, names[rng.integers(len(names))])
    nearest = sorted(range(len(names)), key=lambda j: steps.get(names[j], len(names)))
    start = np.tile([1.0, 0.0, 0.0], (len(names), 1))
    start[nearest[:burning]] = [0.0, 1.0, 0.0]
    return start
