"""Doses that count together, as ReLU units: the Q-function of `price`, action by action."""

from dataclasses import replace

import numpy as np
import pytest

from learned_cases import made
from sequoia.bounds import relax_factored
from sequoia.errors import SolverFailed
from sequoia.models.learned_model import LearnedModel
from sequoia.optimize.auto import Auto
from sequoia.optimize.dose_groups import DoseGroup, DoseTables
from sequoia.optimize.linear.dose_tables import DoseTableArgmax
from sequoia.problem.families import epidemic
from tiny_problems import KINDS, infected, random_problem

CASES = [infected(random_problem(kind, 3), 3) for kind in KINDS]
CASES.append(epidemic(arms=9, budget=2, horizon=3, seed=1))


def price_model(problem):
    model = made(problem, "price", units=True)
    return LearnedModel.from_arrays(problem, *model.to_arrays())


@pytest.mark.parametrize("problem", CASES)
def test_the_network_is_the_sum_of_the_tables_of_all_clusters(problem):
    model = price_model(problem)
    value = relax_factored(problem, table=60, rounds=5).value
    groups = [DoseGroup(table.arms, table.doses) for table in value.tables]
    by_tables = DoseTableArgmax(model.encoding, groups)
    actions = problem.space.enumerate(1000)
    rng = np.random.default_rng(0)
    for state in rng.integers(0, problem.arms.n_states, (8, problem.arms.n_arms)):
        step = int(rng.integers(problem.horizon))
        rows = np.repeat(state[None], len(actions), axis=0)
        wanted = by_tables.values(value.dose_values(rows, step), actions)
        net = model.fold(state[None], np.array([step]))
        found = net.values(model.encoding.encode(actions)[None])[0]
        # Up to what no action changes; effects are in single precision.
        size = np.abs(wanted).max()
        np.testing.assert_allclose(found - found[0], wanted - wanted[0], atol=1e-5 * size)


@pytest.mark.parametrize("problem", CASES)
def test_the_best_by_tables_is_the_best_by_units(problem):
    model = price_model(problem)
    actions = problem.space.enumerate(1000)
    states = np.random.default_rng(1).integers(0, problem.arms.n_states, (6, problem.arms.n_arms))
    net = model.fold(states, np.zeros(6, dtype=np.int64))
    every = np.broadcast_to(model.encoding.encode(actions), (6, len(actions), net.n_inputs))
    found = Auto(model.encoding).best(net)
    np.testing.assert_allclose(found.values, net.values(every).max(axis=1))
    assert problem.space.contains(found.actions).all()


def test_tables_that_are_not_those_of_the_network_are_found_out():
    model = price_model(CASES[-1])
    states = CASES[-1].draw_start(np.random.default_rng(0), 2)
    net = model.fold(states, np.zeros(2, dtype=np.int64))
    wrong = DoseTables(net.tables.groups, [own + 1 for own in net.tables.values])
    with pytest.raises(SolverFailed, match="not what its hidden layers say"):
        Auto(model.encoding).best(replace(net, tables=wrong))
