"""OMLT's big-M form through Pyomo on HiGHS, called as its guide says."""

import numpy as np
import pyomo.environ as pyo
from cells import Case
from competitors import GAP, Found, Solve
from omlt import OmltBlock
from omlt.neuralnet import NetworkDefinition, ReluBigMFormulation
from omlt.neuralnet.layer import DenseLayer, InputLayer
from pyomo.contrib.appsi.base import TerminationCondition
from pyomo.contrib.appsi.solvers import Highs

from sequoia.problem import LinearSystem


def prepare(case: Case, seconds: float) -> Solve:
    rules = case.problem.space.system

    def solve(states: list[int]) -> Found:
        (state,) = states
        model = pyo.ConcreteModel()
        model.columns = pyo.Var(range(rules.n_columns), domain=pyo.Binary)
        _add_rules(model, rules)
        model.network = OmltBlock()
        model.network.build_formulation(ReluBigMFormulation(_definition(case, state)))
        model.ties = pyo.ConstraintList()
        for index in range(case.n_actions):
            model.ties.add(model.network.inputs[index] == model.columns[index])
        for index, known in enumerate(case.one_hot[state].tolist(), start=case.n_actions):
            model.network.inputs[index].fix(known)
        weights = case.linear[state].tolist()
        linear = sum(w * model.columns[i] for i, w in enumerate(weights) if w)
        value = model.network.outputs[0] + linear
        model.value = pyo.Objective(expr=value, sense=pyo.maximize)
        return _solve(model, case.n_actions, seconds)

    return solve


def _definition(case: Case, state: int) -> NetworkDefinition:
    """Say the layers, and that every input is 0 or 1; those of the state are known."""
    size = case.n_actions
    bounds = dict.fromkeys(range(size), (0.0, 1.0))
    bounds |= {size + i: (known, known) for i, known in enumerate(case.one_hot[state].tolist())}
    network = NetworkDefinition(scaled_input_bounds=bounds)
    before = InputLayer([len(bounds)])
    network.add_layer(before)
    for depth, (weight, bias) in enumerate(zip(case.weights, case.biases, strict=True), start=1):
        activation = "linear" if depth == len(case.weights) else "relu"
        layer = DenseLayer(
            before.output_size, [len(bias)], activation=activation, weights=weight.T, biases=bias
        )
        network.add_layer(layer)
        network.add_edge(before, layer)
        before = layer
    return network


def _add_rules(model: pyo.ConcreteModel, rules: LinearSystem) -> None:
    model.rules = pyo.ConstraintList()
    matrix = rules.matrix
    for row, (low, high) in enumerate(zip(rules.lower, rules.upper, strict=True)):
        span = slice(matrix.indptr[row], matrix.indptr[row + 1])
        places, factors = matrix.indices[span].tolist(), matrix.data[span].tolist()
        total = sum(f * model.columns[p] for f, p in zip(factors, places, strict=True))
        ends = [None if np.isinf(end) else float(end) for end in (low, high)]
        model.rules.add(pyo.inequality(ends[0], total, ends[1]))


def _solve(model: pyo.ConcreteModel, n_actions: int, seconds: float) -> Found:
    solver = Highs()
    solver.config.time_limit = seconds
    solver.config.mip_gap = GAP
    solver.config.load_solution = False
    solver.highs_options = {"threads": 1}
    result = solver.solve(model)
    best, bound = result.best_feasible_objective, result.best_objective_bound
    if best is None:
        return Found.nothing()
    result.solution_loader.load_vars()
    action = np.array([model.columns[index].value for index in range(n_actions)])
    proven = result.termination_condition == TerminationCondition.optimal
    return Found.one(action, best, GAP if proven else abs(bound - best) / max(abs(best), 1e-9))
