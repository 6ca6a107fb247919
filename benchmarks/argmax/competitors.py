"""Who takes part, and what each is asked to do."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from cells import Case
from numpy.typing import NDArray

GAP = 1e-6


@dataclass(frozen=True, eq=False)
class Found:
    """What a competitor returns for one or more states.

    Attributes
    ----------
    actions
        ``(B, N)``; empty when nothing was found.
    claimed
        The value the competitor says each has, ``(B,)``.
    gaps
        The gap the competitor says it has proven, ``(B,)``; ``inf`` for none.
    """

    actions: NDArray[np.int8]
    claimed: NDArray[np.float64]
    gaps: NDArray[np.float64]

    @classmethod
    def one(cls, action: NDArray[np.float64], claimed: float, gap: float) -> "Found":
        """Return what was found for a single state."""
        rounded = np.rint(action).astype(np.int8)[None]
        return cls(rounded, np.array([claimed]), np.array([gap]))

    @classmethod
    def nothing(cls) -> "Found":
        """Return that no action was found."""
        return cls(np.empty((0, 0), dtype=np.int8), np.empty(0), np.empty(0))


class TooBigForLicence(Exception):
    """The program has more rows or columns than the solver's free licence allows."""


class NotApplicable(Exception):
    """The competitor does not take part in a cell."""


# Built once per network and space; then called with the positions of states.
Solve = Callable[[list[int]], Found]
Prepare = Callable[[Case, float], Solve]


@dataclass(frozen=True)
class Competitor:
    """One row of the table."""

    name: str
    title: str
    where: str  # module:function
    settings: tuple[str, ...] = ()  # all, unless named
    is_batched: bool = False

    def prepare(self, case: Case, seconds: float) -> Solve:
        """Return the function to be measured; each solve may take so many seconds."""
        module, function = self.where.split(":")
        prepare: Prepare = getattr(import_module(module), function)
        return prepare(case, seconds)


COMPETITORS = {
    each.name: each
    for each in (
        Competitor("auto", "ours: auto, with proof", "ours:auto"),
        Competitor("auto-1%", "ours: auto, 1 % in 10 s", "ours:auto_one_percent", ("routing",)),
        Competitor("enumerate", "ours: enumerate", "ours:enumerate_all"),
        Competitor("local", "ours: local, batches of 64", "ours:local", is_batched=True),
        Competitor("naive-highs", "HiGHS, M = 1e5", "programs:naive_highs"),
        Competitor(
            "unrolled-highs", "HiGHS, tight, unrolled walk", "programs:paper_highs", ("routing",)
        ),
        Competitor("naive-gurobi", "Gurobi, M = 1e5", "programs:naive_gurobi"),
        Competitor("tight-gurobi", "Gurobi, our tight program", "programs:tight_gurobi"),
        Competitor("gurobi-ml", "gurobi-machinelearning", "library_gurobi:prepare"),
        Competitor("pyscipopt-ml", "PySCIPOpt-ML", "library_scip:prepare"),
        Competitor("omlt", "OMLT + HiGHS", "library_omlt:prepare"),
    )
}
OURS = ("auto", "auto-1%", "enumerate", "local")
LIBRARIES = ("gurobi-ml", "pyscipopt-ml", "omlt")
