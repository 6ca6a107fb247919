"""What the experiment costs, before it is begun."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.paper.experiment import ABLATIONS, RIVAL_SECONDS, RIVALS
from sequoia.sweep.cell import Cell

# Processor seconds of a cell on one core of the machine of docs/results (x86_64, 2026), 50
# episodes: training, playing and bounds. Means over ten seeds, by number of arms; what lies
# between is interpolated. The assortment and the trap have one size.
_SIZES = (20, 40, 100)
POLICY_SECONDS = {
    "interventions": (22.0, 33.0, 56.0),
    "scheduling": (22.0, 29.0, 64.0),
    "capacity": (20.0, 21.0, 65.0),
    "routing": (30.0, 58.0, 439.0),
    "epidemic": (27.0, 45.0, 96.0),
    "assortment": (61.0, 61.0, 61.0),
    "trap": (7.0, 7.0, 7.0),
}
# Of all rivals, each of which trains for a given time and ends with the step or the round that it
# is in. In routing only three of them apply, and a round takes longer than that time.
_RIVALS = {
    "interventions": (105.0, 110.0, 120.0),
    "scheduling": (107.0, 115.0, 134.0),
    "capacity": (106.0, 110.0, 117.0),
    "routing": (62.0, 81.0, 295.0),
    "epidemic": (105.0, 109.0, 118.0),
    "assortment": (108.0, 108.0, 108.0),
}
# Of all ablations; those of 20 arms were measured, and others are taken in proportion.
_ABLATIONS = {
    "interventions": (60.0, 120.0, 300.0),
    "scheduling": (117.0, 234.0, 585.0),
    "capacity": (148.0, 296.0, 740.0),
    "routing": (83.0, 166.0, 415.0),
}
_OTHER = (30.0, 60.0, 150.0)


@dataclass(frozen=True)
class Cost:
    """Cells and processor seconds of one kind of work."""

    what: str
    cells: int
    seconds: float


def expected_costs(cells: Sequence[Cell]) -> list[Cost]:
    """Return what cells are expected to cost, by setting, size and kind."""
    costs: dict[str, Cost] = {}
    for cell in cells:
        size = int(cell.knobs.get("arms", cell.knobs.get("items", _SIZES[0])))
        kind, seconds = _kind_and_seconds(cell, size)
        where = f"{cell.family}, {size}: {kind}"
        known = costs.get(where, Cost(where, 0, 0.0))
        costs[where] = Cost(where, known.cells + 1, known.seconds + seconds)
    return list(costs.values())


def _kind_and_seconds(cell: Cell, size: int) -> tuple[str, float]:
    """Return whether a cell is of policies, rivals or ablations, and its processor seconds."""
    budgets = [
        e.training.overrides["seconds"] for e in cell.entries if e.name in RIVALS and e.training
    ]
    if budgets:
        share = sum(budgets) / (RIVAL_SECONDS * len(RIVALS))
        return "rivals", share * _at(_RIVALS.get(cell.family, _OTHER), size)
    ablations = sum(e.name in ABLATIONS for e in cell.entries)
    if ablations:
        share = ablations / len(ABLATIONS)
        return "ablations", share * _at(_ABLATIONS.get(cell.family, _OTHER), size)
    return "policies", _at(POLICY_SECONDS.get(cell.family, _OTHER), size)


def _at(known: Sequence[float], size: int) -> float:
    """Return the cost at a size, between those that were measured; beyond, in proportion."""
    beyond = max(1.0, size / _SIZES[-1])
    return float(np.interp(size, _SIZES, known)) * beyond
