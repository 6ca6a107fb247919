"""A small network of a state: one for the whole state, or one that all components share.

Shared, it passes messages along the graph of who depends on whom (`graph_network`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sequoia.models.graph_network import node_scores
from sequoia.models.scores import batches
from sequoia.models.sight import Sight
from sequoia.problem.environment import States
from sequoia.validation import FloatArray, IntArray

Single = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Network:
    """Outputs of nodes: of the state as one node, or of every component.

    Attributes
    ----------
    is_whole
        Whether the state is one node.
    parameters
        As `graph_network.shapes` names them.
    scale
        What outputs are multiplied by.
    """

    sight: Sight
    is_whole: bool
    parameters: Mapping[str, NDArray[np.float32]]
    scale: float

    @property
    def matrices(self) -> tuple[csr_array, ...]:
        """Along which messages go."""
        return messages(self.sight, self.is_whole)

    def outputs(self, states: States, steps: IntArray) -> FloatArray:
        """Return ``(V, B, K)``: V is 1 for the whole state, else D."""
        kinds = self.parameters["out"].shape[1]
        nodes = 1 if self.is_whole else self.sight.n_components
        found = np.empty((nodes, len(states), kinds))
        width = nodes * max(self.parameters["in"].shape)
        for part in batches(len(states), width):
            seen = features(self.sight, self.is_whole, states[part], steps[part])
            found[:, part] = node_scores(self.parameters, seen, self.matrices)
        return self.scale * found

    def values(self, states: States, steps: IntArray) -> FloatArray:
        """Return the sum of all outputs, ``(B,)``."""
        return np.asarray(self.outputs(states, steps).sum(axis=(0, 2)))

    def scores(self, states: States, steps: IntArray) -> FloatArray:
        """Return what is said of each column, ``(B, N)``."""
        outputs, sight = self.outputs(states, steps), self.sight
        return np.asarray(outputs[sight.node, :, sight.rank].T @ sight.outlets_to_columns)


def messages(sight: Sight, is_whole: bool) -> tuple[csr_array, ...]:
    """Return the matrix that messages go along; none for a single node, or without a graph."""
    if is_whole or not sight.graph.nnz:
        return ()
    mean = sight.graph.sum() / sight.n_components
    return (csr_array(sight.graph / mean, dtype=np.float32),)


def features(sight: Sight, is_whole: bool, states: States, steps: IntArray) -> Single:
    """Return what nodes see, ``(V, B, F)``.

    The whole state is all that is shown of it, and the time left. A component sees itself, the mean
    of all, its kind, how much surrounds it, and the time left.
    """
    shown = sight.shown(states)
    batch, size = shown.shape[:2]
    times = sight.times(steps)[:, 1:2]
    if is_whole:
        whole = np.concatenate([shown.reshape(batch, -1), times], axis=1)
        return whole[None].astype(np.float32)
    kinds = np.eye(int(sight.kinds.max(initial=0)) + 1)[sight.kinds]
    degree = sight.graph.sum(axis=1)[:, None] if sight.graph.nnz else np.zeros((size, 1))
    fixed = np.concatenate([kinds, degree], axis=1)
    nodes = shown.transpose(1, 0, 2)
    parts = [
        nodes,
        np.broadcast_to(nodes.mean(axis=0), nodes.shape),
        np.broadcast_to(fixed[:, None], (size, batch, fixed.shape[1])),
        np.broadcast_to(times, (size, batch, times.shape[1])),
    ]
    return np.concatenate(parts, axis=2).astype(np.float32)
