"""What the doses of a cluster are worth together, beyond each on its own, as ReLU units."""

from dataclasses import replace

import numpy as np

from sequoia.models.factored_part import FactoredPart
from sequoia.optimize.dose_groups import DoseGroup, DoseTables
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem.environment import States
from sequoia.validation import FloatArray, IntArray


class JointUnits:
    """A hidden layer over actions that adds up tables of the doses of clusters, exactly.

    With ``c_d >= 0`` the worth of doses d of a cluster, up to a constant, and ``n_d(x)`` the number
    of its arms whose dose in action x is not that of d,

    ``c_{d(x)} = sum_d relu(c_d - M n_d(x))`` for any ``M >= max c``:

    only the unit of the doses that are given is above 0. c_d is what `FactoredPart.beyond` says, so
    beside the effects of that part, the network over actions is the Q-function of `price`.

    Attributes
    ----------
    weights
        ``-M`` times how n_d rises with each input, ``(P, I)``: one row for each cluster and d.
    """

    def __init__(self, part: FactoredPart, encoding: ActionEncoding) -> None:
        self._part = part
        self._groups = [DoseGroup(own.arms, own.doses) for own in part.tables]
        count = max(len(own.doses) for own in part.tables)
        beyond = [part.beyond(cluster) for cluster in range(len(part.tables))]
        worth = [own - own.min(axis=2, keepdims=True) for own in beyond]
        self._worth = np.concatenate(
            [np.pad(own, ((0, 0), (0, 0), (0, count - own.shape[2]))) for own in worth], axis=1
        )
        self._units = np.concatenate(
            [count * place + np.arange(len(own.doses)) for place, own in enumerate(part.tables)]
        )
        # A power of two, so that sums with it are not rounded where a unit is above 0.
        most = float(self._worth.max(initial=0.0))
        self._force = 2.0 ** np.ceil(np.log2(most)) if most > 0 else 1.0
        misses = [_misses(own.arms, own.doses, encoding) for own in part.tables]
        self.weights: FloatArray = -self._force * np.concatenate([rises for rises, _ in misses])
        self._idle_misses = np.concatenate([idle for _, idle in misses])

    def layer(self, states: IntArray, steps: IntArray) -> tuple[FloatArray, DoseTables]:
        """Return the bias of each unit in each state, ``(B, P)``, and the tables themselves."""
        step = np.minimum(steps, len(self._worth) - 1)
        found = self._worth[step[:, None], self._part.rows(states)]  # (B, C, D)
        worth: FloatArray = found.reshape(len(found), -1)[:, self._units]
        values = [found[:, place, : len(own.doses)] for place, own in enumerate(self._groups)]
        return worth - self._force * self._idle_misses, DoseTables(self._groups, values)

    def added_to(self, net: ReluNet, states: States, steps: IntArray) -> ReluNet:
        """Return a linear function of the inputs with these units added."""
        biases, tables = self.layer(states, steps)
        return replace(
            net,
            weights=(self.weights,),
            first_bias=biases,
            output=np.ones(len(self.weights)),
            tables=tables,
        )


def _misses(
    arms: IntArray, doses: IntArray, encoding: ActionEncoding
) -> tuple[FloatArray, IntArray]:
    """Return how n_d rises with each input, ``(D, I)``, and n_d without any, ``(D,)``."""
    rises = np.zeros((len(doses), encoding.n_inputs))
    for place, arm in enumerate(arms.tolist()):
        wanted = doses[:, place]
        for level, read in enumerate(encoding.level_input[arm].tolist()):
            if read >= 0:
                rises[:, read] += np.where(wanted == 0, 1.0, np.where(wanted == level, -1.0, 0.0))
    return rises, np.count_nonzero(doses, axis=1)
