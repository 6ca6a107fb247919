"""Dependencies from one step to the next: the structure of a factored process."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from sequoia.errors import ProblemError
from sequoia.validation import FloatArray, IntArray, frozen, require, set_fields


@dataclass(frozen=True, eq=False, init=False)
class Dependencies:
    """The components of a state, and the action columns, that the next state depends on.

    The graph of a factored Markov decision process (Guestrin et al. 2003). Axes: D components of
    a state, N action columns. Weights say how strongly; where only yes or no is known, they are 1.

    Attributes
    ----------
    components
        Row j holds the components that the next value of component j depends on, beside its own,
        ``(D, D)``, sparse, not negative.
    columns
        Row j holds the action columns that it depends on, ``(D, N)``, sparse.
    kinds
        Components of one kind have values of the same meaning, ``(D,)``; all alike unless given.
    column_kinds
        Columns of one kind do the same, each to its own components, ``(N,)``; all alike unless
        given.
    features
        What never changes about each component, ``(D, F)``, best of size about 1; nothing unless
        given.
    """

    components: csr_array
    columns: csr_array
    kinds: IntArray
    column_kinds: IntArray
    features: FloatArray

    def __init__(
        self,
        components: ArrayLike | csr_array,
        columns: ArrayLike | csr_array,
        kinds: ArrayLike | None = None,
        column_kinds: ArrayLike | None = None,
        features: ArrayLike | None = None,
    ) -> None:
        components = _matrix("dependencies.components", components)
        columns = _matrix("dependencies.columns", columns)
        size = components.shape[0]
        if components.shape != (size, size) or columns.shape[0] != size:
            raise ProblemError(
                f"dependencies.components has shape {components.shape} and dependencies.columns "
                f"{columns.shape}; (D, D) and (D, N) are wanted."
            )
        weights = components.data
        require("dependencies.components.data", weights, weights >= 0, "at least 0 is wanted")
        if components.diagonal().any():
            where = int(np.flatnonzero(components.diagonal())[0])
            raise ProblemError(
                f"dependencies.components[{where}, {where}] is not 0; that a component depends on "
                "itself goes without saying."
            )
        features = np.empty((size, 0)) if features is None else features
        features = frozen("dependencies.features", features, np.float64, (size, None))
        require("dependencies.features", features, np.isfinite(features), "a number is wanted")
        set_fields(
            self,
            components=components,
            columns=columns,
            kinds=_kinds("kinds", kinds, size),
            column_kinds=_kinds("column_kinds", column_kinds, columns.shape[1]),
            features=features,
        )

    @property
    def n_components(self) -> int:
        """``D``."""
        return int(self.components.shape[0])


def _kinds(name: str, given: ArrayLike | None, size: int) -> IntArray:
    kinds = np.zeros(size, np.int64) if given is None else given
    checked = frozen(f"dependencies.{name}", kinds, np.int64, (size,))
    require(f"dependencies.{name}", checked, checked >= 0, "at least 0 is wanted")
    return checked


def _matrix(where: str, given: Any) -> csr_array:
    try:
        matrix = csr_array(given, dtype=np.float64, copy=True)
    except (TypeError, ValueError):
        raise ProblemError(f"{where} is not a matrix of numbers.") from None
    if matrix.ndim != 2:
        raise ProblemError(f"{where} has {matrix.ndim} axes; 2 are wanted.")
    require(f"{where}.data", matrix.data, np.isfinite(matrix.data), "a number is wanted")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.setflags(write=False)
    return matrix
