"""Fit the shared network to differences between actions."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sequoia.models.graph_network import Parameters, node_scores, shapes
from sequoia.models.neighbourhood import Neighbourhood
from sequoia.problem.environment import States
from sequoia.validation import FloatArray, IntArray

# Keeps weights small that no comparison asks for.
_WEIGHT_DECAY = 1e-5
# Messages and a node's own memory begin at half the size that keeps variances (He et al. 2015):
# with residuals they add up.
_RESIDUAL = 0.5


@dataclass(frozen=True, eq=False)
class Lessons:
    """What differences between actions are worth.

    Lesson n says ``sum_e apart[e] * u_{inputs[e]}(states[state[n]]) = values[n]`` over the entries
    e of the lesson, beside what the next step earns.

    Attributes
    ----------
    states, steps
        ``(K, D)`` and ``(K,)``.
    state
        Which state a lesson is of, ``(L,)``, ascending.
    lesson, inputs, apart
        The entries, ``(E,)`` each, by ascending lesson.
    values
        ``(L,)``.
    """

    states: States
    steps: IntArray
    state: IntArray
    lesson: IntArray
    inputs: IntArray
    apart: FloatArray
    values: FloatArray

    @classmethod
    def one_by_one(
        cls,
        states: States,
        steps: IntArray,
        state: IntArray,
        inputs: IntArray,
        apart: FloatArray,
        values: FloatArray,
    ) -> "Lessons":
        """Return a lesson for each entry."""
        return cls(states, steps, state, np.arange(len(values)), inputs, apart, values)

    @property
    def size(self) -> float:
        """Root of the mean square of what lessons say; 1 where they say nothing."""
        return float(np.sqrt((self.values**2).mean())) if self.values.any() else 1.0

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def first_parameters(
    seen: Neighbourhood, hidden: int, layers: int, rng: np.random.Generator
) -> dict[str, NDArray[np.float32]]:
    """Return random weights, with which every score is 0."""
    kinds, matrices = seen.outlets.n_kinds, len(seen.matrices)
    sizes = shapes(seen.n_features, kinds, matrices, hidden, layers, seen.is_guessed)
    result = {}
    for name, shape in sizes.items():
        weights = np.zeros(shape)
        if len(shape) == 2 and name != "out":
            factor = 1.0 if name == "in" else _RESIDUAL
            weights = rng.standard_normal(shape) * factor * np.sqrt(2 / shape[0])
        result[name] = weights.astype(np.float32)
    return result


def fit(
    seen: Neighbourhood,
    parameters: Parameters,
    lessons: Sequence[Lessons],
    scale: float,
    steps: int,
    batch: int,
    rate: float,
    rng: np.random.Generator,
) -> tuple[dict[str, NDArray[np.float32]], float]:
    """Return fitted weights, and the mean squared error in units of ``scale`` at the end."""
    weights = {
        name: torch.from_numpy(np.array(a)).requires_grad_() for name, a in parameters.items()
    }
    optimizer = torch.optim.Adam(list(weights.values()), rate, weight_decay=_WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    matrices = [_tensor(matrix) for matrix in seen.matrices]
    tables = [_Table(own, scale) for own in lessons if len(own.values)]
    if not tables:
        return dict(parameters), 0.0
    share = np.array([table.n_states for table in tables], dtype=np.float64)
    share /= share.sum()
    errors = []
    for _ in range(steps):
        table = tables[rng.choice(len(tables), p=share)]
        few = table.sample(batch, rng)
        own = table.lessons
        features = torch.from_numpy(seen.see(own.states[few.states], own.steps[few.states]))
        scores = node_scores(weights, features, matrices)
        error = few.predicted(scores, seen) - few.values
        loss = (error**2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        errors.append(float(loss.detach()))
    fitted = {name: weight.detach().numpy().copy() for name, weight in weights.items()}
    return fitted, float(np.mean(errors[-(steps // 4 + 1) :]))


@dataclass(frozen=True, eq=False)
class _Batch:
    """Some states with all their lessons; entries as indices into scores of nodes."""

    states: IntArray
    values: torch.Tensor
    row: IntArray
    inputs: IntArray
    lesson: IntArray
    apart: FloatArray

    def predicted(self, scores: torch.Tensor, seen: Neighbourhood) -> torch.Tensor:
        """Return what the scores, ``(V, B, K)``, say of each lesson."""
        outlets = seen.outlets
        order = np.argsort(outlets.inputs, kind="stable")
        known = outlets.inputs[order]
        first, last = (np.searchsorted(known, self.inputs, side) for side in ("left", "right"))
        place, entry = _ranges(first, last)
        outlet = order[place]
        parts = scores[outlets.node[outlet], self.row[entry], outlets.kind[outlet]]
        parts = parts * torch.from_numpy(self.apart[entry].astype(np.float32))
        total = torch.zeros(len(self.values))
        return total.index_add(0, torch.from_numpy(self.lesson[entry]), parts)


class _Table:
    """Lessons of a round, ready to be drawn state by state."""

    def __init__(self, lessons: Lessons, scale: float) -> None:
        self.lessons = lessons
        self._values = (lessons.values / scale).astype(np.float32)
        self._known = np.unique(lessons.state)
        self._lesson = np.searchsorted(lessons.state, np.append(self._known, len(lessons.states)))
        self._lesson[-1] = len(lessons.values)
        self._entry = np.searchsorted(lessons.lesson, np.arange(len(lessons.values) + 1))
        self.n_states = len(self._known)

    def sample(self, batch: int, rng: np.random.Generator) -> _Batch:
        """Draw states until they hold about ``batch`` lessons."""
        per_state = len(self._values) / self.n_states
        count = int(np.clip(round(batch / per_state), 1, self.n_states))
        picked = rng.choice(self.n_states, count, replace=False)
        lesson, row = _ranges(self._lesson[picked], self._lesson[picked + 1])
        entry, number = _ranges(self._entry[lesson], self._entry[lesson + 1])
        own = self.lessons
        return _Batch(
            self._known[picked],
            torch.from_numpy(self._values[lesson]),
            row[number],
            own.inputs[entry],
            number,
            own.apart[entry],
        )


def _ranges(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """Return all whole numbers of some ranges, and which range each is of."""
    sizes = last - first
    which = np.repeat(np.arange(len(first)), sizes)
    start = np.cumsum(sizes) - sizes
    return np.arange(len(which)) - start[which] + first[which], which


def _tensor(matrix: csr_array) -> torch.Tensor:
    with warnings.catch_warnings():
        # Torch says once that sparse matrices are new to it; products with them are tested here.
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr.astype(np.int64)),
            torch.from_numpy(matrix.indices.astype(np.int64)),
            torch.from_numpy(matrix.data),
            matrix.shape,
            check_invariants=False,
        )
