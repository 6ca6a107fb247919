"""Which change earned what: the whole difference for one change, shares of it for many at once."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_array

from sequoia.problem import Dependencies
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray, IntArray

Played = tuple[States, ActionArray]

# How many steps along the graph what a column changes is followed. Two is where the messages of the
# network end; measured on epidemics of 100 to 10,000 nodes, 3 is as good.
_RADIUS = 2


class PairedStep(NamedTuple):
    """One step of B pairs of rollouts under the same luck.

    Attributes
    ----------
    candidate
        Which candidate each pair is of, ``(B,)``.
    ahead
        Steps since the candidates' own actions.
    gained
        What the candidate earned more than the policy, ``(B,)``.
    ours, theirs
        States and actions of the candidate, and of the policy.
    """

    candidate: IntArray
    ahead: int
    gained: FloatArray
    ours: Played
    theirs: Played


class Credit(Protocol):
    """Gathers what pairs of rollouts earn, step by step."""

    def add(self, step: PairedStep) -> None:
        """Take note of one step."""
        ...


class WholeCredit:
    """The difference in all that was earned, summed over rollouts, ``values``, ``(C,)``."""

    def __init__(self, candidates: int) -> None:
        self.values = np.zeros(candidates)

    def add(self, step: PairedStep) -> None:
        """Add up what was gained."""
        np.add.at(self.values, step.candidate, step.gained)


class LocalCredit:
    """Many changes in one candidate, far apart: each is credited with what happens around it.

    With thousands of components, the whole difference of one change drowns in the work of playing
    all of them. So a candidate makes many changes, and every component counts for the nearest one,
    if it is near at all. What is missing then is what the changes draw from elsewhere: where a node
    falls ill, treatments follow, and others go without. That has a price, the same everywhere,
    which is estimated: ``rest = -price * used``, over all pairs by least squares, where ``rest``
    is what is earned away from all changes, and ``used`` what they draw in later steps.

    Attributes
    ----------
    values
        Credit of every column of every candidate, summed over rollouts, ``(C, N)`` by column; 0
        where it did not change.
    """

    def __init__(
        self,
        environment: Any,
        dependencies: Dependencies,
        changed: ActionArray,
        costs: FloatArray,
    ) -> None:
        self._environment, self._costs = environment, costs
        size = changed.shape[1]
        # Column `size` stands for what is near no change.
        self._near, self._near_column = _nearest(dependencies, changed != 0)
        self._earned = np.zeros((len(changed), size + 1))
        self._used = np.zeros((len(changed), size + 1))

    def add(self, step: PairedStep) -> None:
        """Share out what was gained by component, and what was used by column."""
        own, rewards = step.candidate, self._environment.component_rewards
        _spread(self._earned, own, self._near[own], rewards(*step.ours) - rewards(*step.theirs))
        if step.ahead:
            used = (step.ours[1] - step.theirs[1].astype(np.float64)) * self._costs
            _spread(self._used, own, self._near_column[own], used)

    @property
    def values(self) -> FloatArray:
        """What every change earned, less the price of what it used."""
        rest, used = self._earned[:, -1], self._used[:, :-1].sum(axis=1)
        price = -float(rest @ used) / max(float(used @ used), 1e-12)
        result: FloatArray = self._earned[:, :-1] - price * self._used[:, :-1]
        return result


def _nearest(dependencies: Dependencies, changed: Any) -> tuple[IntArray, IntArray]:
    """Return the changed column that is nearest to every component, and to every column.

    ``(C, D)`` and ``(C, N)``; N where none is near.
    """
    size = changed.shape[1]
    reach = csr_array(dependencies.columns != 0)
    among = csr_array(dependencies.components != 0)
    both = csr_array(among + among.T)
    label = np.where(changed, np.arange(size), -1)
    near = _heard(reach, label.T)
    for _ in range(_RADIUS):
        near = np.where(near < 0, _heard(both, near), near)
    column = _heard(csr_array(reach.T), near)
    return np.where(near < 0, size, near).T, np.where(column < 0, size, column).T


def _heard(graph: csr_array, labels: IntArray) -> IntArray:
    """Return the largest label that each row of ``graph`` hears, ``(rows, C)``; -1 for none."""
    nothing = np.full((1, labels.shape[1]), -1)
    if not graph.nnz:
        return np.repeat(nothing, graph.shape[0], axis=0)
    # With -1 at the end, a row without entries that is the last one has a place to look at.
    told = np.concatenate([labels[graph.indices], nothing])
    heard: IntArray = np.maximum.reduceat(told, graph.indptr[:-1], axis=0)
    heard[np.diff(graph.indptr) == 0] = -1
    return heard


def _spread(total: FloatArray, rows: IntArray, place: IntArray, values: FloatArray) -> None:
    """Add values, ``(B, D)``, to ``total`` at ``rows``, ``(B,)``, and columns ``place``."""
    row, where = np.nonzero(values)
    np.add.at(total, (rows[row], place[row, where]), values[row, where])
