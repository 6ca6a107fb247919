"""Good actions of linear objectives, for training and rollouts: quick, and not proven."""

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.relu_net import NetworkError, ReluNet
from sequoia.optimize.result import ArgmaxResult


class Construction:
    """Takes what the space constructs (`ActionSpace.construct_linear`) as it is."""

    name = "construction"

    def __init__(self, columns: ActionEncoding) -> None:
        self._columns = columns

    @staticmethod
    def is_good_in(columns: ActionEncoding) -> bool:
        """Say whether that is mostly within a per cent of the best."""
        return columns.dose_indicators is None and columns.space.constructs_well

    def best(self, net: ReluNet) -> ArgmaxResult:
        """Return a good action of each state; ``net`` must have no hidden layer."""
        actions = None if net.weights else self._columns.space.construct_linear(net.linear)
        if actions is None:
            raise NetworkError("the space constructs actions for linear networks alone.")
        values = net.values(self._columns.encode(actions)[:, None, :])[:, 0]
        return ArgmaxResult.unproven(actions, values)
