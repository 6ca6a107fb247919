"""What a network that all action columns share sees of a state: nodes, their features, a graph."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sequoia.problem import Dependencies, Environment, sample_actions
from sequoia.problem.environment import States
from sequoia.rng import stream
from sequoia.validation import FloatArray, IntArray

Single = NDArray[np.float32]

# A component with more values than this is seen as a number, not as one of a few cases.
_MOST_VALUES = 8
# Episodes of random play that show which values occur.
_EPISODES = 32


@dataclass(frozen=True, eq=False)
class Outlets:
    """Which scores of which nodes an input of the objective adds up: E triples.

    Attributes
    ----------
    node, kind, inputs
        ``(E,)`` each.
    """

    node: IntArray
    kind: IntArray
    inputs: IntArray

    @property
    def n_kinds(self) -> int:
        """``K``, the number of scores of a node."""
        return int(self.kind.max(initial=0)) + 1

    def collect(self, scores: NDArray[Any], n_inputs: int) -> NDArray[Any]:
        """Return the weight of every input, ``(I, B)``, from ``scores``, ``(V, B, K)``."""
        parts = scores[self.node, :, self.kind]
        if len(self.inputs) == n_inputs and (self.inputs == np.arange(n_inputs)).all():
            return parts
        place = (self.inputs, np.arange(len(self.inputs)))
        total = csr_array((np.ones(len(self.inputs), scores.dtype), place), (n_inputs, len(parts)))
        return np.asarray(total @ parts)


class Neighbourhood(ABC):
    """Nodes with features, joined by a graph, with outlets to the inputs of the objective.

    Attributes
    ----------
    n_nodes, n_features
        ``V`` and ``F``.
    is_guessed
        Whether the last features are a guess of the scores.
    matrices
        Along which messages go, ``(V, V)`` each.
    """

    n_nodes: int
    n_features: int
    is_guessed: bool = False
    matrices: tuple[csr_array, ...]
    outlets: Outlets

    @abstractmethod
    def see(self, states: States, steps: IntArray) -> Single:
        """Return the features of each node in each state, ``(V, B, F)``."""


def message_matrices(components: csr_array) -> tuple[csr_array, ...]:
    """Return the graph in both directions, or once if they are alike; none without edges.

    Messages are added up, so that a node can count; they are divided by the mean degree, which
    keeps them of the size of one node's memory.
    """
    if not components.nnz:
        return ()
    mean = components.sum() / components.shape[0]
    there = csr_array(components / mean, dtype=np.float32)
    back = csr_array(there.T)
    return (there,) if abs(there - back).max() == 0 else (there, back)


def degrees(components: csr_array) -> FloatArray:
    """Return how much each node depends on others and others on it, at most 1, ``(V, 2)``."""
    each = np.stack([components.sum(axis=1), components.sum(axis=0)], axis=1)
    result: FloatArray = np.asarray(each, dtype=np.float64) / max(float(each.max(initial=0)), 1.0)
    return result


class ComponentNeighbourhood(Neighbourhood):
    """A node for every component of a state: its value, its kind, its degrees, the time left.

    Whole numbers of few values are seen as indicators, others standardised; which it is follows
    from random play, always the same. Where the environment has an ``outlook``, what becomes of a
    component without an action is seen as well. Whether a cell lives on may depend on the number of
    its neighbours in ways that messages learn slowly; from what comes next they need not.

    Parameters
    ----------
    is_guided
        Whether the ``progress`` of the environment is a guess of the scores: what the columns that
        reach a component do for the goals of the reward.
    """

    def __init__(
        self, environment: Environment, dependencies: Dependencies, is_guided: bool = False
    ) -> None:
        self._environment = environment
        size, kinds = dependencies.n_components, dependencies.kinds
        played = _random_play(environment)
        whole = bool(np.array_equal(played, np.rint(played)))
        values = np.unique(played)
        self._values = values if whole and len(values) <= _MOST_VALUES else None
        self._mean, self._spread = played.mean(axis=0), np.maximum(played.std(axis=0), 1e-6)
        kind = np.eye(int(kinds.max(initial=0)) + 1)[kinds]
        parts = [kind, degrees(dependencies.components), dependencies.features]
        self._fixed = np.concatenate(parts, axis=1)
        self.n_nodes = size
        shown = 1 if self._values is None else len(self._values)
        self._outlook = getattr(environment, "outlook", None)
        ahead = 0 if self._outlook is None else len(self._outlook(played[:1]))
        self.n_features = (2 + ahead) * shown + self._fixed.shape[1] + 1
        self.matrices = message_matrices(dependencies.components)
        node, column = dependencies.columns.nonzero()
        order = np.argsort(column, kind="stable")
        node, column = node[order].astype(np.int64), column[order].astype(np.int64)
        self.outlets = Outlets(node, dependencies.column_kinds[column], column)
        self.is_guessed = is_guided
        self._progress = getattr(environment, "progress", None) if is_guided else None
        if is_guided:
            self.n_features += self.outlets.n_kinds

    def see(self, states: States, steps: IntArray) -> Single:
        """Return values, their means, what is fixed, the time left, what comes next, the guess."""
        shown = self._shown(states)
        ahead = [] if self._outlook is None else self._outlook(states)
        left = 1 - np.asarray(steps) / self._environment.horizon
        size = shown.shape[:2]
        parts = [
            shown,
            np.broadcast_to(shown.mean(axis=0), shown.shape),
            np.broadcast_to(self._fixed[:, None], (*size, self._fixed.shape[1])),
            np.broadcast_to(left[None, :, None], (*size, 1)),
            *map(self._shown, ahead),
        ]
        if self._progress is not None:
            guess = self._progress(np.asarray(states)).T[:, :, None]
            parts.append(np.broadcast_to(guess, (*size, self.outlets.n_kinds)))
        return np.concatenate(parts, axis=2).astype(np.float32)

    def _shown(self, states: States) -> FloatArray:
        """Return the values of each component as they are seen, ``(D, B, F)``."""
        known = np.asarray(states, dtype=np.float64).T[:, :, None]
        shown: FloatArray
        if self._values is None:
            shown = (known - self._mean[:, None, None]) / self._spread[:, None, None]
        else:
            shown = (known == self._values).astype(np.float64)
        return shown


class WholeState(Neighbourhood):
    """One node that sees the features of the environment, where nothing is known of a structure.

    Every column has a score of its own, so nothing is shared but the layers below.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        start = environment.draw_start(np.random.default_rng(0), 1)
        self.n_nodes, self.n_features = 1, environment.features(start).shape[1] + 1
        self.matrices = ()
        column = np.arange(environment.space.n_actions)
        self.outlets = Outlets(np.zeros_like(column), column, column)

    def see(self, states: States, steps: IntArray) -> Single:
        """Return the features of the environment, and the time left."""
        left = 1 - np.asarray(steps) / self._environment.horizon
        seen = np.concatenate([self._environment.features(states), left[:, None]], axis=1)
        return seen[None].astype(np.float32)


def _random_play(environment: Environment) -> FloatArray:
    """Return states of random episodes, ``(B, D)``."""
    rng = stream(0, "neighbourhood")
    states = environment.draw_start(rng, _EPISODES)
    seen = [np.asarray(states, dtype=np.float64)]
    for step in range(environment.horizon):
        actions = sample_actions(environment, states, np.full(_EPISODES, step), rng)
        noise = rng.random((_EPISODES, environment.n_noise))
        _, states = environment.step(states, actions, noise)
        seen.append(np.asarray(states, dtype=np.float64))
    return np.concatenate(seen)
