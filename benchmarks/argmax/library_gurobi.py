"""gurobi-machinelearning, called as its guide says."""

from functools import cache

import gurobipy as gp
import numpy as np
from cells import Case
from competitors import GAP, Found, Solve, TooBigForLicence
from gurobi_ml import add_predictor_constr
from gurobipy import GRB
from sequential import sequential

from sequoia.problem import LinearSystem


@cache
def _environment() -> gp.Env:
    return gp.Env(params={"OutputFlag": 0, "Threads": 1, "MIPGap": GAP})


def prepare(case: Case, seconds: float) -> Solve:
    network = sequential(case)

    def solve(states: list[int]) -> Found:
        (state,) = states
        with gp.Model(env=_environment()) as model:
            model.Params.TimeLimit = seconds
            action = _add_rules(model, case.problem.space.system)
            known = case.one_hot[state]
            fixed = model.addMVar(len(known), lb=known, ub=known)
            value = model.addMVar((1, 1), lb=-GRB.INFINITY)
            inputs = gp.hstack([action, fixed]).reshape(1, -1)
            add_predictor_constr(model, network, inputs, value)
            model.setObjective(value.sum() + case.linear[state] @ action, GRB.MAXIMIZE)
            return _solve(model, action)

    return solve


def _add_rules(model: gp.Model, rules: LinearSystem) -> gp.MVar:
    """Add the rules and return the action columns."""
    columns = model.addMVar(rules.n_columns, vtype=GRB.BINARY)
    equal = rules.lower == rules.upper
    for rows, sense, side in (
        (equal, "=", rules.upper),
        (np.isfinite(rules.lower) & ~equal, ">", rules.lower),
        (np.isfinite(rules.upper) & ~equal, "<", rules.upper),
    ):
        if rows.any():
            model.addMConstr(rules.matrix[np.flatnonzero(rows)], columns, sense, side[rows])
    return columns[: rules.n_actions]


def _solve(model: gp.Model, action: gp.MVar) -> Found:
    try:
        model.optimize()
    except gp.GurobiError as error:
        if error.errno == GRB.Error.SIZE_LIMIT_EXCEEDED:
            raise TooBigForLicence from None
        raise
    if model.SolCount == 0:
        return Found.nothing()
    proven = model.Status == GRB.OPTIMAL
    return Found.one(action.X, model.ObjVal, GAP if proven else model.MIPGap)
