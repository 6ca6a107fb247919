"""Policies: the paper's baselines, learned policies, and prices."""

from sequoia.models.model import QFunction
from sequoia.policies.greedy import Greedy, IterativeMyopic
from sequoia.policies.idle import Idle
from sequoia.policies.learned import IterativeDqn, Sequoia
from sequoia.policies.lookahead import Lookahead
from sequoia.policies.lrie import Lrie
from sequoia.policies.myopic import Myopic
from sequoia.policies.optimal import Optimal
from sequoia.policies.policy import (
    FunctionPolicy,
    LinearPolicy,
    Options,
    Policy,
    StatewisePolicy,
    Style,
)
from sequoia.policies.price import PricePolicy
from sequoia.policies.price_update import PriceUpdatePolicy
from sequoia.policies.random import Random
from sequoia.policies.registry import POLICIES, make_policy
from sequoia.policies.robust import RobustPolicy
from sequoia.policies.sampling import Sampling
from sequoia.policies.whittle import WhittlePolicy

__all__ = [
    "POLICIES",
    "FunctionPolicy",
    "Greedy",
    "Idle",
    "IterativeDqn",
    "IterativeMyopic",
    "LinearPolicy",
    "Lookahead",
    "Lrie",
    "Myopic",
    "Optimal",
    "Options",
    "Policy",
    "PricePolicy",
    "PriceUpdatePolicy",
    "QFunction",
    "Random",
    "RobustPolicy",
    "Sampling",
    "Sequoia",
    "StatewisePolicy",
    "Style",
    "WhittlePolicy",
    "make_policy",
]
