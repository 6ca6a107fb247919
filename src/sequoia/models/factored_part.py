"""What a factored value function knows of doses: where learning starts where arms interact."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csc_array, csr_array

from sequoia.bounds.factored.local_table import Graph, LocalTable
from sequoia.bounds.factored.relax import relax_factored, tabulate
from sequoia.bounds.factored.value import linear_fit, linear_inputs
from sequoia.bounds.horizon import Horizon
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import Problem
from sequoia.problem.environment import States
from sequoia.rng import stream
from sequoia.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class FactoredPart:
    """What each dose level of each arm changes in the value of the next state.

    With ``V(s) = c + sum_C v_C(s_C)`` from `relax_factored`, the expectation of V after an action
    is a function of the doses of each cluster; here it is the linear one that is closest to it, as
    in `FactoredValue.levels`. All clusters are looked up together, for many states at once.

    Attributes
    ----------
    table, rounds
        How it was found, as in `relax_factored`: from ``table`` and ``rounds`` clusters are known.
    unit
        What effects are given in: the root of their mean square in states at the start.
    tables
        Of each cluster.
    values
        Of the joint states of each cluster, by step, ``(T + 1, U)`` each.
    """

    problem: Problem
    table: int | None
    rounds: int
    unit: float
    tables: Sequence[LocalTable]
    values: Sequence[FloatArray]

    @classmethod
    def of(cls, problem: Problem, table: int | None, rounds: int) -> tuple[Self, float]:
        """Find it, and return it with the bound per step that it proves."""
        found = relax_factored(problem, table=table, rounds=rounds)
        part = cls(problem, table, rounds, 1.0, found.value.tables, found.value.values)
        return replace(part, unit=part._usual_size()), found.bound.per_step

    def to_array(self) -> FloatArray:
        """Return the values of all clusters, one after the other."""
        return np.concatenate([own.reshape(-1) for own in self.values])

    @property
    def facts(self) -> dict[str, Any]:
        """What else it takes to build it again."""
        return {"table": self.table, "rounds": self.rounds, "unit": self.unit}

    @classmethod
    def from_array(
        cls, problem: Problem, flat: FloatArray, table: int | None, rounds: int, unit: float
    ) -> Self:
        """Build it from what `to_array` and `facts` returned."""
        span = Horizon.of(problem, None, False)
        encoding = ActionEncoding.of_problem(problem)
        tables = tabulate(problem, encoding, span, table, rounds)
        sizes = [(span.n_blocks + 1) * own.n_joint for own in tables]
        if len(flat) != sum(sizes):
            raise ValueError(f"{sum(sizes)} values of clusters are wanted, not {len(flat)}")
        parts = np.split(flat, np.cumsum(sizes)[:-1])
        rows = span.n_blocks + 1
        return cls(problem, table, rounds, unit, tables, [own.reshape(rows, -1) for own in parts])

    def effects(self, states: States, steps: IntArray) -> NDArray[np.float32]:
        """Return what each level above 0 changes, ``(J, B, L - 1)``, in units of `unit`."""
        return self._effects(states, steps) / np.float32(self.unit)

    def _usual_size(self) -> float:
        """Return the root of the mean square of effects in states at the start; 1 for nothing."""
        rng, steps = stream(0, "factored part"), np.arange(len(self._table))
        found = self._effects(self.problem.draw_start(rng, len(steps)), steps)
        return float(np.sqrt((found.astype(np.float64) ** 2).mean())) or 1.0

    def beyond(self, cluster: int) -> FloatArray:
        """Return what the doses of a cluster change together, beside their effects, (T, R_C, D)."""
        own, levels = self.tables[cluster], self.problem.arms.n_doses
        ahead = self._ahead(cluster)
        fitted = ahead @ linear_fit(own, levels).T @ linear_inputs(own, levels).T
        result: FloatArray = ahead - fitted
        return result

    def rows(self, states: States) -> IntArray:
        """Return where each cluster stands in tables of all, one after the other, ``(B, C)``."""
        return self._places.rows(states)

    def _effects(self, states: States, steps: IntArray) -> NDArray[np.float32]:
        step = np.minimum(steps, len(self._table) - 1)
        found = self._table[step[:, None], self.rows(states)]  # (B, C, n, L - 1)
        batch, levels = len(found), found.shape[-1]
        flat = found.reshape(batch, -1, levels).transpose(1, 0, 2).reshape(-1, batch * levels)
        total: NDArray[np.float32] = self._by_arm @ flat
        return total.reshape(-1, batch, levels)

    def _ahead(self, cluster: int) -> FloatArray:
        """Return the discounted value of a cluster's next states by step, row and doses."""
        own, values = self.tables[cluster], self.values[cluster]
        discount = Horizon.of(self.problem, None, False).discount
        ahead: FloatArray = discount * (own.moves @ values[1:].T)[own.move].T
        return ahead.reshape(len(ahead), -1, len(own.doses))

    @cached_property
    def _table(self) -> NDArray[np.float32]:
        """Effects by step, row of `_Places`, place in the cluster and level, (T, R, n, L - 1)."""
        levels = self.problem.arms.n_doses
        most = max(len(own.arms) for own in self.tables)
        parts = []
        for cluster, own in enumerate(self.tables):
            effects = self._ahead(cluster) @ linear_fit(own, levels)[1:].T
            padded = np.zeros((*effects.shape[:2], most, levels - 1), dtype=np.float32)
            padded[:, :, : len(own.arms)] = effects.reshape(
                *effects.shape[:2], len(own.arms), levels - 1
            )
            parts.append(padded)
        return np.concatenate(parts, axis=1)

    @cached_property
    def _by_arm(self) -> csr_array:
        """Which arm each place of each cluster is, ``(J, C * n)``."""
        most = max(len(own.arms) for own in self.tables)
        place = np.concatenate(
            [most * index + np.arange(len(own.arms)) for index, own in enumerate(self.tables)]
        )
        arm = np.concatenate([own.arms for own in self.tables])
        shape = (self.problem.arms.n_arms, most * len(self.tables))
        return csr_array((np.ones(len(arm), np.float32), (arm, place)), shape)

    @cached_property
    def _places(self) -> "_Places":
        return _Places(Graph.of(self.problem), self.tables, self.problem.arms.n_states)


