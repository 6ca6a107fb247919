"""States that are seen only now and then: each arm's belief becomes its state."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import cdist

from sequoia.bounds.lagrangian.relax import require_decoupled
from sequoia.errors import ProblemError
from sequoia.problem import Arms, Problem
from sequoia.problem.names import count
from sequoia.records.belief_graph import BeliefGraph, grow_beliefs
from sequoia.records.log import AT_VISITS, Log, Seen
from sequoia.sizes import require_memory
from sequoia.validation import FloatArray, IntArray

# A tenth of what would be noticed: with it, plans on tiny problems lose less than 0.1 %.
ERROR = 0.02
_CERTAIN = 0.995


@dataclass(frozen=True, eq=False)
class BeliefProblem:
    """A problem whose arms are in beliefs. Axes: J arms, G models, N beliefs, S states, L doses.

    Attributes
    ----------
    original
        The problem whose states are hidden.
    problem
        The same with beliefs as states: a belief pays what its states pay on average. Prices,
        bounds, policies and training work on it as on any other.
    seen
        When states are seen.
    beliefs
        Of each model, ``(G, N, S)``; the first S are of known states. A model that has fewer has
        infinite rows, which nothing is near to.
    """

    original: Problem
    problem: Problem
    seen: Seen
    beliefs: FloatArray

    def track(self, about: FloatArray, levels: IntArray, seen: IntArray) -> FloatArray:
        """Return the distributions of the arms' states after a step, exactly, ``(J, S)``.

        Parameters
        ----------
        about
            The distributions before it, ``(J, S)``.
        levels
            Levels of the doses, ``(J,)``.
        seen
            States that were seen before they moved, ``(J,)``; -1 where nothing was.
        """
        arms = self.original.arms
        known = np.where((seen >= 0)[:, None], np.eye(arms.n_states)[seen], about)
        after: FloatArray = (known[:, None, :] @ arms.kernels[arms.model, levels])[:, 0]
        return after

    def about(self, log: Log) -> FloatArray:
        """Return the distribution of each arm's state at the end of a log, ``(J, S)``."""
        if log.n_arms != self.original.arms.n_arms:
            raise ProblemError(
                f"the log has {log.n_arms} arms, and the problem {self.original.arms.n_arms}."
            )
        sighted = np.full((log.n_arms, log.n_steps + 1), -1)
        sighted[log.sightings[:, 0], log.sightings[:, 1]] = log.sightings[:, 2]
        given = np.zeros((log.n_arms, log.n_steps + 1), dtype=np.int64)
        given[log.visits[:, 0], log.visits[:, 1]] = log.visits[:, 2]
        about = self.original.start
        for step in range(log.n_steps):
            moved = self.track(about, given[:, step], sighted[:, step])
            about = np.where((log.joined <= step)[:, None], moved, about)
        today = sighted[:, log.n_steps]
        return np.where((today >= 0)[:, None], np.eye(self.original.arms.n_states)[today], about)

    def nodes(self, about: FloatArray) -> IntArray:
        """Return the state of ``problem`` that is nearest to each distribution, ``(J,)``."""
        model = self.original.arms.model
        result = np.empty(len(about), dtype=np.int64)
        for kind in np.unique(model):
            arms = np.flatnonzero(model == kind)
            result[arms] = cdist(about[arms], self.beliefs[kind], "cityblock").argmin(axis=1)
        return result


def belief_problem(problem: Problem, seen: Seen = AT_VISITS, error: float = ERROR) -> BeliefProblem:
    """Return the problem in which each arm's belief is its state.

    An arm's history matters only through the distribution of its state (Kaelbling, Littman and
    Cassandra 1998). Where every visit shows the state, that is one for each last seen state and
    dose, and steps since then; see `grow_beliefs` for how many steps, and for other rules.

    Parameters
    ----------
    error
        Beliefs nearer to each other than this, in total variation, are merged.
    """
    require_decoupled(problem)
    if not 0 < error < 1:
        raise ProblemError(f"error is {error}; more than 0 and less than 1 is wanted.")
    arms = problem.arms
    graphs = [
        grow_beliefs(
            arms.kernels[model],
            np.unique(problem.start[arms.model == model], axis=0),
            seen,
            error,
            arms.model_names[model],
        )
        for model in range(arms.n_models)
    ]
    size = max(len(graph.beliefs) for graph in graphs)
    what = f"the moves of {count(arms.n_models, 'model')} with {size} beliefs"
    require_memory(what, float(arms.n_models) * arms.n_doses * size**2)
    moved = Arms(
        _padded(
            [graph.beliefs @ rewards for graph, rewards in zip(graphs, arms.rewards, strict=True)],
            size,
        ),
        arms.doses,
        _kernels(graphs, arms, seen, size),
        arms.model,
        arms.names,
        arms.model_names,
        dose_names=arms.dose_names,
    )
    pairs = zip(arms.model.tolist(), problem.start, strict=True)
    first = np.array([graphs[model].nearest(start) for model, start in pairs])
    start = np.zeros((arms.n_arms, size))
    start[:, : arms.n_states] = seen.before * problem.start
    start[np.arange(arms.n_arms), first] += 1 - seen.before
    return BeliefProblem(
        problem,
        replace(problem, name=f"{problem.name}, as believed", arms=moved, start=start),
        seen,
        _padded([graph.beliefs for graph in graphs], size, np.inf),
    )


def say_belief(arms: Arms, belief: FloatArray, since: int | None, unit: str = "step") -> str:
    """Say what is believed of an arm: ``likely at risk (71 %), last seen 12 days ago``.

    A state that is the likeliest, and still less likely than not, is one that it is ``perhaps`` in.
    """
    best = int(belief.argmax())
    state = arms.state_names[best]
    is_sure = belief[best] >= _CERTAIN
    guess = "likely" if belief[best] > 1 / 2 else "perhaps"
    what = state if is_sure else f"{guess} {state} ({100 * belief[best]:.0f} %)"
    if since is None:
        return f"{what}, never seen"
    return f"{what}, seen now" if since == 0 else f"{what}, last seen {count(since, unit)} ago"


def _kernels(graphs: list[BeliefGraph], arms: Arms, seen: Seen, size: int) -> FloatArray:
    """Return the moves of all models, ``(G, L, N, N)``; beliefs a model lacks stay as they are."""
    result = np.tile(np.eye(size), (arms.n_models, arms.n_doses, 1, 1))
    for kernel, graph, moves in zip(result, graphs, arms.kernels, strict=True):
        here = len(graph.beliefs)
        kernel[:, :here, :here] = graph.kernels(moves, seen)
    return result


def _padded(parts: Sequence[FloatArray], size: int, missing: float = 0.0) -> FloatArray:
    """Return tables of different lengths as one."""
    result = np.full((len(parts), size, *parts[0].shape[1:]), missing)
    for place, part in zip(result, parts, strict=True):
        place[: len(part)] = part
    return result
