"""Actions that break rows, mended by leaving something out."""

import numpy as np

from sequoia.problem.system import LinearSystem
from sequoia.validation import ActionArray, BoolArray, FloatArray


def without_broken_rows(
    rows: LinearSystem, action: ActionArray, weights: FloatArray
) -> ActionArray | None:
    """Drop the lightest columns that break a row, while no other row breaks by that.

    Returns ``None`` when dropping does not help.
    """

    def broken(tried: ActionArray) -> BoolArray:
        _, low, high = rows.broken(tried[:, None].astype(np.float64))
        both: BoolArray = np.stack([low[:, 0], high[:, 0]])
        return both

    action, wrong = action.copy(), broken(action)
    while wrong.any():
        dense = rows.matrix[wrong.any(axis=0)].toarray()
        low, high = wrong[:, wrong.any(axis=0)]
        blame = (dense[high] > 0).any(axis=0) | (dense[low] < 0).any(axis=0)
        guilty = np.flatnonzero(blame & (action == 1))
        for column in guilty[np.argsort(weights[guilty], kind="stable")].tolist():
            action[column] = 0
            then = broken(action)
            if not (then & ~wrong).any():
                break
            action[column] = 1
        else:
            return None
        wrong = then
    return action
