"""A good action to begin from, where a solver finds it hard to find one of its own."""

import numpy as np

from sequoia.errors import InfeasibleDecision
from sequoia.problem import Decision
from sequoia.problem.spaces import ActionSpace
from sequoia.validation import ActionArray, FloatArray

# Work, not time: so many greedy constructions.
_ROUNDS = 40
# Which share of columns is dropped: enough for another order, too little for another beginning.
_DROPPED = 0.35
# By what weights are multiplied when actions are grown again, so that another one comes out.
_NOISE = (0.7, 1.3)


def ruin_and_recreate(space: ActionSpace, weights: FloatArray, seed: int = 0) -> ActionArray | None:
    """Return a feasible action of large weight, ``(N,)``: grow greedily, drop some, grow again.

    Ruin and recreate (Schrimpf et al. 2000), keeping the best.

    Returns ``None`` where doing nothing is not allowed, so that there is nothing to grow from.
    """
    rng = np.random.default_rng(seed)
    try:
        best = _grow(space, space.certify(space.idle.action), weights)
    except InfeasibleDecision:
        return None
    for _ in range(_ROUNDS):
        kept = best.action.copy()
        kept[rng.random(len(kept)) < _DROPPED] = 0
        try:
            tried = _grow(space, space.certify(kept), weights * rng.uniform(*_NOISE, len(kept)))
        except InfeasibleDecision:
            continue
        if weights @ tried.action > weights @ best.action:
            best = tried
    return best.action


def _grow(space: ActionSpace, decision: Decision, weights: FloatArray) -> Decision:
    """Add what weighs most while anything of positive weight can be added."""
    while len(extensions := space.extensions(decision)):
        gains = weights[extensions.columns]
        index = int(gains.argmax())
        if gains[index] <= 0:
            break
        decision = extensions[index]
    return decision
