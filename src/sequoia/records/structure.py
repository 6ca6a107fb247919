"""Knowledge without data: moves that never happen, doses that never hurt, rows that are one."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from sequoia.errors import ProblemError
from sequoia.validation import BoolArray, FloatArray, frozen, set_fields


@dataclass(frozen=True, eq=False, init=False)
class Structure:
    """Known structure.

    Attributes
    ----------
    allowed
        Which moves can happen, ``(S, S)`` or, by dose, ``(L, S, S)``; ``None`` for all. A state
        that cannot be left has only itself.
    never_hurts
        Whether a larger dose never makes things worse: from each state, the next state under it is
        stochastically larger. States are then ordered, the last the best.
    same_moves
        Whether an arm moves up or down over the same distances, as likely, from every state; at
        either end it stays. States are then ordered too.
    """

    allowed: BoolArray | None
    never_hurts: bool
    same_moves: bool

    def __init__(
        self,
        allowed: ArrayLike | None = None,
        never_hurts: bool = False,
        same_moves: bool = False,
    ) -> None:
        if allowed is not None:
            shape: tuple[None, ...] = (None,) * np.ndim(allowed)
            allowed = frozen("structure.allowed", allowed, np.bool_, shape)
            if not allowed.any(axis=-1).all():
                raise ProblemError("structure.allowed leaves a state with nowhere to go.")
        set_fields(self, allowed=allowed, never_hurts=never_hurts, same_moves=same_moves)

    def mask(self, doses: int, states: int) -> BoolArray:
        """Return which moves can happen, ``(L, S, S)``."""
        shape = (doses, states, states)
        if self.allowed is None:
            return np.ones(shape, dtype=np.bool_)
        if self.allowed.shape not in (shape, shape[1:]):
            raise ProblemError(
                f"structure.allowed has shape {self.allowed.shape}; {shape[1:]} or {shape} "
                "is wanted."
            )
        mask: BoolArray = np.broadcast_to(self.allowed, shape).copy()
        return mask


def is_rising(rows: FloatArray) -> BoolArray:
    """Say, by group and row, whether larger doses never hurt, ``(G, R)``.

    ``rows`` is ``(G, L, R, V)``, such as kernels are, from the worst entry to the best.
    """
    tails = rows[..., ::-1].cumsum(axis=-1)
    rising = (np.diff(tails, axis=1) >= -1e-12).all(axis=(1, 3))
    return np.asarray(rising, dtype=np.bool_)


def make_rising(rows: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the nearest rows under which larger doses never hurt.

    For each row and k, the chance of reaching k or more must not fall as the dose rises. It is
    made so by isotonic regression over doses (pool adjacent violators), weighted by how much is
    known of each row. With the same weights for all k, regression keeps the order of the chances,
    so what comes out is a distribution again.

    Parameters
    ----------
    rows
        ``(G, L, R, V)``.
    weights
        ``(G, L, R)``, positive.
    """
    tails = rows[..., ::-1].cumsum(axis=-1)[..., ::-1]
    pooled = _isotonic(np.moveaxis(tails, 1, 0), np.moveaxis(weights, 1, 0)[..., None])
    tails = np.moveaxis(pooled, 0, 1)
    risen = np.maximum(-np.diff(tails, axis=-1, append=0.0), 0.0)
    result: FloatArray = risen / risen.sum(axis=-1, keepdims=True)
    return result


def _isotonic(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted isotonic regression along the first axis.

    By its formula of means: ``max over i <= l of min over j >= l of mean(i … j)``.
    """
    doses = len(values)
    weights = np.broadcast_to(weights, values.shape)
    sums = np.concatenate([np.zeros_like(values[:1]), (weights * values).cumsum(axis=0)])
    mass = np.concatenate([np.zeros_like(values[:1]), weights.cumsum(axis=0)])
    result = np.full_like(values, -np.inf)
    for begin in range(doses):
        means = (sums[begin + 1 :] - sums[begin]) / (mass[begin + 1 :] - mass[begin])
        least = np.minimum.accumulate(means[::-1], axis=0)[::-1]
        result[begin:] = np.maximum(result[begin:], least)
    return result


class Moves(Protocol):
    """Between rows ``(…, L, R, V)`` that are estimated and transitions ``(…, L, S, S)``.

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
        rows: FloatArray,
        rng: np.random.Generator | None = None,
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
        kernels: FloatArray = np.einsum("...v,svt->...st", rows[..., 0, :], self._leads)
        return kernels

    def fold(
        self, counts: FloatArray, rows: FloatArray, rng: np.random.Generator | None = None
    ) -> FloatArray:
        """Return counts by distance; at the ends they are split among all that lead there."""
        inner, ends = self._leads[..., 1:-1], self._leads[..., [0, -1]]
        # From state s, only one distance leads to a state that is not at an end.
        folded = np.einsum("...st,svt->...v", counts[..., 1:-1], inner)
        weights = rows[..., 0, None, :, None] * ends
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
        result: FloatArray = (folded + split.sum(axis=(-3, -1)))[..., None, :]
        return result


def moves_by(structure: Structure, doses: int, states: int) -> Moves:
    """Return the rows that are estimated under a structure."""
    mask = structure.mask(doses, states)
    return SameMoves(mask) if structure.same_moves else FreeMoves(mask)
