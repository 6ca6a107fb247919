"""A world that is not what a model of it says."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from sequoia.problem.arms import Arms
from sequoia.problem.contagion import Contagion
from sequoia.problem.problem import Problem
from sequoia.rng import stream
from sequoia.validation import FloatArray, real


def perturbed(problem: Problem, share: float, seed: int = 0, graph: float = 0.0) -> Problem:
    """Return a problem whose transitions differ by up to a share of all chance.

    ``(1 - share) P + share D``, with the rows of D drawn evenly among all distributions over the
    moves that P knows: what is impossible stays so.

    Parameters
    ----------
    share
        0 changes nothing; 1 leaves nothing but which moves are possible.
    graph
        The share of pairs that press on each other whose neighbour is another one, drawn evenly.
    """
    share, graph = real("share", share, 0, 1), real("graph", graph, 0, 1)
    rng = stream(seed, "perturbed")
    arms = problem.bare_arms
    moved = Arms(
        arms.rewards,
        arms.doses,
        _mixed(arms.kernels, share, rng),
        arms.model,
        arms.names,
        arms.model_names,
        arms.state_names,
        arms.dose_names,
    )
    contagion = problem.contagion
    if contagion is not None and graph:
        contagion = _rewired(contagion, graph, rng)
    limits = () if problem.purse is None else problem.purse.limits
    keeper = problem.keeper
    bare = problem.unlimited
    start = bare.start if keeper is None else keeper.start
    world = replace(bare, arms=moved, start=start, contagion=contagion, keeper=None)
    world = world if keeper is None else world.with_promises(keeper.promises)
    return world.with_budgets(limits) if limits else world


def _mixed(kernels: FloatArray, share: float, rng: np.random.Generator) -> FloatArray:
    drawn = rng.standard_exponential(kernels.shape) * (kernels > 0)
    mixed = (1 - share) * kernels + share * drawn / drawn.sum(axis=-1, keepdims=True)
    whole: FloatArray = mixed / mixed.sum(axis=-1, keepdims=True)
    return whole


def _rewired(contagion: Contagion, share: float, rng: np.random.Generator) -> Contagion:
    """Return contagion in which some neighbours are others; nobody becomes its own."""
    pairs = contagion.neighbours.tocoo()
    count = pairs.shape[0]
    is_other = rng.random(pairs.nnz) < share
    others = (pairs.row + 1 + rng.integers(0, max(count - 1, 1), pairs.nnz)) % count
    columns = np.where(is_other, others, pairs.col)
    weights = csr_array((pairs.data, (pairs.row, columns)), shape=pairs.shape)
    return Contagion(weights, contagion.sources, contagion.models)
