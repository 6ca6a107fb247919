"""HiGHS, the embedded open-source solver.

Its package is imported at the first solve: much can be done with a problem before.
"""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sequoia.errors import FileError, ProblemError, SolverFailed
from sequoia.solvers.program import (
    Limits,
    Program,
    Solution,
    Status,
    require_finite,
    require_numbers,
)
from sequoia.solvers.scaling import Scaling
from sequoia.validation import FloatArray

_ROW_WISE = 2  # MatrixFormat.kRowwise, as a number
_MAXIMISE = -1  # ObjSense.kMaximize, as a number
_FEASIBLE = 2  # kSolutionStatusFeasible; its information holds the number
# Objectives are scaled, so that 1e-9 is nothing beside them. Entries of the matrix are taken as
# they are down to the smallest that HiGHS can be told to see.
_OURS = {"output_flag": False, "threads": 1, "mip_abs_gap": 1e-9, "small_matrix_value": 1e-12}
# Options for small programs whose relaxation tells more than heuristics find.
LEAN = {
    "mip_allow_restart": False,
    "mip_detect_symmetry": False,
    "mip_heuristic_run_rins": False,
    "mip_heuristic_run_rens": False,
    "mip_heuristic_run_root_reduced_cost": False,
    "mip_heuristic_run_feasibility_jump": False,
}

_STATUS = {
    "kOptimal": Status.OPTIMAL,
    "kInfeasible": Status.INFEASIBLE,
    "kUnbounded": Status.UNBOUNDED,
    "kTimeLimit": Status.LIMIT,
    "kSolutionLimit": Status.LIMIT,
    "kIterationLimit": Status.LIMIT,
    "kInterrupt": Status.LIMIT,
}


class Highs:
    """Arrays go straight in; one thread; a fresh instance per solve, hence safe to share.

    Parameters
    ----------
    options
        HiGHS options by name, on top of ours.
    """

    name = "highs"

    def __init__(self, **options: Any) -> None:
        self._options = options

    def solve(
        self,
        program: Program,
        limits: Limits = Limits(),
        start: FloatArray | None = None,
    ) -> Solution:
        """Solve ``program``; ``start`` is a complete point to begin from."""
        began = time.perf_counter()
        scaling = Scaling(program)
        engine, unit = self._engine(scaling)
        _limit(engine, limits)
        if start is not None:
            columns = np.arange(len(start), dtype=np.int32)
            engine.setSolution(len(start), columns, np.asarray(start, dtype=np.float64))
        engine.run()
        solution = _read(engine, program, time.perf_counter() - began)
        return scaling.read(solution, program.objective, unit)

    def session(self, program: Program) -> "HighsSession":
        """Return a session that maximises many objectives over the rows of ``program``."""
        scaling = Scaling(program)
        return HighsSession(self._engine(scaling)[0], scaling)

    def _engine(self, scaling: Scaling) -> tuple[Any, float]:
        """Return HiGHS with the program in it, and the unit of its objective."""
        require_numbers(scaling.program)
        program, unit = scaling.passed()
        engine = _load(program)
        _set(engine, self._options)
        return engine, unit


