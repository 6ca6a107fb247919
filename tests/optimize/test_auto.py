"""The engine that picks the engine, and all engines with a proof against each other."""

import numpy as np
import pytest
from argmax_cases import EVERYTHING, MODERATE, brute_force, case, columns_of, random_net

from sequoia.errors import InfeasibleSpace, TooLarge
from sequoia.optimize import auto as module
from sequoia.optimize.auto import Auto
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.branch_and_bound import BranchAndBound
from sequoia.optimize.engines.enumeration import Enumeration
from sequoia.optimize.engines.local_search import LocalSearch
from sequoia.optimize.engines.milp import Milp
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Assignment, Budget, Rules, with_rules
from sequoia.problem.families import FAMILIES
from sequoia.solvers import Limits


def refuse(*_):
    raise TooLarge("pretend")


@pytest.mark.parametrize("name", EVERYTHING)
def test_same_optimum_whether_enumerated_or_not(name, monkeypatch):
    columns = columns_of(name)
    kinds = list(MODERATE)[::3]
    small = Auto(columns)
    monkeypatch.setattr(module, "Enumeration", refuse)
    large = Auto(columns)
    for kind in kinds:
        net = case(name, kind, seed=1)
        truth = brute_force(name, net)
        for engine in (small, large):
            answer = engine.best(net)
            np.testing.assert_allclose(answer.values, truth, rtol=1e-6, atol=1e-9, err_msg=kind)
            assert answer.is_proven.all()


@pytest.mark.parametrize(
    ("family", "widths"),
    [
        ("standard", (8, 8)),
        ("capacity", (8,)),
        ("scheduling", (8, 8)),
        ("interventions", (6, 6)),
        ("routing", (4,)),
    ],
)
def test_engines_agree_at_ten_arms(family, widths):
    columns = ActionEncoding.of_problem(FAMILIES[family](arms=10))
    net = random_net(np.random.default_rng(0), columns.n_inputs, widths, batch=4, weight=0.5)
    listed, proven = Enumeration(columns).best(net), Milp(columns).best(net)
    np.testing.assert_allclose(proven.values, listed.values, rtol=1e-6)
    assert proven.is_proven.all()
    assert (LocalSearch(columns).best(net).values <= listed.values + 1e-9).all()
    assert Auto(columns).best(net).values.tolist() == listed.values.tolist()


def test_without_a_proof_a_team_takes_good_routes_quickly():
    """Training asks for no more; whoever asks for a proof gets one."""
    columns = ActionEncoding.of_problem(FAMILIES["team"](arms=14))
    net = ReluNet.of_linear(np.random.default_rng(0).normal(0.5, 1.0, size=(8, 14)))
    proven, good = Auto(columns).best(net), Auto(columns, gap=None).best(net)
    assert proven.is_proven.all()
    assert not good.is_proven.any()
    assert columns.space.contains(good.actions).all()
    np.testing.assert_allclose(good.values, (good.actions * net.linear).sum(axis=1))
    assert (good.values <= proven.values + 1e-9).all()
    assert (good.values >= 0.95 * proven.values).all()
    apart = Auto(ActionEncoding.of_problem(FAMILIES["team"](arms=14, depots=2)), gap=None)
    assert apart.best(net).is_proven.all()


def test_few_actions_are_enumerated():
    assert isinstance(Auto(columns_of("path"))._engine, Enumeration)


def test_many_actions_are_proven_if_asked():
    columns = ActionEncoding.of_space(Budget(np.ones(60), 12))
    net = random_net(np.random.default_rng(1), 60, (4,), batch=2)
    proven = Auto(columns).best(net)
    assert proven.is_proven.all()
    quick = Auto(columns, gap=None).best(net)
    assert np.isinf(quick.bounds).all()
    assert (quick.values <= proven.values + 1e-6).all()
    assert (quick.values >= proven.values - 0.05 * np.abs(proven.values)).all()


@pytest.mark.parametrize("gap", [1e-6, None])
def test_without_hidden_layers_the_answer_is_always_proven(gap):
    columns = ActionEncoding.of_problem(FAMILIES["routing"](arms=40))
    net = random_net(np.random.default_rng(3), 40, (), batch=3)
    answer = Auto(columns, gap=gap).best(net)
    assert answer.is_proven.all()
    local = LocalSearch(columns).best(net)
    assert (answer.values >= local.values - 1e-9).all()


def test_very_many_columns_are_not_listed():
    space = Assignment(np.full(100_000, 2.0), np.full(10, 4.0))
    with pytest.raises(TooLarge, match="100000 columns"):
        Enumeration(ActionEncoding.of_space(space))


def test_time_limit_is_passed_on():
    columns = ActionEncoding.of_space(Budget(np.ones(60), 12))
    net = random_net(np.random.default_rng(2), 60, (24, 24), batch=1)
    answer = Auto(columns, seconds=1e-3).best(net)
    assert columns.space.contains(answer.actions).all()
    assert not answer.is_proven.any()
    assert answer.is_late.all()


def test_what_is_asked_is_passed_on(monkeypatch):
    """Gap, time and workers reach the program's engine."""
    asked = []
    monkeypatch.setattr(module, "Milp", lambda _, **options: asked.append(options))
    columns = ActionEncoding.of(FAMILIES["interventions"](arms=60))
    Auto(columns, gap=0.25, seconds=7.0, workers=2)
    assert asked == [{"limits": Limits(seconds=7.0, gap=0.25), "workers": 2}]


def test_a_space_that_knows_its_heaviest_action_needs_no_program():
    columns = ActionEncoding.of_space(FAMILIES["routing"](arms=40).space)
    engine = Auto(columns, gap=0.25, seconds=7.0)._engine
    assert isinstance(engine, BranchAndBound)
    assert engine._limits == Limits(seconds=7.0, gap=0.25)


def test_a_program_takes_over_where_it_is_easy(monkeypatch):
    columns = ActionEncoding.of_space(Budget(np.ones(60), 12))
    net = random_net(np.random.default_rng(5), 60, (4,), batch=4)
    alone = Auto(columns).best(net)
    monkeypatch.setattr(module, "MAX_NODES", 3)
    engine = Auto(columns, workers=2)
    assert not engine._engine._branch.best(net).is_proven.all()
    answer = engine.best(net)
    np.testing.assert_allclose(answer.values, alone.values, rtol=1e-6)
    assert answer.is_proven.all()
    assert "_program" in vars(engine._engine)


@pytest.mark.parametrize(("arms", "gap"), [(5, 1e-6), (5, None), (60, 1e-6), (60, None)])
def test_infeasible_space_is_reported_when_the_engine_is_made(arms, gap, monkeypatch):
    if arms > 20:
        monkeypatch.setattr(module, "Enumeration", refuse)
    rules = Rules(must=["arm 0", "arm 1", "arm 2"])
    space = with_rules(Budget(np.concatenate([np.full(3, 8.0), np.ones(arms - 3)]), 20), rules)
    with pytest.raises(InfeasibleSpace, match="contradict: budget"):
        Auto(ActionEncoding.of_space(space), gap=gap)
