"""How good anything can be."""

from sequoia.bounds.bound import bound
from sequoia.bounds.certificate import Bound
from sequoia.bounds.exact import Exact, solve_exactly
from sequoia.bounds.lagrangian.prices import Prices
from sequoia.bounds.lagrangian.relax import Relaxation, prices_over, relax
from sequoia.bounds.whittle import WhittleIndices, whittle_indices

__all__ = [
    "Bound",
    "Exact",
    "Prices",
    "Relaxation",
    "WhittleIndices",
    "bound",
    "prices_over",
    "relax",
    "solve_exactly",
    "whittle_indices",
]
