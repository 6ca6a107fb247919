"""Minutes from place to place by the shortest ways."""

from collections.abc import Sequence

import numpy as np

from sequoia.errors import ProblemError
from sequoia.problem.names import count
from sequoia.sizes import MOST_STEPS
from sequoia.validation import FloatArray, IntArray


def shortest(given: FloatArray, names: Sequence[str]) -> IntArray:
    """Return the minutes of shortest ways, ``(P, P)``; every place is to be reached."""
    wrong = np.argwhere(~(given >= 0))
    if len(wrong):
        start, stop = wrong[0].tolist()
        raise ProblemError(
            f"team.travel[{start}, {stop}] is {given[start, stop]:g}; minutes from {names[start]} "
            f"to {names[stop]} are wanted, or inf where there is no direct way."
        )
    finite = given[np.isfinite(given)]
    if (finite != np.rint(finite)).any() or (finite > MOST_STEPS).any():
        raise ProblemError(
            f"team.travel holds values that are no whole numbers of at most {MOST_STEPS} minutes."
        )
    minutes = given.copy()
    np.fill_diagonal(minutes, 0.0)
    for via in range(len(minutes)):
        minutes = np.minimum(minutes, minutes[:, via, None] + minutes[None, via])
    holes = np.argwhere(np.isinf(minutes))
    if len(holes):
        start, stop = holes[0].tolist()
        raise ProblemError(
            f"team.travel has no way from {names[start]} to {names[stop]}, not even round about; "
            f"{count(len(holes), 'pair')} of places in all have none."
        )
    result: IntArray = minutes.astype(np.int64)
    result.setflags(write=False)
    return result
