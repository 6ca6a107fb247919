"""Local search: feasible, honest, repeatable, and close to the best."""

import numpy as np
import pytest
from argmax_cases import (
    EVERYTHING,
    KINDS,
    MODERATE,
    WITH_DOSES,
    brute_force,
    case,
    columns_of,
    forward,
    random_net,
)

from sequoia.errors import InfeasibleSpace
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.enumeration import Enumeration
from sequoia.optimize.engines.local_search import LocalSearch
from sequoia.problem import Budget, Rules, with_rules
from sequoia.problem.families import FAMILIES


@pytest.mark.parametrize("name", EVERYTHING)
def test_feasible_and_never_above_the_optimum(name):
    columns = columns_of(name)
    engine = LocalSearch(columns, starts=1)
    reached = []
    for kind in KINDS:
        net = case(name, kind)
        truth = brute_force(name, net)
        answer = engine.best(net)
        assert columns.space.contains(answer.actions).all(), kind
        own = [forward(net, b, x) for b, x in enumerate(columns.encode(answer.actions))]
        np.testing.assert_allclose(answer.values, own, rtol=1e-9, atol=1e-12, err_msg=kind)
        assert (answer.values <= truth + 1e-9 * (1 + np.abs(truth))).all(), kind
        assert np.isinf(answer.bounds).all()
        assert not answer.is_proven.any()
        if kind in MODERATE:
            reached.append(answer.values >= truth - 1e-6 * (1 + np.abs(truth)))
    assert np.mean(reached) >= 0.9


@pytest.mark.parametrize("name", EVERYTHING)
def test_near_the_optimum_on_small_cases(name):
    """Almost always the best itself, and far better than a random action on average."""
    columns = columns_of(name)
    engine = LocalSearch(columns, starts=1)
    exact = Enumeration(columns)
    rng = np.random.default_rng(0)
    reached, lost = [], []
    for widths in ((), (8,), (8, 6)):
        net = random_net(rng, columns.n_inputs, widths, batch=12)
        best, found = exact.best(net).values, engine.best(net).values
        draws = [columns.space.sample(rng).action for _ in range(12)]
        drawn = net.values(columns.encode(draws)[:, None])[:, 0]
        reached.append(found >= best - 1e-6 * np.abs(best))
        lost.append((best - found).sum() / max((best - drawn).sum(), 1e-9))
    assert np.mean(reached) >= 0.9
    assert name in WITH_DOSES or np.mean(reached[0]) >= 0.9
    assert np.mean(lost) <= 0.03


@pytest.mark.parametrize("name", EVERYTHING)
def test_improve_never_makes_worse_and_ends_at_a_local_optimum(name):
    columns = columns_of(name)
    net = case(name, "two layers")
    rng = np.random.default_rng(1)
    starts = np.array([columns.space.sample(rng).action for _ in range(3)])
    given = starts.copy()
    engine = LocalSearch(columns)
    found = engine.improve(net, starts)
    assert starts.tolist() == given.tolist()
    assert columns.space.contains(found).all()
    value = net.values(columns.encode(found)[:, None])[:, 0]
    begin = net.values(columns.encode(starts)[:, None])[:, 0]
    assert (value >= begin - 1e-4 * (1 + np.abs(begin))).all()
    for state, action in enumerate(found):
        flipped = action ^ np.eye(len(action), dtype=np.int8)
        flipped = flipped[columns.space.contains(flipped)]
        around = [forward(net, state, x) for x in columns.encode(flipped)]
        assert max(around, default=-np.inf) <= value[state] + 1e-3 * (1 + abs(value[state]))


def test_same_seed_same_answers():
    """On a network with many local optima, where another seed finds others."""
    columns = ActionEncoding.of_problem(FAMILIES["standard"](arms=20))
    net = random_net(np.random.default_rng(2), columns.n_inputs, (16, 16), batch=20)
    one, two, other = (LocalSearch(columns, starts=1, seed=seed) for seed in (4, 4, 5))
    for _ in range(2):
        first, second = one.best(net), two.best(net)
        assert first.actions.tolist() == second.actions.tolist()
        assert first.values.tolist() == second.values.tolist()
    assert other.best(net).values.tolist() != first.values.tolist()


def test_states_do_not_disturb_each_other():
    """Without random starts, a state gets the same answer alone and in a large batch."""
    columns = columns_of("assignment")
    net = random_net(np.random.default_rng(3), columns.n_inputs, (6, 5), batch=40)
    engine = LocalSearch(columns, starts=0)
    together = engine.best(net)
    for state in (0, 15, 16, 39):
        alone = engine.best(net.only([state]))
        assert alone.values[0] == pytest.approx(together.values[state], rel=1e-5)


def test_more_starts_find_more():
    """On a network with many local optima."""
    columns = ActionEncoding.of_problem(FAMILIES["standard"](arms=20))
    net = random_net(np.random.default_rng(4), columns.n_inputs, (16, 16), batch=20)
    best = Enumeration(columns).best(net).values
    few, many = (best - LocalSearch(columns, starts=n).best(net).values for n in (0, 8))
    assert few.sum() > 0
    assert many.sum() <= few.sum() / 2


@pytest.mark.parametrize("family", ["standard", "capacity", "scheduling", "interventions"])
def test_larger_problems(family):
    """Twenty arms, more than one batch: feasible, and within half a percent on average."""
    columns = ActionEncoding.of_problem(FAMILIES[family](arms=20))
    net = random_net(
        np.random.default_rng(5), columns.n_inputs, (16,), batch=20, weight=0.3, linear=0.5
    )
    found = LocalSearch(columns, starts=1).best(net)
    assert columns.space.contains(found.actions).all()
    best = Enumeration(columns).best(net).values
    base = net.values(np.zeros((20, 1, columns.n_inputs)))[:, 0]
    assert (found.values <= best + 1e-9).all()
    assert ((best - found.values) / (best - base)).mean() <= 0.005


def test_moves_know_equal_columns():
    """Arms of equal cost share a verdict, so few different questions are asked of the space."""
    columns = ActionEncoding.of_problem(FAMILIES["capacity"](arms=20))
    engine = LocalSearch(columns)
    space, asked = columns.space, []
    contains_quick = type(space).contains_quick

    def counted(self, actions):
        asked.append(len(actions))
        return contains_quick(self, actions)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(space), "contains_quick", counted)
        net = random_net(np.random.default_rng(6), columns.n_inputs, (8,), batch=20)
        engine.best(net)
        first = sum(asked)
        engine.best(net)
    assert first < 3000
    assert sum(asked) - first < first


def test_infeasible_space_is_reported_when_the_engine_is_made():
    rules = Rules(must=["arm 0"], never=["arm 0"])
    with pytest.raises(InfeasibleSpace, match="contradict: must act on arm 0"):
        LocalSearch(ActionEncoding.of_space(with_rules(Budget(np.ones(30), 2), rules)))
