"""How a best action is found: networks over actions, programs, engines."""

from sequoia.optimize.argmax import Answer, Argmax
from sequoia.optimize.auto import Auto
from sequoia.optimize.branch import Branch
from sequoia.optimize.columns import Columns
from sequoia.optimize.enumeration import Enumeration
from sequoia.optimize.linear import Best, Linear
from sequoia.optimize.local_search import LocalSearch
from sequoia.optimize.memo import Memo
from sequoia.optimize.milp import Milp
from sequoia.optimize.relaxation import Relaxation
from sequoia.optimize.relu_net import NetworkError, ReluNet

__all__ = [
    "Answer",
    "Argmax",
    "Auto",
    "Best",
    "Branch",
    "Columns",
    "Enumeration",
    "Linear",
    "LocalSearch",
    "Memo",
    "Milp",
    "NetworkError",
    "Relaxation",
    "ReluNet",
]
