"""SCIP, the other open-source solver; an optional extra."""

import time
from itertools import pairwise
from operator import gt
from typing import Any

import numpy as np

from sequoia.errors import ProblemError
from sequoia.solvers.program import Limits, Program, Solution, Status, missing, require_numbers
from sequoia.solvers.scaling import Scaling
from sequoia.validation import FloatArray

# What SCIP calls infinite.
_INFINITY = 1e20
_STATUS = {
    "optimal": Status.OPTIMAL,
    "gaplimit": Status.OPTIMAL,
    "infeasible": Status.INFEASIBLE,
    "unbounded": Status.UNBOUNDED,
    "timelimit": Status.LIMIT,
    "nodelimit": Status.LIMIT,
}


class Scip:
    """One thread; a fresh model per solve, hence safe to share; rows go in one by one.

    ``options`` are SCIP parameters by name, on top of ours, for programs with integer columns.
    """

    name = "scip"

    def __init__(self, **options: Any) -> None:
        try:
            import pyscipopt
        except ImportError:
            raise missing("pyscipopt", "scip") from None
        self._scip = pyscipopt
        self._options = options

    def solve(
        self,
        program: Program,
        limits: Limits = Limits(),
        start: FloatArray | None = None,
    ) -> Solution:
        """Solve ``program``; ``start`` is a complete point to begin from."""
        require_numbers(program)
        scaling = Scaling(program)
        passed, unit = scaling.passed()
        return scaling.read(self._solve(passed, limits, start), program.objective, unit)

    def _solve(self, program: Program, limits: Limits, start: FloatArray | None) -> Solution:
        began = time.perf_counter()
        if not program.is_integer.any():
            return self._solve_linear(program, limits, began)
        model, columns = self._load(program, limits)
        if start is not None:
            point = model.createSol()
            for column, value in zip(columns, start.tolist(), strict=True):
                model.setSolVal(point, column, value)
            model.addSol(point)
        model.optimizeNogil()
        if model.getStatus() == "inforunbd":
            model.freeTransform()
            model.setPresolve(self._scip.SCIP_PARAMSETTING.OFF)
            model.optimizeNogil()
        status = _STATUS.get(model.getStatus(), Status.FAILED)
        bound = model.getDualbound() if status in (Status.OPTIMAL, Status.LIMIT) else _INFINITY
        bound = -np.inf if status is Status.INFEASIBLE else bound if bound < _INFINITY else np.inf
        if not model.getNSols() or status is Status.UNBOUNDED:
            return Solution(status, None, -np.inf, bound, time.perf_counter() - began)
        values = np.array([model.getSolVal(model.getBestSol(), column) for column in columns])
        values[program.is_integer] = np.rint(values[program.is_integer]) + 0.0
        return Solution(status, values, np.nan, bound, time.perf_counter() - began)

    def _load(self, program: Program, limits: Limits) -> tuple[Any, list[Any]]:
        model = self._scip.Model()
        model.hideOutput()
        ours = {"limits/time": min(limits.seconds, _INFINITY), "limits/gap": limits.gap}
        ours["limits/nodes"] = -1 if limits.nodes is None else limits.nodes
        for name, value in {"lp/threads": 1, **ours, **self._options}.items():
            try:
                model.setParam(name, value)
            except (KeyError, ValueError, TypeError):
                raise ProblemError(f"SCIP has no option {name} = {value!r}.") from None
        low, high, *sides = _sides(program, _INFINITY)
        kinds, weights = np.where(program.is_integer, "I", "C").tolist(), program.objective.tolist()
        columns = [model.addVar("", *c) for c in zip(kinds, low, high, weights, strict=True)]
        model.setMaximize()
        for lower, upper, entries in zip(*sides, _entries(program), strict=True):
            row = model.addCons(self._scip.ExprCons(self._scip.Expr(), lhs=lower, rhs=upper))
            for column, value in entries:
                model.addConsCoeff(row, columns[column], value)
        return model, columns

    def _solve_linear(self, program: Program, limits: Limits, began: float) -> Solution:
        """Ask SCIP's own simplex method, because SCIP itself may lose the prices of rows."""
        engine = self._scip.LP("sequoia", "maximize")
        low, high, lower, upper = _sides(program, engine.infinity())
        # Its simplex method does not look whether a lower side is above the upper one.
        crossed = any(map(gt, low + lower, high + upper))
        engine.addCols([[] for _ in low], objs=program.objective.tolist(), lbs=low, ubs=high)
        engine.addRows(_entries(program), lhss=lower, rhss=upper)
        engine.setRealParam(self._scip.SCIP_LPPARAM.LPTILIM, min(limits.seconds, _INFINITY))
        engine.solve()
        seconds = time.perf_counter() - began
        if engine.isOptimal() and not crossed:
            values, duals = np.array(engine.getPrimal()), np.array(engine.getDual())
            return Solution(Status.OPTIMAL, values, np.nan, np.inf, seconds, duals)
        if crossed or engine.getDualRay() is not None:
            return Solution(Status.INFEASIBLE, None, -np.inf, -np.inf, seconds)
        is_open = engine.getPrimalRay() is not None
        ended = Status.LIMIT if seconds >= limits.seconds else Status.FAILED
        return Solution(Status.UNBOUNDED if is_open else ended, None, -np.inf, np.inf, seconds)


def _entries(program: Program) -> list[list[tuple[int, float]]]:
    pairs = list(zip(program.matrix.indices.tolist(), program.matrix.data.tolist(), strict=True))
    return [pairs[first:last] for first, last in pairwise(program.matrix.indptr.tolist())]


def _sides(program: Program, most: float) -> list[list[float]]:
    sides = (program.column_lower, program.column_upper, program.lower, program.upper)
    return [np.clip(side, -most, most).tolist() for side in sides]
