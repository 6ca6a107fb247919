"""Upper bounds on the reward of any policy, and the exact optimum."""

from sequoia.bounds.bound import bound
from sequoia.bounds.certificate import Bound
from sequoia.bounds.clairvoyant import clairvoyant_bound, clairvoyant_search
from sequoia.bounds.exact import Exact, solve_exactly
from sequoia.bounds.factored.relax import FactoredRelaxation, relax_factored
from sequoia.bounds.lagrangian.prices import Prices
from sequoia.bounds.lagrangian.relax import Relaxation, prices_over, relax
from sequoia.bounds.whittle import WhittleIndices, whittle_indices

__all__ = [
    "Bound",
    "Exact",
    "FactoredRelaxation",
    "Prices",
    "Relaxation",
    "WhittleIndices",
    "bound",
    "clairvoyant_bound",
    "clairvoyant_search",
    "prices_over",
    "relax",
    "relax_factored",
    "solve_exactly",
    "whittle_indices",
]