class HighsSession:
    """One program kept in the solver, for many objectives; begins where it last ended.

    Not to be shared between threads.
    """

    def __init__(self, engine: Any, scaling: Scaling) -> None:
        self._engine = engine
        self._scaling = scaling
        self._columns = np.arange(len(scaling.program.objective), dtype=np.int32)
        self._nodes = int(engine.getOptionValue("mip_max_nodes")[1])

    def forget(self) -> None:
        """Begin the next solve from nothing, so that it does not depend on earlier ones."""
        self._engine.clearSolver()

    def bound(self, lower: FloatArray, upper: FloatArray) -> None:
        """Set bounds of the first columns, for all that follows."""
        size = len(lower)
        self._engine.changeColsBounds(size, self._columns[:size], lower, upper)

    def bound_last_rows(self, lower: FloatArray, upper: FloatArray) -> None:
        """Set bounds of the last rows, for all that follows."""
        units = self._scaling.row_units
        rows = np.arange(len(units) - len(lower), len(units), dtype=np.int32)
        self._engine.changeRowsBounds(len(rows), rows, lower / units[rows], upper / units[rows])

    def maximise(
        self,
        objective: FloatArray,
        limits: Limits = Limits(),
        start: FloatArray | None = None,
    ) -> Solution:
        """Maximise another objective, ``(C,)``."""
        began = time.perf_counter()
        require_finite("objective", objective)
        weights, unit = self._scaling.objective(objective)
        self._engine.changeColsCost(len(self._columns), self._columns, weights)
        # A limit stays set in the solver, so that each call has to set its own.
        nodes = self._nodes if limits.nodes is None else limits.nodes
        _limit(self._engine, replace(limits, nodes=nodes))
        if start is not None:
            self._engine.setSolution(len(start), self._columns, start)
        self._engine.run()
        solution = _read(self._engine, self._scaling.program, time.perf_counter() - began)
        return self._scaling.read(solution, objective, unit)


def _load(program: Program) -> Any:
    import highspy

    engine = highspy.Highs()
    _set(engine, _OURS)
    matrix = program.matrix
    rows, columns = matrix.shape
    status = engine.passModel(
        columns,
        rows,
        matrix.nnz,
        _ROW_WISE,
        _MAXIMISE,
        0.0,
        program.objective,
        program.column_lower,
        program.column_upper,
        program.lower,
        program.upper,
        matrix.indptr[:-1].astype(np.int32),
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float64),
        program.is_integer.astype(np.int32),
    )
    if status.name == "kError":
        raise SolverFailed(
            f"HiGHS does not accept a program with {columns} columns and {rows} rows; its numbers "
            "are too far apart."
        )
    return engine


def _set(engine: Any, options: dict[str, Any]) -> None:
    for name, value in options.items():
        if engine.setOptionValue(name, value).name != "kOk":
            raise ProblemError(f"HiGHS has no option {name} = {value!r}.")


def _limit(engine: Any, limits: Limits) -> None:
    _set(engine, {"time_limit": limits.seconds, "mip_rel_gap": limits.gap})
    if limits.nodes is not None:
        _set(engine, {"mip_max_nodes": limits.nodes})


def _read(engine: Any, program: Program, seconds: float) -> Solution:
    """Return what HiGHS found, in its own units; `Scaling.read` makes them ours."""
    model_status = engine.getModelStatus().name
    status = _STATUS.get(model_status, Status.FAILED)
    if model_status == "kUnboundedOrInfeasible":
        # Every column of ours that matters is bounded, so only one of the two can be meant.
        bounded = (
            np.isfinite(program.column_lower).all() and np.isfinite(program.column_upper).all()
        )
        status = Status.INFEASIBLE if bounded else Status.FAILED
    info = engine.getInfo()
    is_mip = bool(program.is_integer.any())
    if info.primal_solution_status != _FEASIBLE:
        bound = info.mip_dual_bound if is_mip and status is Status.LIMIT else np.inf
        bound = -np.inf if status is Status.INFEASIBLE else bound
        return Solution(status, None, -np.inf, float(bound), seconds)
    solution = engine.getSolution()
    values = np.array(solution.col_value)
    values[program.is_integer] = np.rint(values[program.is_integer])
    bound = float(info.mip_dual_bound) if is_mip else np.inf
    duals = None if is_mip else np.array(solution.row_dual)
    return Solution(status, values, np.nan, bound, seconds, duals)


def write_mps(program: Program, path: Path) -> None:
    """Write ``program`` as an MPS file, for inspection in any solver."""
    if _load(program).writeModel(str(path)).name == "kError":
        raise FileError(f"{path} cannot be written by HiGHS.")