class _Places:
    """Where to look up clusters: their rows one after the other, by joint state and context.

    Joint states and contexts are numbers in a mixed base, so for all clusters together they are
    products of states with a sparse matrix.
    """

    def __init__(self, graph: Graph, tables: Sequence[LocalTable], n_states: int) -> None:
        self._graph = graph
        arms = len(graph.models)
        self._contexts = np.array([len(own.outer) for own in tables])
        sizes = [own.n_joint * len(own.outer) for own in tables]
        self._first = np.cumsum([0, *sizes])[:-1]
        self._joint = _mixed_base(arms, [own.arms for own in tables], n_states)
        # Where a context lists what outside arms exert, this is its number.
        exerted = np.unique(graph.sources)
        self._rank = np.searchsorted(exerted, graph.sources)
        self._listed = _mixed_base(arms, [own.listed for own in tables], len(exerted))
        # Else it is searched for by the pressure on each arm.
        self._summed = np.flatnonzero((self._contexts > 1) & (np.diff(self._listed.indptr) == 0))
        some = [tables[index] for index in self._summed.tolist()]
        self._onto = _outside(graph, some)
        ends = np.cumsum([0, *[len(own.arms) for own in some]])
        spans = [np.arange(*span) for span in itertools.pairwise(ends)]
        self._number = _mixed_base(int(ends[-1]), spans, graph.most + 1)
        numbers = [own.outer @ _radix(graph.most + 1, len(own.arms)) for own in some]
        self._stride = (graph.most + 1) ** max((len(own.arms) for own in some), default=0)
        shifted = [place * self._stride + own for place, own in enumerate(numbers)]
        self._known = np.concatenate([np.empty(0, dtype=np.int64), *shifted])
        self._known_first = np.cumsum([0, *map(len, numbers)])[:-1]

    def rows(self, states: States) -> IntArray:
        """Return the row of each cluster in each state, ``(B, C)``."""
        states = np.asarray(states)
        context = self._rank[states] @ self._listed
        if len(self._summed):
            pressed = np.minimum(self._graph.sources[states] @ self._onto, self._graph.most)
            number = pressed @ self._number + np.arange(len(self._summed)) * self._stride
            context[:, self._summed] = np.searchsorted(self._known, number) - self._known_first
        result: IntArray = self._first + (states @ self._joint) * self._contexts + context
        return result


def _radix(base: int, places: int) -> IntArray:
    """Return what each digit counts, the last one 1."""
    return base ** np.arange(places - 1, -1, -1)


def _mixed_base(size: int, digits: Sequence[IntArray], base: int) -> csc_array:
    """Return the matrix that reads some of ``size`` digits as a number, one in each column."""
    counts = [_radix(base, len(own)) for own in digits]
    ends = np.cumsum([0, *map(len, digits)])
    nothing = np.empty(0, dtype=np.int64)
    content = (np.concatenate([nothing, *counts]), np.concatenate([nothing, *digits]), ends)
    return csc_array(content, (size, len(digits)))


def _outside(graph: Graph, tables: Sequence[LocalTable]) -> csc_array:
    """Return how arms press on each arm of each cluster from outside of it, ``(J, C * n)``."""
    parts = []
    for own in tables:
        weights = csc_array(graph.weights[own.arms].T)
        is_inside = np.isin(np.arange(weights.shape[0]), own.arms)
        parts.append(sparse.diags_array(~is_inside, dtype=np.int64) @ weights)
    if not parts:
        return csc_array((len(graph.models), 0), dtype=np.int64)
    return csc_array(sparse.hstack(parts))
