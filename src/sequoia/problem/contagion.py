"""Arms that infect each other: how an arm moves depends on the states of its neighbours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from sequoia.errors import FileError, ProblemError
from sequoia.problem.arms import Arms
from sequoia.problem.tables import Column, TableSet, table
from sequoia.validation import IntArray, frozen, require, set_fields

_MAX_WEIGHT = 1_000_000


@dataclass(frozen=True, eq=False, init=False)
class Contagion:
    """The model that each arm follows, given the states of all arms.

    Axes: J arms, S states, P pressures. The pressure on an arm is the sum of what its neighbours
    exert, ``neighbours @ sources[state]``; more than ``P - 1`` counts as ``P - 1``.

    Attributes
    ----------
    neighbours
        How strongly arm k presses on arm j, ``(J, J)``, sparse, whole numbers of at least 0.
    sources
        How much pressure each state exerts, ``(S,)``, whole numbers of at least 0.
    models
        The model, a row of ``arms.kernels``, that arm j follows under each pressure, ``(J, P)``.

    Examples
    --------
    >>> from sequoia import make
    >>> made = make('epidemic', arms=4, graph='lattice')
    >>> made.contagion.pressure([[0, 1, 1, 1]]).tolist()  # only the first is infected
    [[0, 1, 1, 0]]
    """

    neighbours: csr_array
    sources: IntArray
    models: IntArray

    def __init__(
        self, neighbours: ArrayLike | csr_array, sources: ArrayLike, models: ArrayLike
    ) -> None:
        models = frozen("contagion.models", models, np.int64, (None, None))
        sources = frozen("contagion.sources", sources, np.int64, (None,))
        require("contagion.sources", sources, sources >= 0, "at least 0 is wanted")
        require("contagion.sources", sources, sources <= _MAX_WEIGHT, "less is wanted")
        if not models.shape[1]:
            raise ProblemError("contagion.models has no columns; one per pressure is wanted.")
        weights = _weights(neighbours, len(models))
        set_fields(self, neighbours=weights, sources=sources, models=models)

    @property
    def n_pressures(self) -> int:
        """``P``."""
        return int(self.models.shape[1])

    @cached_property
    def _pressed(self) -> csr_array:
        return csr_array(self.neighbours.T)

    def pressure(self, states: ArrayLike) -> IntArray:
        """Return the pressure on each arm, at most ``P - 1``, in the shape of ``states``."""
        exerted = self.sources[np.asarray(states)] @ self._pressed
        pressure: IntArray = np.minimum(exerted, self.n_pressures - 1)
        return pressure

    def models_in(self, states: ArrayLike) -> IntArray:
        """Return the model that each arm follows, in the shape of ``states``, ``(..., J)``."""
        model: IntArray = self.models[np.arange(len(self.models)), self.pressure(states)]
        return model

    def check(self, arms: Arms) -> None:
        """Raise a `ProblemError` unless this fits ``arms``."""
        for what, size, wanted in (
            ("models has {} rows", len(self.models), arms.n_arms),
            ("sources has {} entries", len(self.sources), arms.n_states),
        ):
            if size != wanted:
                raise ProblemError(f"contagion.{what.format(size)}; {wanted} are wanted.")
        models = self.models
        inside = (models >= 0) & (models < arms.n_models)
        require("contagion.models", models, inside, f"models run from 0 to {arms.n_models - 1}")
        same = models[:, 0] == arms.model
        require("contagion.models[:, 0]", models[:, 0], same, "arms.model is wanted: no pressure")
        is_same = (arms.doses[models] == arms.doses[arms.model][:, None]).all(axis=2)
        require("contagion.models", models, is_same, "all models of an arm have the same doses")

    def to_tables(self, names: Sequence[str], called: Callable[[IntArray], Column]) -> TableSet:
        """Return the options and tables of this contagion among arms called ``names``.

        ``called`` gives models their names.
        """
        entries = self.neighbours.tocoo()
        columns = {f"model_{p}": called(row) for p, row in enumerate(self.models.T)}
        tables = table(
            "neighbours",
            arm=[names[j] for j in entries.row],
            neighbour=[names[k] for k in entries.col],
            weight=entries.data,
        ) | table("contagion", arm=list(names), **columns)
        return TableSet({"sources": self.sources.tolist()}, tables)

    @classmethod
    def from_tables(
        cls, content: TableSet, names: Sequence[str], model_names: Sequence[str]
    ) -> "Contagion":
        """Build from options and tables, for arms and models of these names."""
        content.known({"sources"})
        sources = np.array(content.option("sources", list))
        pairs, models = content.table("neighbours"), content.table("contagion")
        pressed, pressing = pairs.places("arm", names), pairs.places("neighbour", names)
        weights = pairs.integers("weight")
        fine = (weights >= 0) & (weights <= _MAX_WEIGHT)
        pairs.require("weight", weights, fine, f"0 to {_MAX_WEIGHT} is wanted")
        place = models.places("arm", names)
        listed = [models.numbers(name, "model", model_names) for name in models.numbered("model")]
        content.settle()
        if len(set(zip(pressed.tolist(), pressing.tolist(), strict=True))) != len(pairs):
            raise FileError(f"{pairs.where} names a pair of arms twice.")
        if not np.array_equal(np.sort(place), np.arange(len(names))):
            raise FileError(f"{models.where} does not name each arm of arms.csv once.")
        shape = (len(names), len(names))
        neighbours = csr_array((weights, (pressed, pressing)), shape=shape)
        return cls(neighbours, sources, np.stack(listed, axis=1)[np.argsort(place)])


def _weights(matrix: object, size: int) -> csr_array:
    try:
        given = csr_array(matrix, copy=True)
        values = frozen("contagion.neighbours.data", given.data, np.int64, (None,))
    except (TypeError, ValueError):
        raise ProblemError("contagion.neighbours is not a matrix of numbers.") from None
    if given.shape != (size, size):
        raise ProblemError(
            f"contagion.neighbours has shape {given.shape}; ({size}, {size}) is wanted."
        )
    fine = (values >= 0) & (values <= _MAX_WEIGHT)
    require("contagion.neighbours.data", values, fine, f"0 to {_MAX_WEIGHT} is wanted")
    result = csr_array((values.copy(), given.indices, given.indptr), shape=given.shape)
    result.sum_duplicates()
    result.eliminate_zeros()
    result.sort_indices()
    for part in (result.data, result.indices, result.indptr):
        part.setflags(write=False)
    return result
