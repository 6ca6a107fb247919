"""Plans, best actions and bounds as certificates: JSON that says all that a checker needs."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from sequoia.bounds.lagrangian.relax import Relaxation
from sequoia.certificates.search import ProofSearch, rounded_up
from sequoia.errors import ProblemError
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Decision, Environment, Problem, capabilities_of
from sequoia.problem.spaces.base import Task
from sequoia.validation import FloatArray
from sequoia_verify.claims import input_terms, paid_terms
from sequoia_verify.proof import Network, whole_space
from sequoia_verify.words import Instance, Unreadable

# Parts into which the choices of a step may be split: seconds for a few dozen columns.
NODES = 200
# What rounding leaves of a target, beside its size.
_ROUNDING = 1e-10


def plan_certificate(problem: Problem, decision: Decision) -> dict[str, Any]:
    """Return the claim that a decision keeps all rules."""
    return {"claim": "plan", "instance": _read(problem)[0]} | _decision(problem, decision)


def action_certificate(
    problem: Problem,
    columns: ActionEncoding,
    net: ReluNet,
    decision: Decision,
    bound: float | None = None,
    nodes: int = NODES,
) -> dict[str, Any]:
    """Return the claim that no action is worth more, by the network of one state, than a bound.

    Parameters
    ----------
    columns
        What the inputs of the network are.
    bound
        What is claimed; that the decision is best unless given. Where ``nodes`` parts do not show
        it, the claim is what they show.
    """
    content, instance = _read(problem)
    network, inputs = _network(net), _inputs(problem, columns)
    value = float(net.values(columns.encode(decision.action[None])[None])[0, 0])
    own = [input_terms(instance, one) for one in inputs]
    search = ProofSearch(len(instance.system.columns), nodes)
    ranges: list[list[dict[str, Any]]] = []
    for depth in range(len(network["layers"])):
        ranges.append([])
        partial = network | {"layers": network["layers"][:depth]}
        part = Network(own, partial).part(instance.system, ranges[:depth])
        before = [neuron.column for neuron in part.neurons][-net.weights[depth].shape[1] :]
        for row in network["layers"][depth]["weights"]:
            if depth:
                pairs = zip(before, row, strict=True)
                terms = {column: Fraction(weight) for column, weight in pairs if weight}
            else:
                terms = Network(own, partial).terms(row)
            ranges[-1].append(search.range_of(part, terms))
    part = Network(own, network).part(instance.system, ranges)
    terms = Network(own, network).worth(part)
    size = abs(value) + float(sum(map(abs, terms.values())))
    claimed = value if bound is None else bound
    target = claimed - network["constant"] + _ROUNDING * size
    proof = search.prove(part, terms, target)
    shown = part.bound(terms, proof, set(range(len(instance.system.columns))))
    assert shown is not None
    shown_here = rounded_up(shown + Fraction(network["constant"]))
    return {
        "claim": "action",
        "instance": content,
        "network": network,
        "inputs": inputs,
        "value": value,
        "bound": max(claimed, shown_here) if shown > target else claimed,
        "ranges": ranges,
        "proof": proof,
    } | _decision(problem, decision)


def bound_certificate(
    problem: Problem, found: Relaxation, nodes: int = NODES
) -> tuple[dict[str, Any], float]:
    """Return the claim that no policy earns more, and the number that its proof shows.

    ``found`` is about the problem's own start.
    Where the checker's rows, and ``nodes`` parts of each step, show less than was found, the claim
    is what they show.
    """
    content, instance = _read(problem)
    prices, bound = found.prices, found.bound
    if prices.tolls is not None:
        raise ProblemError("budgets over several steps cannot be certified yet.")
    horizon = prices.arm_classes.horizon
    table = _by_arm(problem, found)
    whole, part = set(range(len(instance.system.columns))), whole_space(instance.system)
    proofs, more = [], 0.0
    for weight, own, support in zip(horizon.weights, table, prices.support, strict=True):
        terms, constant = paid_terms(instance, own.tolist())
        size = float(sum(map(abs, terms.values()))) + abs(float(constant))
        target = Fraction(float(support)) - constant
        tree = ProofSearch(len(whole), nodes).prove(part, terms, float(target) + _ROUNDING * size)
        shown = part.bound(terms, tree, whole)
        assert shown is not None
        more += max(0.0, float(weight) * float(shown - target))
        proofs.append(tree)
    after = prices.values[-1][prices.arm_class] if horizon.is_endless else None
    certificate = {
        "claim": "bound",
        "instance": content,
        "kind": bound.kind,
        "total": bound.total + more,
        "endless": horizon.is_endless,
        "prices": table.tolist(),
        "proofs": proofs,
        "after": None if after is None else after.tolist(),
    }
    return certificate, bound.total + more


def _by_arm(problem: Problem, found: Relaxation) -> FloatArray:
    """Return prices by block, arm and level; what nothing brings about costs more than it earns."""
    prices = found.prices
    classes = prices.arm_classes
    table = prices.table[:, classes.price_class[prices.arm_class]].copy()
    allowed = classes.allowed[prices.arm_class].any(axis=2)
    span = float(np.ptp(problem.arms.rewards)) * float(classes.horizon.weights.sum())
    table[:, ~allowed] = span + float(np.abs(table).max(initial=0.0))
    return table


def words_of(environment: Environment) -> dict[str, Any]:
    """Return the words of a problem: its options and tables."""
    problem = capabilities_of(environment).problem
    if problem is None:
        raise ProblemError("only problems of arms can be certified.")
    tables = problem.to_tables()
    return {
        "options": dict(tables.options),
        "tables": {
            name: {column: _cells(cells) for column, cells in table.columns.items()}
            for name, table in tables.tables.items()
        },
    }


def _read(problem: Problem) -> tuple[dict[str, Any], Instance]:
    """Return the words of a problem, and what the checker reads in them."""
    content = words_of(problem)
    try:
        return content, Instance(content)
    except Unreadable as error:
        raise ProblemError(str(error)) from None


def _cells(cells: Iterable[Any]) -> list[Any]:
    plain = cells.tolist() if isinstance(cells, np.ndarray) else list(cells)
    return [
        cell if not isinstance(cell, float) or np.isfinite(cell) else str(cell) for cell in plain
    ]


def _decision(problem: Problem, decision: Decision) -> dict[str, Any]:
    tasks: list[Task] = problem.space.tasks(decision)
    return {
        "action": problem.space.chosen(decision.action),
        "tasks": [task._asdict() for task in tasks],
    }


def _network(net: ReluNet) -> dict[str, Any]:
    """Return the network of one state in numbers."""
    if len(net) != 1:
        raise ProblemError(f"a certificate is of one state; {len(net)} are given.")
    biases = [net.first_bias[0], *net.biases]
    layers = zip(net.weights, biases, strict=True) if net.weights else ()
    return {
        "layers": [{"weights": w.tolist(), "bias": b.tolist()} for w, b in layers],
        "output": net.output.tolist() if net.weights else [],
        "linear": net.linear[0].tolist(),
        "constant": float(net.constant[0]),
    }


def _inputs(problem: Problem, columns: ActionEncoding) -> list[list[Any]]:
    """Return what each input says: an action is chosen, or an arm gets a dose."""
    inputs: list[list[Any]] = [["action", name] for name in problem.space.names]
    arms = problem.arms
    for place in range(len(inputs), columns.n_inputs):
        arm, level = np.argwhere(columns.level_input == place)[0].tolist()
        inputs.append(["dose", arms.names[arm], float(arms.doses[arms.model[arm], level])])
    return inputs
