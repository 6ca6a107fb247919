"""Which doses an arm can get: all that some of its action columns add up to."""

import numpy as np

from sequoia.validation import FloatArray

# Doses are the same up to this share of all that an arm can get: more than rounding leaves.
SAME_DOSE = 1e-9


def attainable_doses(weights: FloatArray, most: float = np.inf) -> FloatArray | None:
    """Return all that some of the ``weights``, ``(K,)``, add up to, ascending, 0 among them.

    ``None`` where there are more than ``most``.
    """
    same = SAME_DOSE * np.abs(weights).sum()
    sums = np.zeros(1)
    for weight in weights:
        both = np.sort(np.concatenate([sums, sums + weight]))
        sums = both[np.diff(both, prepend=-np.inf) > same]
        if len(sums) > most:
            return None
    return sums
