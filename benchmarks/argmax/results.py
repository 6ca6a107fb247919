"""What one competitor did in one cell, compared with the best known."""

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
from competitors import COMPETITORS, GAP

PROVEN = 2 * GAP
OPTIMA = ("auto", "enumerate")


@dataclass(frozen=True, eq=False)
class Result:
    """One competitor in one cell.

    Attributes
    ----------
    row
        What was measured, as it stands in the file.
    best
        The best value known of each state, and whether it is proven.
    ours
        Milliseconds that ``auto`` took for each state.
    limit
        Seconds that one solve might take.
    """

    row: dict[str, Any]
    best: dict[int, tuple[float, bool]]
    ours: dict[int, float]
    limit: float

    @property
    def name(self) -> str:
        """Who."""
        return self.row["competitor"]

    @property
    def cell(self) -> tuple[str, int, str]:
        """Where."""
        return _cell(self.row)

    @property
    def solves(self) -> list[dict[str, Any]]:
        """One entry per solve and state."""
        return self.row["solves"]

    @property
    def is_over(self) -> bool:
        """Whether half of the solves or more ran into the time limit."""
        over = [solve["wall_ms"] >= 0.98e3 * self.limit for solve in self.solves]
        return bool(over) and float(np.mean(over)) >= 0.5

    def milliseconds(self, percent: float = 50, kind: str = "cpu_ms") -> float:
        """Return a percentile of the time per solve."""
        return float(np.percentile([solve[kind] for solve in self.solves], percent))

    @property
    def n_proven(self) -> int:
        """How many solves ended with a claim of proof."""
        return sum(s["gap"] is not None and s["gap"] <= PROVEN for s in self.solves)

    @property
    def worst_gap(self) -> float:
        """Largest gap that is left, ``inf`` where nothing is proven."""
        return max(np.inf if s["gap"] is None else s["gap"] for s in self.solves)

    @cached_property
    def losses(self) -> list[float]:
        """How far each found value is below the best known, relative to it."""
        known = [s for s in self.solves if s["value"] is not None and s["state"] in self.best]
        pairs = [(self.best[s["state"]][0], s["value"]) for s in known]
        return [(best - value) / max(abs(best), 1.0) for best, value in pairs]

    @property
    def most_above_proof(self) -> float:
        """How far some value is above our proven optimum, relative to it; never, if all is well."""
        pairs = [(s["value"], *self.best.get(s["state"], (0.0, False))) for s in self.solves]
        above = [
            (value - best) / max(abs(best), 1.0)
            for value, best, is_proven in pairs
            if is_proven and value is not None
        ]
        return max(above, default=0.0)

    @property
    def is_compared_with_proofs(self) -> bool:
        """Whether all losses are against a proven optimum."""
        return all(self.best[s["state"]][1] for s in self.solves if s["state"] in self.best)

    @property
    def worst_claim(self) -> float:
        """Largest relative difference between what is claimed and what the network says."""
        known = [s for s in self.solves if s["value"] is not None]
        off = [abs(s["claimed"] - s["value"]) / max(abs(s["value"]), 1.0) for s in known]
        return max(off, default=0.0)

    @property
    def n_forbidden(self) -> int:
        """How many answers break the rules."""
        return sum(s["value"] is not None and not s["allowed"] for s in self.solves)

    @cached_property
    def ratio(self) -> float | None:
        """Median time over that of ``auto`` on the same states."""
        same = [s for s in self.solves if s["state"] in self.ours]
        if not same:
            return None
        own = np.median([self.ours[state] for state in {s["state"] for s in same}])
        return float(np.median([s["cpu_ms"] for s in same]) / own)


def results(measured: dict[str, Any]) -> list[Result]:
    """Compare every competitor with the best known of its cell."""
    found = []
    for _, group in groupby(measured["rows"], key=_cell):
        rows = list(group)
        best = _best_known(rows)
        auto = [solve for row in rows if row["competitor"] == "auto" for solve in row["solves"]]
        ours = {solve["state"]: solve["cpu_ms"] for solve in auto}
        found += [Result(row, best, ours, measured["time_limit"]) for row in rows]
    return found


def _cell(row: dict[str, Any]) -> tuple[str, int, str]:
    return row["setting"], row["arms"], row["network"]


def _best_known(rows: list[dict[str, Any]]) -> dict[int, tuple[float, bool]]:
    """Return our proven optimum of each state; else the best that anyone found.

    Batched local search solves states that no one else does; they are not compared.
    """
    best: dict[int, tuple[float, bool]] = {}
    for row in rows:
        if COMPETITORS[row["competitor"]].is_batched:
            continue
        for solve in row["solves"]:
            if solve["value"] is None or not solve["allowed"]:
                continue
            ours = row["competitor"] in OPTIMA
            proven = ours and solve["gap"] is not None and solve["gap"] <= PROVEN
            before = best.get(solve["state"], (-np.inf, False))
            if (proven, solve["value"]) > (before[1], before[0]):
                best[solve["state"]] = (solve["value"], proven)
    return best
