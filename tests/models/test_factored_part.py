"""What a factored value knows of doses, looked up for all clusters at once."""

import numpy as np
import pytest

from sequoia.bounds import relax_factored
from sequoia.models.factored_part import FactoredPart
from sequoia.problem.families import epidemic, wildfire

CASES = [
    (epidemic(arms=9, horizon=4, seed=1), 200),
    (epidemic(arms=9, horizon=3, seed=1), 1),
    (epidemic(arms=12, graph="small-world", disease="sir", horizon=3, seed=2), 300),
    (wildfire(arms=16, horizon=3, seed=1), 100),
]


@pytest.mark.parametrize(("problem", "table"), CASES)
def test_it_is_the_linear_part_of_the_value_without_what_the_step_earns(problem, table):
    found = relax_factored(problem, table=table, rounds=5)
    part, _ = FactoredPart.of(problem, table, 5)
    rng = np.random.default_rng(0)
    states = rng.integers(0, problem.arms.n_states, (40, problem.arms.n_arms))
    steps = rng.integers(0, problem.horizon, 40)
    effects = part.unit * part.effects(states, steps)
    for row, step in enumerate(steps):
        levels = found.value.levels(states[[row]], int(step))[0][0]
        ahead = levels - problem.dose_rewards(states[[row]])[0]
        wanted = ahead[:, 1:] - ahead[:, :1]
        np.testing.assert_allclose(effects[:, row], wanted, rtol=1e-4, atol=1e-4 * part.unit)


def test_it_is_the_same_after_it_was_written():
    problem, table = CASES[0]
    part, bound = FactoredPart.of(problem, table, 5)
    again = FactoredPart.from_array(problem, part.to_array(), **part.facts)
    states, steps = problem.draw_start(np.random.default_rng(0), 6), np.arange(6) % 4
    np.testing.assert_array_equal(again.effects(states, steps), part.effects(states, steps))
    assert bound == pytest.approx(relax_factored(problem, table=table, rounds=5).bound.per_step)
    with pytest.raises(ValueError, match="values of clusters are wanted"):
        FactoredPart.from_array(problem, part.to_array()[1:], **part.facts)
