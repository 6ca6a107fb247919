"""How to act: the paper's baselines, learned policies, and prices."""

from sequoia.policies.greedy import Greedy, iterative_myopic
from sequoia.policies.idle import Idle
from sequoia.policies.learned import Sequoia, iterative_dqn
from sequoia.policies.myopic import Myopic
from sequoia.policies.optimal import Optimal
from sequoia.policies.policy import Policy
from sequoia.policies.q_function import QFunction
from sequoia.policies.random import Random
from sequoia.policies.registry import POLICIES, Recipe, make_policy
from sequoia.policies.sampling import Sampling

__all__ = [
    "POLICIES",
    "Greedy",
    "Idle",
    "Myopic",
    "Optimal",
    "Policy",
    "QFunction",
    "Random",
    "Recipe",
    "Sampling",
    "Sequoia",
    "iterative_dqn",
    "iterative_myopic",
    "make_policy",
]
