"""All policies under a checker that knows the rules only by their words."""

import check_decisions
import numpy as np
import pytest
from rules_in_words import broken_rules

from sequoia.problem import Decision


def test_decisions_of_all_policies_break_no_rule():
    names = ("costs", "fair capacity")
    checked, wrong = check_decisions.run(200, names)
    assert checked >= 200
    assert wrong == 0


PROBLEMS = {
    name: problem
    for name, problem in check_decisions.problems().items()
    # Of a plan that is no walk there is nothing to say in words; rest is also a column of its own.
    if not any(word in name for word in ("rout", "team", "resting"))
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_words_and_the_rows_say_the_same(name):
    """Drawn decisions, changed in a column or two, are allowed by both or by neither."""
    space = PROBLEMS[name].space
    rng = np.random.default_rng(1)
    verdicts = []
    for _ in range(150):
        drawn = space.sample(rng)
        columns = np.concatenate([drawn.action, drawn.plan])
        columns[rng.integers(len(columns), size=rng.integers(3))] ^= 1
        changed = Decision(columns[: space.n_actions], columns[space.n_actions :])
        allowed = not space.system.violations(changed)
        assert (not list(broken_rules(space, changed))) == allowed, space.describe(changed)
        verdicts.append(allowed)
    assert 0 < sum(verdicts) < len(verdicts)


@pytest.mark.parametrize("name", ["routing", "fair routing", "epidemic route"])
def test_walks_that_are_wrong_are_found(name):
    problem = check_decisions.problems()[name]
    space, rng = problem.space, np.random.default_rng(2)
    for _ in range(50):
        drawn = space.sample(rng)
        assert not list(broken_rules(space, drawn))
        everywhere = np.ones_like(drawn.action)
        assert list(broken_rules(space, Decision(everywhere, drawn.plan)))
    long = space.base.walk(drawn)
    assert long[0] == long[-1] == space.base.source


@pytest.mark.parametrize("name", ["team", "fair team", "resting rota"])
def test_wrong_routes_and_rotas_are_found(name):
    space, rng = check_decisions.problems()[name].space, np.random.default_rng(2)
    for _ in range(20):
        drawn = space.sample(rng)
        assert not list(broken_rules(space, drawn))
        everybody = np.ones_like(drawn.action)
        assert list(broken_rules(space, Decision(everybody, drawn.plan)))
