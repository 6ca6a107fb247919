"""The known solvers, those that are installed, and the one in use.

Packages add theirs by entry points of ``sequoia.solvers``, each a `SolverEntry`.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import metadata, util
from typing import Any, NamedTuple

from sequoia.errors import ProblemError
from sequoia.plugins import Parts
from sequoia.solvers.highs import Highs
from sequoia.solvers.program import Solver, missing


def _gurobi(**options: Any) -> Solver:
    from sequoia.solvers.gurobi import Gurobi

    return Gurobi(**options)


def _scip(**options: Any) -> Solver:
    from sequoia.solvers.scip import Scip

    return Scip(**options)


@dataclass(frozen=True)
class SolverEntry:
    """The loader of a solver, the package that it needs, and a word about it."""

    load: Callable[..., Solver]
    package: str
    note: str


_LIBRARY = {
    "highs": SolverEntry(Highs, "highspy", "open source, the default"),
    "gurobi": SolverEntry(_gurobi, "gurobipy", "commercial; the licence is not checked here"),
    "scip": SolverEntry(_scip, "pyscipopt", "open source"),
}
SOLVERS = Parts("sequoia.solvers", _LIBRARY)
DEFAULT = "highs"
# Of this thread, and of what it calls; a new thread or process begins with the default.
_used: ContextVar[str] = ContextVar("solver", default=DEFAULT)


class Availability(NamedTuple):
    """Whether a solver is here: its version, or ``None`` when it is not installed."""

    name: str
    version: str | None
    note: str


def available() -> list[Availability]:
    """Return every solver we can use and whether it is here; loads none and takes no licence."""
    return [_look_up(name, entry) for name, entry in SOLVERS.items()]


def solver(name: str, **options: Any) -> Solver:
    """Return the solver called ``name``; ``options`` are its own, by its own names.

    Raises
    ------
    ProblemError
        When there is no such solver.
    SolverUnavailable
        When it is not installed; the message says how to get it.
    """
    return _entry(name).load(**options)


def require_solver(name: str) -> None:
    """Raise what `solver` would, without loading anything."""
    package = _entry(name).package
    if util.find_spec(package) is None:
        raise missing(package, name)


def used_solver() -> str:
    """Return the name of the solver that programs are given to here."""
    return _used.get()


@contextmanager
def using_solver(name: str) -> Iterator[None]:
    """Give programs to the solver called ``name``, for as long as this lasts."""
    require_solver(name)
    token = _used.set(name)
    try:
        yield
    finally:
        _used.reset(token)


def default_solver(**options: Mapping[str, Any]) -> Solver:
    """Return the solver that is used here; ``options`` are those of each solver, by its name."""
    name = used_solver()
    return solver(name, **options.get(name, {}))


def _entry(name: str) -> SolverEntry:
    if name not in SOLVERS:
        raise ProblemError(f"there is no solver {name!r}; {', '.join(SOLVERS)} are known.")
    return SOLVERS[name]


def _look_up(name: str, entry: SolverEntry) -> Availability:
    if util.find_spec(entry.package) is None:
        return Availability(name, None, f'pip install "sequoia-plan[{name}]"')
    try:
        return Availability(name, metadata.version(entry.package), entry.note)
    except metadata.PackageNotFoundError:
        # Built by hand, it may come without metadata.
        return Availability(name, "unknown", entry.note)
