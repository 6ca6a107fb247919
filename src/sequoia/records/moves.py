"""Which rows of probabilities make up the transitions: one for each state, or one for all."""

from typing import Protocol

import numpy as np

from sequoia.errors import ProblemError
from sequoia.records.structure import Structure
from sequoia.validation import BoolArray, FloatArray


class Moves(Protocol):
    """Between rows ``(G, L, R, V)`` that are estimated and transitions ``(G, L, S, S)``.

    Attributes
    ----------
    allowed
        Which entries of a row can be more than 0, ``(L, R, V)``.
    """

    allowed: BoolArray

    def kernels(self, rows: FloatArray) -> FloatArray:
        """Return the transitions by these rows."""
        ...

    def fold(
        self, counts: FloatArray, rows: FloatArray, rng: np.random.Generator | None = None
    ) -> FloatArray:
        """Return counts of transitions as counts of entries of rows.

        Where several entries lead to the same state, counts are split by ``rows``: in expectation
        or, with ``rng``, at random.
        """
        ...


class FreeMoves:
    """A row for each state: any transitions."""

    def __init__(self, allowed: BoolArray) -> None:
        self.allowed = allowed

    def kernels(self, rows: FloatArray) -> FloatArray:
        """Return the rows themselves."""
        return rows

    def fold(
        self,
        counts: FloatArray,
        rows: FloatArray,  # noqa: ARG002
        rng: np.random.Generator | None = None,  # noqa: ARG002
    ) -> FloatArray:
        """Return the counts themselves."""
        return counts


class SameMoves:
    """One row for all states: how far an arm moves up or down; at either end it stays.

    An entry of the row is a distance, from ``1 - S`` to ``S - 1``. It is allowed where every move
    over that distance is.
    """

    def __init__(self, allowed: BoolArray) -> None:
        states = allowed.shape[-1]
        state = np.arange(states)
        fine = []
        for distance in range(1 - states, states):
            to = state + distance
            inside = (to >= 0) & (to < states)
            fine.append(allowed[:, state[inside], to[inside]].all(axis=1))
        self.allowed = np.stack(fine, axis=1)[:, None, :]
        if not self.allowed.any(axis=2).all():
            raise ProblemError("structure.allowed has no move that is possible from every state.")
        ends = np.clip(state[:, None] + np.arange(1 - states, states), 0, states - 1)
        # Which state each distance leads to, (S, V, S).
        self._leads = (ends[:, :, None] == state).astype(np.float64)

    def kernels(self, rows: FloatArray) -> FloatArray:
        """Return the transitions by distances."""
        kernels: FloatArray = np.einsum("glv,svt->glst", rows[:, :, 0], self._leads)
        return kernels

    def fold(
        self, counts: FloatArray, rows: FloatArray, rng: np.random.Generator | None = None
    ) -> FloatArray:
        """Return counts by distance; at the ends they are split among all that lead there."""
        inner, ends = self._leads[..., 1:-1], self._leads[..., [0, -1]]
        # From state s, only one distance leads to a state that is not at an end.
        folded = np.einsum("glst,svt->glv", counts[..., 1:-1], inner)
        weights = rows[:, :, 0, None, :, None] * ends
        total = weights.sum(axis=-2, keepdims=True)
        share = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
        at_ends = counts[..., [0, -1]]
        if rng is None:
            split = share * at_ends[..., None, :]
        else:
            chances = np.moveaxis(share, -2, -1)
            # What never happens has no counts, and needs some distribution.
            chances[~chances.any(axis=-1)] = 1 / chances.shape[-1]
            split = np.moveaxis(rng.multinomial(at_ends.astype(np.int64), chances), -1, -2)
        result: FloatArray = (folded + split.sum(axis=(2, 4)))[:, :, None, :]
        return result


def moves_by(structure: Structure, doses: int, states: int) -> Moves:
    """Return the rows that are estimated under a structure."""
    mask = structure.mask(doses, states)
    return SameMoves(mask) if structure.same_moves else FreeMoves(mask)
