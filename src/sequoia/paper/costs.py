"""What the experiment costs, before it is begun."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sequoia.paper.experiment import ABLATIONS, RIVAL_SECONDS, RIVALS
from sequoia.sweep.cell import Cell

# Processor seconds of one seed on one core of our machine (x86_64), 50 episodes: training and
# playing, bounds included. The four settings are from `docs/results/times.csv`; epidemic and
# assortment are estimated from single trainings. What lies between sizes is interpolated.
_SIZES = (20, 40, 100)
_MAIN = {
    "interventions": (94.0, 77.0, 90.0),
    "scheduling": (99.0, 90.0, 110.0),
    "capacity": (153.0, 105.0, 75.0),
    "routing": (105.0, 150.0, 600.0),
    "epidemic": (240.0, 600.0, 1_200.0),
    "assortment": (300.0, 300.0, 300.0),
    "trap": (5.0, 5.0, 5.0),
}
# Of each trained variant that is not SEQUOIA as usual. Rivals train for a given time and end with
# the round that they are in, which takes up to a third of it.
_PLAYED = 30.0
_TRAINED = dict.fromkeys(RIVALS, (RIVAL_SECONDS + _PLAYED,) * 3)
_TRAINED["as in the paper"] = (120.0, 300.0, 1_000.0)
_OTHER = (60.0, 100.0, 200.0)


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
        is_variant = all(e.name in RIVALS or e.name in ABLATIONS for e in cell.entries)
        kind = "learners" if is_variant else "policies"
        where = f"{cell.family}, {size}: {kind}"
        known = costs.get(where, Cost(where, 0, 0.0))
        costs[where] = Cost(where, known.cells + 1, known.seconds + _seconds(cell, size))
    return list(costs.values())


def _seconds(cell: Cell, size: int) -> float:
    variants = [e.name for e in cell.entries if e.name in RIVALS or e.name in ABLATIONS]
    own = [_at(_TRAINED.get(name, _OTHER), size) for name in variants]
    is_main = len(own) < len(cell.entries)
    return sum(own) + (_at(_MAIN.get(cell.family, _OTHER), size) if is_main else 0.0)


def _at(known: Sequence[float], size: int) -> float:
    """Return the cost at a size, between those that were measured; beyond, in proportion."""
    beyond = max(1.0, size / _SIZES[-1])
    return float(np.interp(size, _SIZES, known)) * beyond
