"""Link functions: from the dose of an arm to its probability of moving up.

Each is a small builder that tabulates: parameters per arm, ``(J,)``, and doses, ``(J, L)``, in;
probabilities, ``(J, L)``, out. `Arms.ladder` takes the result.
"""

import numpy as np
from numpy.typing import ArrayLike

from sequoia.errors import ProblemError
from sequoia.validation import FloatArray


def sigmoid(doses: ArrayLike, height: ArrayLike, slope: ArrayLike, middle: ArrayLike) -> FloatArray:
    """Return an S-shaped response: first rising returns, then saturation (paper, appendix C).

    ``height * (σ(slope * dose - middle) - σ(-middle))``, squeezed into [0.01, 0.99], so that no
    dose gives 0.01 and no move is ever certain.
    """
    from scipy.special import expit

    doses, height, slope, middle = _columns(doses, height, slope, middle)
    rise = height * (expit(slope * doses - middle) - expit(-middle))
    return _probabilities("sigmoid", 0.01 + 0.98 * rise)


def linear(doses: ArrayLike, base: ArrayLike, slope: ArrayLike) -> FloatArray:
    """Return ``base + slope * dose``, at most 1: each unit of dose counts the same."""
    doses, base, slope = _columns(doses, base, slope)
    return _probabilities("linear", np.minimum(base + slope * doses, 1.0))


def submodular(doses: ArrayLike, base: ArrayLike, chance: ArrayLike) -> FloatArray:
    """Return ``1 - (1 - base) * (1 - chance) ** dose``: each unit adds less than the one before."""
    doses, base, chance = _columns(doses, base, chance)
    return _probabilities("submodular", 1 - (1 - base) * (1 - chance) ** doses)


def piecewise_linear(values: FloatArray, nodes: FloatArray, doses: ArrayLike) -> FloatArray:
    """Return the curves through ``values``, ``(J, P)``, at ``nodes``, ``(P,)``, read at ``doses``.

    The paper hands the sigmoid to its solver in this form; a table needs no such approximation.
    """
    table = np.atleast_2d(np.asarray(doses, dtype=np.float64))
    return np.stack([np.interp(d, nodes, v) for d, v in zip(table, values, strict=True)])


def _columns(doses: ArrayLike, *parameters: ArrayLike) -> list[FloatArray]:
    table = np.atleast_2d(np.asarray(doses, dtype=np.float64))
    return [table, *(np.asarray(p, dtype=np.float64).reshape(-1, 1) for p in parameters)]


def _probabilities(link: str, values: FloatArray) -> FloatArray:
    if not ((values >= 0) & (values <= 1)).all():
        raise ProblemError(
            f"the {link} link gives {values.min():g} to {values.max():g}; its parameters must "
            "keep it between 0 and 1."
        )
    return values
