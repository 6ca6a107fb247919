"""Which solvers there are, and which of them are here."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata, util
from typing import NamedTuple

from sequoia.errors import ProblemError
from sequoia.solvers.highs import Highs
from sequoia.solvers.solver import Solver


def _gurobi() -> Solver:
    from sequoia.solvers.gurobi import Gurobi

    return Gurobi()


def _scip() -> Solver:
    from sequoia.solvers.scip import Scip

    return Scip()


@dataclass(frozen=True)
class _Entry:
    """How a solver is loaded, which package it needs, and what there is to say about it."""

    load: Callable[[], Solver]
    package: str
    note: str


SOLVERS = {
    "highs": _Entry(Highs, "highspy", "open source, the default"),
    "gurobi": _Entry(_gurobi, "gurobipy", "commercial; the licence is not checked here"),
    "scip": _Entry(_scip, "pyscipopt", "open source"),
}


class Availability(NamedTuple):
    """Whether a solver is here: its version, or ``None`` when it is not installed."""

    name: str
    version: str | None
    note: str


def available() -> list[Availability]:
    """Return every solver we can use and whether it is here; loads none and takes no licence."""
    return [_look_up(name, entry) for name, entry in SOLVERS.items()]


def solver(name: str) -> Solver:
    """Return the solver called ``name``.

    Raises
    ------
    SolverUnavailable
        When it is not installed; the message says how to get it.
    """
    if name not in SOLVERS:
        raise ProblemError(f"there is no solver {name!r}; {', '.join(SOLVERS)} are known.")
    return SOLVERS[name].load()


def _look_up(name: str, entry: _Entry) -> Availability:
    if util.find_spec(entry.package) is None:
        return Availability(name, None, f'pip install "sequoia-plan[{name}]"')
    try:
        return Availability(name, metadata.version(entry.package), entry.note)
    except metadata.PackageNotFoundError:
        # Built by hand, it may come without metadata.
        return Availability(name, "unknown", entry.note)
