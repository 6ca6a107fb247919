"""PySCIPOpt-ML, called as its guide says."""

import numpy as np
from cells import Case
from competitors import GAP, Found, Solve
from pyscipopt import Model, quicksum
from pyscipopt_ml.add_predictor import add_predictor_constr
from sequential import sequential

from sequoia.problem import LinearSystem


def prepare(case: Case, seconds: float) -> Solve:
    network = sequential(case)
    rules = case.problem.space.system

    def solve(states: list[int]) -> Found:
        (state,) = states
        model = Model()
        model.hideOutput()
        model.setParam("limits/gap", GAP)
        model.setParam("limits/time", seconds)
        columns = [model.addVar(vtype="B") for _ in range(rules.n_columns)]
        _add_rules(model, columns, rules)
        fixed = [model.addVar(lb=known, ub=known) for known in case.one_hot[state].tolist()]
        value = model.addVar(lb=None, ub=None)
        inputs = np.array([[*columns[: case.n_actions], *fixed]])
        add_predictor_constr(model, network, inputs, np.array([[value]]))
        weights = case.linear[state].tolist()
        linear = quicksum(w * x for w, x in zip(weights, columns, strict=False) if w)
        model.setObjective(value + linear, "maximize")
        model.optimize()
        return _read(model, columns[: case.n_actions])

    return solve


def _add_rules(model: Model, columns: list, rules: LinearSystem) -> None:
    matrix = rules.matrix
    for row, (low, high) in enumerate(zip(rules.lower, rules.upper, strict=True)):
        span = slice(matrix.indptr[row], matrix.indptr[row + 1])
        places, factors = matrix.indices[span].tolist(), matrix.data[span].tolist()
        total = quicksum(f * columns[p] for f, p in zip(factors, places, strict=True))
        if low == high:
            model.addCons(total == high)
            continue
        if np.isfinite(high):
            model.addCons(total <= high)
        if np.isfinite(low):
            model.addCons(total >= low)


def _read(model: Model, action: list) -> Found:
    if model.getNSols() == 0:
        return Found.nothing()
    best = model.getBestSol()
    chosen = np.array([best[column] for column in action])
    proven = model.getStatus() in ("optimal", "gaplimit")
    return Found.one(chosen, model.getObjVal(), GAP if proven else model.getGap())
