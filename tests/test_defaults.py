"""The usual choices exist under their names, and apply where they are offered."""

import sequoia
from sequoia import defaults
from sequoia.learn import PRESETS
from sequoia.policies import POLICIES, make_policy
from sequoia.problem.families import assortment, capacity, epidemic


def test_the_usual_policies_exist():
    named = {*defaults.PLANNERS, *defaults.COMPARED, *defaults.COMPARED_WITHOUT_ARMS}
    assert named <= set(POLICIES)
    assert defaults.PRESET in PRESETS


def test_compared_policies_apply():
    for environment in (capacity(arms=4), assortment(items=4)):
        for name in defaults.compared_policies(environment, has_model=False):
            assert make_policy(name, environment).name == name


def test_a_model_plans_where_there_is_one():
    problem = capacity(arms=4)
    assert defaults.planning_policy(problem, has_model=True, has_prices=True) == "sequoia"
    assert defaults.planning_policy(problem, has_model=False, has_prices=True) == "price"
    assert defaults.planning_policy(problem, has_model=False, has_prices=False) == "myopic"
    other = assortment(items=4)
    assert defaults.planning_policy(other, has_model=False, has_prices=False) == "lookahead"


def test_the_usual_bound_is_the_one_that_auto_stands_for():
    for environment in (capacity(arms=4), epidemic(arms=4)):
        assert sequoia.bound(environment).kind == defaults.bound_kind(environment)
    assert defaults.bound_kind(assortment(items=4)) == "clairvoyant"
