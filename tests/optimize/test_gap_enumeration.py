"""The best action among those that row prices do not rule out."""

import numpy as np
import pytest

from sequoia.optimize import ActionEncoding, LinearArgmax, encoding
from sequoia.optimize.linear import gap_enumeration
from sequoia.problem import Assignment, Budget, Rules, with_rules
from sequoia.problem.rules import Floor


class NoSolver:
    name = "none"

    def solve(self, *_):
        raise AssertionError("a program was solved")


def ruled(space):
    names = list(space.names)
    rules = Rules(
        groups={"north": names[:4]},
        floors=[Floor("north", share=0.45)],
        at_most_one=[names[2:6]],
        never=[names[-1]],
    )
    return with_rules(space, rules)


SPACES = {
    "knapsack": Budget([2.5, 3.5, 4.1, 1.7, 2.9, 3.3, 5.2, 1.9, 2.2, 3.7], 11.0),
    "assignment with rules": ruled(Assignment([2, 3, 4, 2, 5, 3, 2, 4, 3, 6], [7, 5, 6])),
    "budget with rules": ruled(Budget(np.ones(10), 4.0)),
}


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_it_is_the_best_of_all_without_a_program(name, unit, monkeypatch):
    monkeypatch.setattr(encoding, "MAX_COLUMNS", 0)
    space = SPACES[name]
    every = space.enumerate(100_000)
    linear = LinearArgmax(ActionEncoding.of_space(space))
    linear._solver = NoSolver()
    rng = np.random.default_rng(0)
    # Small whole weights have many ties.
    for weights in [*rng.standard_normal((20, 10)), *rng.integers(-1, 4, (20, 10)).astype(float)]:
        found = linear.maximise(unit * weights[None])
        assert found.is_proven[0]
        assert found.values[0] == pytest.approx(unit * (every @ weights).max(), abs=1e-12 * unit)
        assert space.contains(found.actions)[0]


def test_where_too_many_are_near_a_program_decides(monkeypatch):
    monkeypatch.setattr(encoding, "MAX_COLUMNS", 0)
    monkeypatch.setattr(gap_enumeration, "_MOST_ACTIONS", 2)
    space = SPACES["knapsack"]
    every = space.enumerate(100_000)
    weights = np.random.default_rng(1).uniform(0.5, 1.0, 10)
    found = LinearArgmax(ActionEncoding.of_space(space)).maximise(weights[None])
    assert found.values[0] == pytest.approx((every @ weights).max())
