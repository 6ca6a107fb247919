"""Arms on a network: what one catches depends on how many of its neighbours have it."""

import networkx as nx
import numpy as np

from sequoia.errors import ProblemError
from sequoia.problem.arms import Arms
from sequoia.problem.contagion import Contagion
from sequoia.problem.families import base
from sequoia.sizes import require_memory
from sequoia.validation import FloatArray, IntArray

# A table of moves has one block per pressure: a thousand keep files and memory small.
_MOST_PRESSURE = 1_000


def caught(graph: nx.Graph, each: float, elsewhere: float) -> FloatArray:
    """Return the probability to catch it, by pressure, ``(P,)``.

    Each unit of pressure, and what comes from elsewhere, is escaped on its own: under pressure n,
    ``1 - (1 - elsewhere) (1 - each)^n``. An edge of weight w counts as w neighbours.
    """
    node, most = max(graph.degree(weight="weight"), key=lambda pair: pair[1])
    if most > _MOST_PRESSURE:
        raise ProblemError(
            f"the weights of the edges of {node} sum to {most}; at most {_MOST_PRESSURE} is wanted."
        )
    chance: FloatArray = 1 - (1 - elsewhere) * np.power(1.0 - each, np.arange(most + 1))
    return chance


def arms_on(
    graph: nx.Graph,
    kernels: FloatArray,
    sources: list[int],
    pays: list[int],
    importance: int,
    rng: np.random.Generator,
    state_names: list[str] | None = None,
) -> tuple[Arms, Contagion]:
    """Return one arm per node, each worth 1 to ``importance`` at random, and how they interact.

    Parameters
    ----------
    kernels
        Moves by pressure, dose, state and next state, ``(P, 2, S, S)``.
    sources
        How much pressure each state exerts, ``(S,)``.
    pays
        Which states pay what the arm is worth, 0 or 1, ``(S,)``.
    """
    base.at_least("importance", importance, 1)
    pressures = len(kernels)
    require_memory(f"{importance} kinds of nodes", float(importance) * kernels.size)
    worth = rng.integers(1, importance + 1, len(graph))
    # Nodes of one importance share their models: one for each pressure.
    models: IntArray = (worth - 1)[:, None] * pressures + np.arange(pressures)
    rewards = np.outer(np.arange(1, importance + 1), pays)
    arms = Arms(
        rewards=np.repeat(rewards, pressures, axis=0),
        doses=np.tile([0.0, 1.0], (importance * pressures, 1)),
        # Rounded, so that people who open the file read 0.2 and not 0.19999999999999996.
        kernels=np.tile(kernels.round(12), (importance, 1, 1, 1)),
        model=models[:, 0],
        names=list(graph.nodes),
        state_names=state_names,
    )
    neighbours = nx.to_scipy_sparse_array(graph, dtype=np.int64, format="csr")
    return arms, Contagion(neighbours, np.array(sources), models)
