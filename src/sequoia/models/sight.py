"""What is seen of a state: each component by its value, and by what surrounds it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from sequoia.problem import Dependencies
from sequoia.problem.environment import States
from sequoia.validation import BoolArray, FloatArray, IntArray

# More whole values than this are seen as a number, not as one of a few cases.
_MOST_VALUES = 8
# A value is curved in time and in amount; squares are the least that shows it.
_DEGREE = 2


@dataclass(frozen=True, eq=False)
class Sight:
    """Numbers that are seen of each component of a state.

    A component with few whole values is seen by indicators, another one by its share of the
    largest value in play, and the square of that. Axes: D components, P numbers of each, T
    powers of the time left.

    Attributes
    ----------
    values
        Whole values with an indicator, ``(V,)``; the smallest one goes without.
    is_number
        Which components are seen as numbers, ``(D,)``.
    scale
        The largest size of each component in play, at least 1, ``(D,)``.
    graph
        Who surrounds whom, in both directions, with the largest sum of a row 1, ``(D, D)``.
    kinds
        Components of one kind have values of the same meaning, ``(D,)``.
    node, column
        Outlets: component ``node[e]`` is moved by action column ``column[e]``, ``(E,)`` each, by
        ascending column.
    n_columns
        ``N``.
    horizon
        Steps of an episode.
    n_times
        ``T``: 1 where what a state is worth does not depend on the time left.
    """

    values: FloatArray
    is_number: BoolArray
    scale: FloatArray
    graph: csr_array
    kinds: IntArray
    node: IntArray
    column: IntArray
    n_columns: int
    horizon: int
    n_times: int

    @classmethod
    def of(cls, played: States, structure: Dependencies, horizon: int, is_timeless: bool) -> Self:
        """Find out from states in play, ``(M, D)``, how to see them."""
        states = np.asarray(played, dtype=np.float64)
        whole = [own for own in map(np.unique, states.T) if _is_few(own)]
        values = np.unique(np.concatenate(whole)) if whole else np.empty(0)
        if len(values) > _MOST_VALUES:
            values = np.empty(0)
        is_number = np.array([not np.isin(own, values).all() for own in map(np.unique, states.T)])
        scale = np.maximum(np.abs(states).max(axis=0), 1.0)
        n_times = 1 if is_timeless else _DEGREE + 1
        return cls._along(structure, values, is_number, scale, horizon, n_times)

    def for_others(self, like: IntArray, structure: Dependencies, horizon: int) -> Self:
        """Return what is seen of other components, each seen like one of these, ``(D',)``."""
        own = (self.values, self.is_number[like], self.scale[like])
        return self._along(structure, *own, horizon, self.n_times)

    @classmethod
    def _along(
        cls,
        structure: Dependencies,
        values: FloatArray,
        is_number: BoolArray,
        scale: FloatArray,
        horizon: int,
        n_times: int,
    ) -> Self:
        both = csr_array(structure.components + structure.components.T)
        most = both.sum(axis=1).max(initial=0.0)
        node, column = structure.columns.nonzero()
        order = np.argsort(column, kind="stable")
        return cls(
            values,
            is_number,
            scale,
            csr_array(both / most if most else both),
            structure.kinds,
            node[order].astype(np.int64),
            column[order].astype(np.int64),
            int(structure.columns.shape[1]),
            horizon,
            n_times,
        )

    @property
    def n_components(self) -> int:
        """``D``."""
        return len(self.scale)

    @property
    def n_shown(self) -> int:
        """``P``."""
        indicators = max(len(self.values) - 1, 0)
        return max(indicators + 2 * bool(self.is_number.any()), 1)

    @property
    def n_local(self) -> int:
        """How many numbers `local` returns of each component."""
        shown = self.n_shown
        return 1 + shown + (shown + shown * shown if self.graph.nnz else 0)

    def shown(self, states: States) -> FloatArray:
        """Return what is seen of each component alone, ``(B, D, P)``."""
        known = np.asarray(states, dtype=np.float64)
        parts: list[FloatArray] = []
        if len(self.values) > 1:
            is_it = (known[:, :, None] == self.values[1:]) & ~self.is_number[:, None]
            parts.append(is_it.astype(np.float64))
        if self.is_number.any():
            number = np.where(self.is_number, known / self.scale, 0.0)
            parts.append(np.stack([number, number**2 * self.is_number], axis=2))
        if not parts:
            return np.zeros((*known.shape, 1))
        return np.concatenate(parts, axis=2)

    def local(self, states: States) -> FloatArray:
        """Return 1, the component, its surroundings, and products of both, ``(B, D, p)``."""
        own = self.shown(states)
        parts = [np.ones((*own.shape[:2], 1)), own]
        if self.graph.nnz:
            around = self.around(own)
            products = own[..., :, None] * around[..., None, :]
            parts += [around, products.reshape(*own.shape[:2], -1)]
        return np.concatenate(parts, axis=2)

    def around(self, shown: FloatArray) -> FloatArray:
        """Return sums over the surroundings of each component, ``(B, D, P)``."""
        batch, size, numbers = shown.shape
        flat = shown.transpose(1, 0, 2).reshape(size, -1)
        found: FloatArray = (self.graph @ flat).reshape(size, batch, numbers).transpose(1, 0, 2)
        return found

    def is_over(self, steps: ArrayLike) -> BoolArray:
        """Return whether an episode has ended; never, where the time left does not matter."""
        return (np.asarray(steps) >= self.horizon) & (self.n_times > 1)

    def times(self, steps: ArrayLike) -> FloatArray:
        """Return powers of the share of the horizon that is left, ``(B, T)``."""
        left = (self.horizon - np.asarray(steps)) / self.horizon
        powers: FloatArray = left[:, None] ** np.arange(self.n_times)
        return powers

    @cached_property
    def outlets_to_columns(self) -> csr_array:
        """Which column each outlet belongs to, ``(E, N)``."""
        return _incidence(self.column, self.n_columns)

    @cached_property
    def outlets_to_nodes(self) -> csr_array:
        """Which component each outlet is at, ``(E, D)``."""
        return _incidence(self.node, self.n_components)

    @cached_property
    def rank(self) -> IntArray:
        """Which of the outlets at its component each outlet is, ``(E,)``."""
        order = np.lexsort((self.column, self.node))
        node = self.node[order]
        found = np.empty(len(node), dtype=np.int64)
        found[order] = np.arange(len(node)) - np.searchsorted(node, node)
        return found

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything by name."""
        graph = self.graph.tocoo()
        return {
            "values": self.values,
            "is_number": self.is_number.astype(np.int8),
            "scale": self.scale,
            "graph": np.stack(graph.coords).astype(np.int64),
            "graph.weights": graph.data,
            "kinds": self.kinds,
            "outlets": np.stack([self.node, self.column]),
            "sizes": np.array([self.n_columns, self.horizon, self.n_times]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Build it from what `to_arrays` returned."""
        size = len(arrays["scale"])
        content = (arrays["graph.weights"], tuple(arrays["graph"]))
        n_columns, horizon, n_times = arrays["sizes"].tolist()
        return cls(
            arrays["values"],
            arrays["is_number"].astype(np.bool_),
            arrays["scale"],
            csr_array(content, (size, size)),
            arrays["kinds"],
            arrays["outlets"][0],
            arrays["outlets"][1],
            n_columns,
            horizon,
            n_times,
        )


def _incidence(place: IntArray, size: int) -> csr_array:
    content = (np.ones(len(place)), (np.arange(len(place)), place))
    return csr_array(content, (len(place), size))


def _is_few(values: FloatArray) -> bool:
    return len(values) <= _MOST_VALUES and bool(np.array_equal(values, np.rint(values)))
