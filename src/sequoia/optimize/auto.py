"""The engine that picks the engine."""

from functools import cached_property

from sequoia.errors import TooLarge
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.branch_and_bound import BranchAndBound
from sequoia.optimize.engines.branch_then_milp import BranchThenMilp
from sequoia.optimize.engines.enumeration import Enumeration
from sequoia.optimize.engines.local_search import LocalSearch
from sequoia.optimize.engines.milp import Milp
from sequoia.optimize.linear.argmax import LinearArgmax
from sequoia.optimize.linear.oracles import has_oracle
from sequoia.optimize.relu_net import ReluNet
from sequoia.optimize.result import PROOF_GAP, Argmax, ArgmaxResult
from sequoia.solvers import Limits
from sequoia.validation import ActionArray, FloatArray

# More take longer to try than a local search, where no proof is asked for.
_MOST_WITHOUT_PROOF = 50_000


class Auto:
    """Enumerate if there are few actions; else local search, then a proof, if it is asked for.

    The proof is by `BranchAndBound` where linear functions are quickly maximised, else by a
    program; see `BranchThenMilp` for spaces where both are quick. Where the network has no
    hidden layer, there is a shorter way: see `LinearArgmax`.

    Parameters
    ----------
    gap
        How far from the best an action may provably be; ``None`` asks for no proof, which is what
        training wants.
    seconds
        Time limit for the proof of one state; what is known by then is returned with its gap.

    Attributes
    ----------
    lists_actions
        Whether there are few enough actions to try them all.
    """

    name = "auto"

    def __init__(
        self,
        columns: ActionEncoding,
        gap: float | None = PROOF_GAP,
        seconds: float = float("inf"),
        workers: int = 1,
    ) -> None:
        limits = Limits(seconds, PROOF_GAP if gap is None else gap)
        self.lists_actions = True
        try:
            listed = Enumeration(columns)
            is_quicker = gap is None and len(listed) > _MOST_WITHOUT_PROOF
            self._engine: Argmax = LocalSearch(columns) if is_quicker else listed
            self._linear: Argmax = listed
        except TooLarge:
            self.lists_actions = False
            linear = LinearArgmax(columns, limits=limits)
            if gap is None:
                self._engine = LocalSearch(columns)
            elif has_oracle(columns):
                is_quick = columns.space.base.has_quick_program
                self._engine = (
                    BranchThenMilp(columns, limits, workers)
                    if is_quick
                    else BranchAndBound(columns, limits)
                )
            else:
                self._engine = Milp(columns, limits=limits, workers=workers)
            self._linear = self._engine if gap is None and linear.is_hard else linear

    def best(self, net: ReluNet) -> ArgmaxResult:
        """Return the best action of each state, proven as far as asked."""
        return (self._engine if net.weights else self._linear).best(net)


class RolloutAuto:
    """Good actions of many functions, for rollouts: exact, unless that takes a solver long.

    Made for linear functions; others are taken as well, one after the other.

    Attributes
    ----------
    is_batched
        Whether the space answers all at once.
    lists_actions
        Whether it does not, but has so few actions that all are tried.
    """

    def __init__(self, encoding: ActionEncoding) -> None:
        self._encoding, linear = encoding, LinearArgmax(encoding)
        self.is_batched = linear.is_batched
        self._engine: Argmax = linear if self.is_batched else self._any
        self.lists_actions = not self.is_batched and self._any.lists_actions

    @cached_property
    def _any(self) -> Auto:
        return Auto(self._encoding, gap=None)

    def best(self, weights: FloatArray) -> ActionArray:
        """Return an action by the weights of its inputs, ``(B, I)``, for each row."""
        return self._engine.best(ReluNet.of_linear(weights)).actions

    def best_of(self, net: ReluNet) -> ActionArray:
        """Return an action for each function, linear or not."""
        return self._any.best(net).actions if net.weights else self.best(net.linear)
