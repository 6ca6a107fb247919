"""Who depends on whom from one step to the next: the structure of a factored process."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.errors import ProblemError
from sequoia.problem.action_sets import limits_of, sample_actions
from sequoia.problem.environment import Environment, States
from sequoia.rng import stream
from sequoia.validation import ActionArray, FloatArray, IntArray, frozen, require, set_fields

# Enough that each of some hundred components is changed a dozen times. Steps that follow each other
# are much alike.
_SAMPLES, _BATCH, _EVERY = 2_048, 256, 4


@dataclass(frozen=True, eq=False, init=False)
class Dependencies:
    """Which components of a state, and which action columns, the next state depends on.

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
    found = frozen(f"dependencies.{name}", kinds, np.int64, (size,))
    require(f"dependencies.{name}", found, found >= 0, "at least 0 is wanted")
    return found


def dependencies_of(environment: Environment) -> Dependencies | None:
    """Return what an environment says about who depends on whom; ``None`` if it says nothing.

    Raises
    ------
    ProblemError
        When it is of another size than states and actions.
    """
    found: Dependencies | None = getattr(environment, "dependencies", None)
    if found is None:
        return None
    size = environment.draw_start(np.random.default_rng(0), 1).shape[1]
    wanted = (size, environment.space.n_actions)
    if found.columns.shape != wanted:
        raise ProblemError(
            f"the dependencies of {environment.name} are of {found.columns.shape[0]} components "
            f"and {found.columns.shape[1]} columns; it has {wanted[0]} and {wanted[1]}."
        )
    return found


def require_dependencies(environment: Environment, claimed: Dependencies) -> None:
    """Try by sampling whether ``claimed`` holds.

    In each try one component, or one column of the action, gets another value; under the same
    noise only what depends on it may then change.

    Raises
    ------
    ProblemError
        One line: what changed that should not have.
    """
    rng = stream(0, "dependencies")
    may_change = {
        "component": (claimed.components + sparse.eye_array(claimed.n_components)).tocsr(),
        "column": claimed.columns.tocsr(),
    }
    for states, actions in _visited(environment, rng):
        noise = rng.random((len(states), environment.n_noise))
        _, before = environment.step(states, actions, noise)
        for what, moved in _changes(states, actions, rng):
            _, after = environment.step(moved.states, moved.actions, noise)
            row, changed = np.nonzero(np.asarray(after) != np.asarray(before))
            if not len(row):
                continue
            cause = moved.where[row]
            wrong = np.flatnonzero(np.asarray(may_change[what][changed, cause]) == 0)
            if len(wrong):
                first, second = changed[wrong[0]], f"{what} {cause[wrong[0]]}"
                raise ProblemError(
                    f"the dependencies of {environment.name} say that component {first} does not "
                    f"depend on {second}, but it changed when only {second} was changed, under "
                    "the same noise."
                )


@dataclass(frozen=True, eq=False)
class _Moved:
    """States and actions after one change in each row, and where it was made, ``(B,)``."""

    states: States
    actions: ActionArray
    where: IntArray


def _changes(
    states: States, actions: ActionArray, rng: np.random.Generator
) -> Iterator[tuple[str, _Moved]]:
    row = np.arange(len(states))
    component = rng.integers(0, states.shape[1], len(states))
    other = states.copy()
    # A value that another state has there is one that can occur.
    other[row, component] = states[rng.permutation(len(states)), component]
    yield "component", _Moved(other, actions, component)
    column = rng.integers(0, actions.shape[1], len(states))
    flipped = actions.copy()
    flipped[row, column] ^= 1
    yield "column", _Moved(states, flipped, column)


def _visited(
    environment: Environment, rng: np.random.Generator
) -> Iterator[tuple[States, ActionArray]]:
    """Yield states of random play with the actions taken there, some hundred at a time."""
    episodes = -(-_SAMPLES // (_BATCH * -(-environment.horizon // _EVERY)))
    for _ in range(episodes):
        states = environment.draw_start(rng, _BATCH)
        for step in range(environment.horizon):
            few = sample_actions(
                environment, states[: _BATCH // 16], np.full(_BATCH // 16, step), rng
            )
            picked = rng.integers(0, len(few), _BATCH)
            actions = few[picked]
            if limits_of(environment, states[:1], np.array([step])) is not None:
                # Each action only where it is allowed: others may lead where nothing is.
                states = states[picked]
            if step % _EVERY == 0:
                yield states, actions
            noise = rng.random((_BATCH, environment.n_noise))
            _, states = environment.step(states, actions, noise)


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
