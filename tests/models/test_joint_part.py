"""What columns are worth together: the same in the program as from state and action."""

import numpy as np
import pytest

from learned_cases import Switches, made, random_joint, random_states, sight_of
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem.families import capacity, epidemic, interventions

CASES = [
    capacity(arms=5),
    epidemic(arms=6),
    interventions(arms=6),
]


@pytest.mark.parametrize("environment", [*CASES, Switches()], ids=lambda one: one.name[:9])
def test_in_the_program_it_is_worth_what_it_says_of_pairs(environment):
    own = made(environment, "idle")
    joint = random_joint(own.sight)
    states, steps = random_states(environment, 4)
    rng = np.random.default_rng(1)
    columns = environment.space.n_actions
    actions = rng.integers(0, 2, (len(states), columns)).astype(np.int8)
    linear = rng.standard_normal((len(states), own.encoding.n_inputs))
    net = joint.added_to(ReluNet.of_linear(linear), states, steps)
    inputs = own.encoding.encode(actions)
    found = net.values(inputs[:, None])[:, 0] - (linear * inputs).sum(axis=1)
    wanted = joint.values(states, steps, actions)
    assert found == pytest.approx(wanted, rel=1e-4, abs=1e-4)
    assert wanted.std() > 0.1


def test_it_says_more_than_sums_over_columns():
    sight = sight_of(CASES[0])
    joint = random_joint(sight)
    states, steps = random_states(CASES[0], 30)
    none, one, two, both = np.array([[0] * 5, [1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [1, 1, 0, 0, 0]])

    def values(action):
        return joint.values(states, steps, np.tile(action, (len(states), 1)))

    assert np.abs(values(both) - values(one) - values(two) + values(none)).max() > 0.1
