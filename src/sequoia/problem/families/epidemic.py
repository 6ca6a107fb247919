"""An epidemic on a network: nodes infect their neighbours."""

from typing import Annotated

import networkx as nx
import numpy as np

from sequoia.errors import ProblemError
from sequoia.problem.families import base, networks
from sequoia.problem.families.spreading import arms_on, caught
from sequoia.problem.problem import Problem
from sequoia.problem.spaces import ActionSpace, Budget, Walk
from sequoia.rng import stream
from sequoia.validation import FloatArray

_WORDS = {"sis": "epidemic", "sir": "epidemic with immunity"}


def epidemic(
    arms: Annotated[int | None, "number of nodes; 20, or as many as the file names"] = None,
    budget: Annotated[
        int | None, "treatments in a step; a quarter of the nodes, a fifth from 100 on"
    ] = None,
    route: Annotated[bool, "treat along a closed walk on the network"] = False,
    steps: Annotated[int | None, "steps of that walk; twice the budget"] = None,
    graph: networks.Graph = "villages",
    village: networks.Village = None,
    columns: networks.Columns = None,
    degree: networks.Degree = None,
    rewire: networks.Rewire = None,
    importance: Annotated[int, "a node that is not infected pays 1 to so much, at random"] = 3,
    disease: Annotated[str, "sis: who recovers is healthy; sir: who recovers is immune"] = "sis",
    treat: Annotated[str, "whom treatment helps: both, infected or healthy"] = "both",
    infect: Annotated[float, "probability to catch it from one infected neighbour"] = 0.3,
    arrive: Annotated[float, "probability to catch it from elsewhere"] = 0.02,
    recover: Annotated[float, "probability to recover without treatment"] = 0.1,
    cure: Annotated[float, "probability that treatment cures an infected node"] = 0.8,
    protect: Annotated[float, "share of infections that treatment of a healthy node averts"] = 0.8,
    vaccinate: Annotated[
        float | None, "sir: probability that treatment makes a healthy node immune; 0.8"
    ] = None,
    wane: Annotated[float | None, "sir: probability to lose immunity; 0"] = None,
    sick_share: Annotated[float, "probability that a node is infected at first"] = 0.3,
    horizon: base.Horizon = 20,
    discount: base.Discount = 0.99,
    seed: base.Seed = 0,
) -> Problem:
    """Make an epidemic on a network: treating a node also spares its neighbours.

    State 0 is infected and pays nothing; state 1 is healthy; with ``sir``, state 2 is immune. The
    neighbours' states decide how likely a healthy node is to fall ill, so the arms cannot be taken
    one by one.
    """
    rng = stream(seed, "family:epidemic")
    base.chances(infect=infect, arrive=arrive, recover=recover, cure=cure, protect=protect)
    base.chances(sick_share=sick_share)
    base.one_of("treat", treat, ("both", "infected", "healthy"))
    net = networks.network(graph, arms, 20, rng, village, columns, degree, rewire)
    # What each dose does: none, then treatment, where that helps.
    is_for_healthy = treat != "infected"
    spared = np.array([0.0, protect if is_for_healthy else 0.0])
    ill = np.multiply.outer(caught(net, infect, arrive), 1 - spared)
    well = np.array([recover, recover if treat == "healthy" else cure])
    kernels = _kernels(disease, ill, well, vaccinate, wane, is_for_healthy)
    states = kernels.shape[-1]
    # Names are part of a problem's fingerprint, which those without immunity keep.
    names = ["infected", "healthy", "immune"] if states == 3 else None
    people, contagion = arms_on(
        net, kernels, [1, 0, 0][:states], [0, 1, 1][:states], importance, rng, names
    )
    limit = base.budget_for(len(net), budget)
    return Problem(
        name=_name(f"{_WORDS[disease]}{networks.place(graph)}", len(net), limit, route, seed),
        arms=people,
        space=_space(net, limit, route, steps),
        start=np.tile([sick_share, 1 - sick_share, 0.0][:states], (len(net), 1)),
        horizon=horizon,
        discount=discount,
        contagion=contagion,
    )


def _kernels(
    disease: str,
    ill: FloatArray,
    well: FloatArray,
    vaccinate: float | None,
    wane: float | None,
    is_for_healthy: bool,
) -> FloatArray:
    """Return the moves by pressure, dose, state and next state, ``(P, 2, S, S)``."""
    base.one_of("disease", disease, tuple(_WORDS))
    if disease == "sis":
        for name, value in (("vaccinate", vaccinate), ("wane", wane)):
            if value is not None:
                raise ProblemError(f"{name} is {value}; it goes with disease sir only.")
        return _sis(ill, well)
    vaccinate = 0.8 if vaccinate is None else vaccinate
    wane = 0.0 if wane is None else wane
    base.chances(vaccinate=vaccinate, wane=wane)
    return _sir(ill, well, vaccinate if is_for_healthy else 0.0, wane)


def _sis(ill: FloatArray, well: FloatArray) -> FloatArray:
    """Return the moves between infected and healthy, ``(P, 2, 2, 2)``.

    Parameters
    ----------
    ill
        Probability that a healthy node falls ill, by pressure and dose, ``(P, 2)``.
    well
        Probability that an infected node gets well, by dose, ``(2,)``.
    """
    kernels = np.zeros((len(ill), 2, 2, 2))
    kernels[:, :, 0, 0], kernels[:, :, 0, 1] = 1 - well, well
    kernels[:, :, 1, 0], kernels[:, :, 1, 1] = ill, 1 - ill
    return kernels


def _sir(ill: FloatArray, well: FloatArray, vaccinate: float, wane: float) -> FloatArray:
    """Return the moves between infected, healthy and immune, ``(P, 2, 3, 3)``.

    A vaccination that takes works at once; where it does not, the treatment still protects.
    """
    immune = np.array([0.0, vaccinate])
    kernels = np.zeros((len(ill), 2, 3, 3))
    kernels[:, :, 0, 0], kernels[:, :, 0, 2] = 1 - well, well
    kernels[:, :, 1, 0] = (1 - immune) * ill
    kernels[:, :, 1, 1] = (1 - immune) * (1 - ill)
    kernels[:, :, 1, 2] = immune
    kernels[:, :, 2, 1], kernels[:, :, 2, 2] = wane, 1 - wane
    return kernels


def _space(graph: nx.Graph, limit: int, route: bool, steps: int | None) -> ActionSpace:
    names = list(graph.nodes)
    if route:
        walk = max(1, 2 * limit) if steps is None else steps
        return Walk.from_graph(graph, names[0], walk, limit)
    if steps is not None:
        raise ProblemError(f"steps is {steps}, but only a route has steps; ask for route as well.")
    return Budget(np.ones(len(names)), limit, names)


def _name(what: str, arms: int, limit: int, route: bool, seed: int) -> str:
    how = "on a route" if route else "a step"
    treated = "treatment" if limit == 1 else "treatments"
    return f"{what}, {arms} nodes, {limit} {treated} {how}, seed {seed}"
