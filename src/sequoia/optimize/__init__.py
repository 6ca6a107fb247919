"""The search for a best action: networks over actions, programs, engines."""

from sequoia.optimize.auto import Auto
from sequoia.optimize.cache import ArgmaxCache
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.branch_and_bound import BranchAndBound
from sequoia.optimize.engines.enumeration import Enumeration
from sequoia.optimize.engines.local_search import LocalSearch
from sequoia.optimize.engines.milp import Milp
from sequoia.optimize.linear.argmax import LinearArgmax
from sequoia.optimize.relu_net import NetworkError, ReluNet
from sequoia.optimize.result import Argmax, ArgmaxResult

__all__ = [
    "ActionEncoding",
    "Argmax",
    "ArgmaxCache",
    "ArgmaxResult",
    "Auto",
    "BranchAndBound",
    "Enumeration",
    "LinearArgmax",
    "LocalSearch",
    "Milp",
    "NetworkError",
    "ReluNet",
]
