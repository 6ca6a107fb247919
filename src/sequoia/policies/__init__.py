"""How to act: the paper's baselines, learned policies, and prices."""

from sequoia.models.q_function import QFunction
from sequoia.policies.greedy import Greedy, iterative_myopic
from sequoia.policies.idle import Idle
from sequoia.policies.learned import Sequoia, iterative_dqn
from sequoia.policies.myopic import Myopic
from sequoia.policies.optimal import Optimal
from sequoia.policies.policy import Policy
from sequoia.policies.price import PricePolicy
from sequoia.policies.price_update import PriceUpdatePolicy
from sequoia.policies.random import Random
from sequoia.policies.registry import POLICIES, Recipe, make_policy
from sequoia.policies.sampling import Sampling
from sequoia.policies.whittle import WhittlePolicy

__all__ = [
    "POLICIES",
    "Greedy",
    "Idle",
    "Myopic",
    "Optimal",
    "Policy",
    "PricePolicy",
    "PriceUpdatePolicy",
    "QFunction",
    "Random",
    "Recipe",
    "Sampling",
    "Sequoia",
    "WhittlePolicy",
    "iterative_dqn",
    "iterative_myopic",
    "make_policy",
]
