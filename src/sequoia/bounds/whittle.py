"""The Whittle index of a standard restless bandit."""

from dataclasses import dataclass

import numpy as np

from sequoia.errors import ProblemError
from sequoia.scaling import unit_of
from sequoia.validation import BoolArray, FloatArray

# Models whose linear systems are solved at once: some MB with ten states.
_CHUNK = 4_096
# Slopes and gains below this are rounding, beside rewards of about 1.
_SLACK = 1e-9
# Gains that come from solutions of linear systems carry the rounding of these.
_ROOM = 1e3
# Relative values above this, beside the rewards, come from a matrix that is singular but for
# rounding.
_SINGULAR = 1e12


@dataclass(frozen=True, eq=False)
class WhittleIndices:
    """The index of every state: the charge for acting at which acting and waiting are as good.

    Attributes
    ----------
    indices
        By model and state, ``(G, S)``; NaN for a model that is not indexable.
    is_indexable
        By model, ``(G,)``: whether the states in which acting is best only ever become fewer as
        the charge rises.
    """

    indices: FloatArray
    is_indexable: BoolArray


def whittle_indices(
    kernels: FloatArray, rewards: FloatArray, discount: float = 1.0
) -> WhittleIndices:
    """Compute the indices of many arms at once, exactly.

    The charge rises from below. For the policy that is best at the current charge, the advantage
    of acting is linear in the charge in every state; where it first reaches zero, that charge is
    the index of the state, and the state leaves the set in which the policy acts (Whittle 1988; the
    order of the steps is that of the adaptive-greedy algorithm of Niño-Mora 2007). An arm is not
    indexable when a state that left would have to come back.

    With a charge ``m`` for acting, the values of a policy that acts in the states A are linear in
    m, ``v = (I - discount P_A)^-1 (r_A - m 1_A)``, and so is the advantage of acting,
    ``r_1 - r_0 - m + discount (P_1 - P_0) v = level + slope m``: its root is ``-level / slope``.

    Parameters
    ----------
    kernels
        Transition probabilities without and with acting, ``(G, 2, S, S)``.
    rewards
        Reward of a step without and with acting, ``(G, 2, S)``.
    discount
        Less than 1 for discounted reward; 1 for average reward.

    Raises
    ------
    ProblemError
        With average reward, when some policy leaves an arm in separate sets of states for ever.
    """
    if not 0 < discount <= 1:
        raise ProblemError(f"discount is {discount}; (0, 1] is wanted.")
    unit = unit_of(rewards)
    parts = [
        _climb(kernels[begin : begin + _CHUNK], rewards[begin : begin + _CHUNK] / unit, discount)
        for begin in range(0, len(kernels), _CHUNK)
    ]
    indices = np.concatenate([part.indices for part in parts]) * unit
    return WhittleIndices(indices, np.concatenate([part.is_indexable for part in parts]))


def _climb(kernels: FloatArray, rewards: FloatArray, discount: float) -> WhittleIndices:
    count, _, states = rewards.shape
    each = np.arange(count)
    indices = np.full((count, states), np.nan)
    is_active = np.ones((count, states), dtype=np.bool_)
    charge = np.full(count, -np.inf)
    is_indexable = np.ones(count, dtype=np.bool_)
    for _ in range(states):
        level, slope = _advantage(kernels, rewards, is_active, discount)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.where(slope < -_SLACK, -level / slope, np.inf)
        root = np.maximum(np.where(is_active, root, np.inf), charge[:, None])
        state = root.argmin(axis=1)
        following = root[each, state]
        is_indexable &= np.isfinite(following)
        following = np.where(np.isfinite(following), following, charge)
        is_indexable &= ~_returns(level, slope, is_active, charge, following)
        charge = following
        indices[each, state] = charge
        is_active[each, state] = False
    level, slope = _advantage(kernels, rewards, is_active, discount)
    is_indexable &= ~_returns(level, slope, is_active, charge, np.full(count, np.inf))
    indices[~is_indexable] = np.nan
    return WhittleIndices(indices, is_indexable)


def _returns(
    level: FloatArray, slope: FloatArray, is_active: BoolArray, low: FloatArray, high: FloatArray
) -> BoolArray:
    """Say whether, for a charge from ``low`` to ``high``, acting pays in a state that left."""
    scale = _SLACK * (1 + np.abs(level).max(axis=1, initial=0.0))
    is_back = np.zeros(len(level), dtype=np.bool_)
    for charge in (low, high):
        at = np.where(np.isfinite(charge), charge, 0.0)
        gain = level + at[:, None] * slope
        # Without end, only the slope counts.
        gain = np.where(np.isfinite(charge)[:, None], gain, np.where(slope > _SLACK, np.inf, 0.0))
        room = _ROOM * scale * (1 + np.abs(at))
        is_back |= ((gain > room[:, None]) & ~is_active).any(axis=1) & (charge > -np.inf)
    return is_back


def _advantage(
    kernels: FloatArray, rewards: FloatArray, is_active: BoolArray, discount: float
) -> tuple[FloatArray, FloatArray]:
    """Return what acting gains over waiting: a level and a slope in the charge, ``(G, S)`` each."""
    act = is_active[:, :, None]
    moves = np.where(act, kernels[:, 1], kernels[:, 0])
    earned = np.where(is_active, rewards[:, 1], rewards[:, 0])
    sides = np.stack([earned, -is_active.astype(np.float64)], axis=2)
    states = kernels.shape[-1]
    system = np.eye(states) - discount * moves
    if discount == 1:
        # Relative values: the first is 0, and the average reward takes its column.
        system[:, :, 0] = 1.0
    try:
        values = np.linalg.solve(system, sides)
    except np.linalg.LinAlgError:
        raise _not_unichain() from None
    if discount == 1:
        if not np.isfinite(values).all() or np.abs(values).max() > _SINGULAR * (
            1 + np.abs(earned).max()
        ):
            raise _not_unichain()
        values[:, 0] = 0.0
    gain = discount * (kernels[:, 1] - kernels[:, 0]) @ values
    return rewards[:, 1] - rewards[:, 0] + gain[:, :, 0], gain[:, :, 1] - 1.0


def _not_unichain() -> ProblemError:
    return ProblemError(
        "some policy leaves an arm in separate sets of states for ever, so its average reward "
        "depends on the start; give a discount below 1."
    )
