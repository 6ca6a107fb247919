"""Plans for a model that is not known for sure: by a draw from its posterior, or with caution."""

import numpy as np

from sequoia.bounds import bound
from sequoia.problem import Problem
from sequoia.records.fit import FittedModel, with_kernels
from sequoia.validation import FloatArray

# Nine of ten models promise more than the cautious one; 20 draws place that share to about 7 %.
_SHARE, _DRAWS = 0.1, 20


def cautious(fitted: FittedModel, problem: Problem) -> FloatArray:
    """Return the draw whose promise nine of ten others exceed, ``(G, L, S, S)``.

    A draw promises what the bound says that the best policy earns under it. This is the percentile
    criterion (Delage and Mannor 2010) over draws: the plan is then made for a world that is worse
    than most that fit the log, but no worse than it can well be.
    """
    rows = np.linspace(0, len(fitted.draws) - 1, min(_DRAWS, len(fitted.draws))).astype(int)
    promises = [bound(with_kernels(problem, fitted.draws[row])).total for row in rows]
    order = np.argsort(promises, kind="stable")
    drawn: FloatArray = fitted.draws[rows[order[int(_SHARE * len(rows))]]]
    return drawn
