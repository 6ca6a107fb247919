"""Where learning starts: what is known in closed form, and what it proves."""

import pytest

from experiments.blind import Blind
from learned_cases import Switches
from sequoia.bounds.exact import solve_exactly
from sequoia.learn import bases
from sequoia.learn.bases import find_bases
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem.families import assortment, capacity, epidemic, trap


def bases_of(environment, is_timeless=False):
    return find_bases(environment, ActionEncoding.of(environment), is_timeless)


def names(found):
    return [known.name for known in found.known]


def test_where_arms_evolve_on_their_own_there_are_prices_and_a_bound():
    problem = trap(horizon=5)
    found = bases_of(problem)
    assert names(found) == ["idle", "random", "myopic", "price"]
    assert found.bound >= solve_exactly(problem).value / 5 - 1e-9
    assert found.bound_stopped_by is not None
    assert found.together is None


def test_without_an_end_prices_are_those_of_all_time_and_prove_nothing_of_a_step():
    found = bases_of(trap(horizon=5), is_timeless=True)
    assert found.bound is None
    assert len(found.prices.q_values) == 1


def test_where_they_interact_there_are_clusters_and_what_doses_are_worth_together():
    problem = epidemic(arms=6, budget=2, horizon=4, seed=1)
    found = bases_of(problem)
    assert names(found) == ["idle", "random", "myopic", "price"]
    assert found.bound >= solve_exactly(problem).value / 4 - 1e-9
    assert found.known[-1].units is None
    assert found.together.units is not None
    assert found.prices is None


def test_too_many_arms_for_clusters_begin_without(monkeypatch):
    monkeypatch.setattr(bases, "_WORK", 300)
    found = bases_of(epidemic(arms=6, budget=2, horizon=4))
    assert names(found) == ["idle", "random", "myopic"]
    assert (found.bound, found.part) == (None, None)


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        (assortment(items=4, show=2, horizon=3), ["idle", "random", "myopic"]),
        (Switches(), ["idle", "random"]),
        (Blind(capacity(arms=4)), ["idle", "random"]),
    ],
)
def test_of_an_environment_only_what_it_says_is_known(environment, wanted):
    found = bases_of(environment)
    assert names(found) == wanted
    assert (found.bound, found.together, found.prices) == (None, None, None)
