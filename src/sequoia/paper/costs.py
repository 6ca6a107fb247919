"""What the experiment costs, before it is begun."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sequoia.paper.experiment import ABLATIONS, RIVAL_SECONDS, RIVALS
from sequoia.sweep.cell import Cell

# Processor seconds of one seed on one core of the machine of docs/results (x86_64, 2026), 50
# episodes: training and playing, bounds included. Means of ten seeds at 20 and 40 arms, of one
# cell at 100; epidemics of 40 and 100 are estimated. What lies between sizes is interpolated.
_SIZES = (20, 40, 100)
_MAIN = {
    "interventions": (23.0, 33.0, 71.0),
    "scheduling": (22.0, 29.0, 68.0),
    "capacity": (20.0, 21.0, 67.0),
    "routing": (30.0, 59.0, 400.0),
    "epidemic": (28.0, 60.0, 150.0),
    "assortment": (61.0, 61.0, 61.0),
    "trap": (5.0, 5.0, 5.0),
}
# Of each trained variant that is not SEQUOIA as usual. Rivals train for a given time and end with
# the step or the round that they are in.
_PLAYED = (1.0, 2.5, 6.0)
_TRAINED = dict.fromkeys(RIVALS, tuple(RIVAL_SECONDS + played for played in _PLAYED))
_TRAINED["as in the paper"] = (30.0, 80.0, 250.0)
_OTHER = (15.0, 25.0, 50.0)


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
