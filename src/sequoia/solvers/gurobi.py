"""Gurobi, for those who have a licence; an optional extra."""

import threading
import time
from typing import Any

import numpy as np

from sequoia.errors import ProblemError, SolverFailed, SolverUnavailable
from sequoia.solvers.program import Limits, Program, Solution, Status, missing, require_numbers
from sequoia.solvers.scaling import Scaling
from sequoia.validation import FloatArray

# What Gurobi calls infinite.
_NOTHING_PROVEN = 1e100

_STATUS = {
    "OPTIMAL": Status.OPTIMAL,
    "INFEASIBLE": Status.INFEASIBLE,
    "UNBOUNDED": Status.UNBOUNDED,
    "TIME_LIMIT": Status.LIMIT,
    "NODE_LIMIT": Status.LIMIT,
    "ITERATION_LIMIT": Status.LIMIT,
    "SOLUTION_LIMIT": Status.LIMIT,
    "WORK_LIMIT": Status.LIMIT,
    "INTERRUPTED": Status.LIMIT,
}


class Gurobi:
    """Arrays go straight in; one thread; a fresh model per solve, hence safe to share.

    The licence is taken by the first solve, once per thread, and kept for as long as the solver.

    Parameters
    ----------
    options
        Gurobi parameters by name, on top of ours.
    """

    name = "gurobi"

    def __init__(self, **options: Any) -> None:
        try:
            import gurobipy
        except ImportError:
            raise missing("gurobipy", "gurobi") from None
        self._gurobipy = gurobipy
        self._options = options
        self._own = threading.local()

    def solve(
        self,
        program: Program,
        limits: Limits = Limits(),
        start: FloatArray | None = None,
    ) -> Solution:
        """Solve ``program``; ``start`` is a complete point to begin from."""
        began = time.perf_counter()
        require_numbers(program)
        scaling = Scaling(program)
        passed, unit = scaling.passed()
        try:
            with self._gurobipy.Model(env=self._environment()) as model:
                columns, rows = _load(model, passed)
                self._limit(model, limits)
                if start is not None and model.IsMIP:
                    columns.Start = start
                model.optimize()
                if model.Status == self._gurobipy.GRB.INF_OR_UNBD:
                    model.Params.DualReductions = 0
                    model.optimize()
                solution = self._read(model, columns, rows, passed, began)
                return scaling.read(solution, program.objective, unit)
        except self._gurobipy.GurobiError as error:
            raise self._explained(error, program) from None

    def _environment(self) -> Any:
        """Return this thread's environment, which holds the licence."""
        if not hasattr(self._own, "environment"):
            environment = self._gurobipy.Env(empty=True)
            for name, value in {"OutputFlag": 0, "Threads": 1, **self._options}.items():
                try:
                    environment.setParam(name, value)
                except (self._gurobipy.GurobiError, TypeError):
                    raise ProblemError(f"Gurobi has no option {name} = {value!r}.") from None
            environment.start()
            self._own.environment = environment
        return self._own.environment

    def _limit(self, model: Any, limits: Limits) -> None:
        # Options that the caller set himself stay where our limits are silent.
        if np.isfinite(limits.seconds):
            model.Params.TimeLimit = limits.seconds
        model.Params.MIPGap = limits.gap
        if limits.nodes is not None:
            model.Params.NodeLimit = limits.nodes

    def _read(
        self, model: Any, columns: Any, rows: "_Rows", program: Program, began: float
    ) -> Solution:
        codes = self._gurobipy.GRB.Status
        names = {getattr(codes, name): status for name, status in _STATUS.items()}
        status = names.get(model.Status, Status.FAILED)
        bound = np.inf
        if status is Status.INFEASIBLE:
            bound = -np.inf
        elif model.IsMIP and status in (Status.OPTIMAL, Status.LIMIT):
            bound = model.ObjBound if model.ObjBound < _NOTHING_PROVEN else np.inf
        # An interrupted linear program has an iterate, but that need not be feasible.
        has_point = model.SolCount > 0 and (model.IsMIP or status is Status.OPTIMAL)
        if not has_point or status is Status.UNBOUNDED:
            return Solution(status, None, -np.inf, float(bound), time.perf_counter() - began)
        values = np.array(columns.X)
        # Gurobi likes to say -0.0, which adding zero mends.
        values[program.is_integer] = np.rint(values[program.is_integer]) + 0.0
        duals = None if model.IsMIP else rows.duals()
        return Solution(status, values, np.nan, float(bound), time.perf_counter() - began, duals)

    def _explained(self, error: Any, program: Program) -> Exception:
        codes = self._gurobipy.GRB.Error
        rows, columns = program.matrix.shape
        if error.errno == codes.SIZE_LIMIT_EXCEEDED:
            return SolverUnavailable(
                f"the Gurobi licence here is limited in size, and the program has {columns} "
                f"columns and {rows} rows; get a full licence or use --solver highs."
            )
        if error.errno == codes.NO_LICENSE:
            return SolverUnavailable(
                f"Gurobi has no licence here ({error}); get one or use --solver highs."
            )
        return SolverFailed(
            f"Gurobi failed on a program with {columns} columns and {rows} rows: {error}."
        )


class _Rows:
    """The rows in Gurobi, which knows no two-sided ones: those are split."""

    def __init__(self, model: Any, columns: Any, program: Program) -> None:
        low, high = np.isfinite(program.lower), np.isfinite(program.upper)
        equal = low & (program.lower == program.upper)
        parts = (
            (equal, "=", program.upper),
            (high & ~equal, "<", program.upper),
            (low & ~equal, ">", program.lower),
        )
        self._size = len(program.lower)
        self._parts = [
            (which, model.addMConstr(program.matrix[which], columns, sense, side[which]))
            for which, sense, side in parts
            if which.any()
        ]

    def duals(self) -> FloatArray:
        """Return the price of each row of the program, ``(R,)``."""
        prices = np.zeros(self._size)
        for which, rows in self._parts:
            prices[which] += rows.Pi
        return prices


def _load(model: Any, program: Program) -> tuple[Any, _Rows]:
    columns = model.addMVar(
        len(program.objective),
        lb=program.column_lower,
        ub=program.column_upper,
        obj=program.objective,
        vtype=np.where(program.is_integer, "I", "C"),
    )
    model.ModelSense = -1
    rows = _Rows(model, columns, program)
    model.update()
    return columns, rows
