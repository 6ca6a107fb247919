"""What is known without data: moves that never happen, and that a dose never hurts."""

from dataclasses import dataclass

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
