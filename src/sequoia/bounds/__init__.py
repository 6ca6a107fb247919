"""How good anything can be."""

from sequoia.bounds.bound import Bound
from sequoia.bounds.exact import Exact, solve_exactly
from sequoia.bounds.price_policy import PricePolicy, PriceUpdatePolicy
from sequoia.bounds.prices import Prices
from sequoia.bounds.relaxation import Relaxation, prices_over, relax
from sequoia.bounds.step import Best, Step
from sequoia.bounds.whittle import WhittleIndices, WhittlePolicy, whittle_indices

__all__ = [
    "Best",
    "Bound",
    "Exact",
    "PricePolicy",
    "PriceUpdatePolicy",
    "Prices",
    "Relaxation",
    "Step",
    "WhittleIndices",
    "WhittlePolicy",
    "prices_over",
    "relax",
    "solve_exactly",
    "whittle_indices",
]
