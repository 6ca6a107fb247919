"""Who depends on whom is found out by asking for steps alone."""

import numpy as np
import pytest

from experiments.blind import Blind
from learned_cases import Switches
from sequoia.learn.candidates import random_actions
from sequoia.learn.play import play
from sequoia.learn.structure import discover
from sequoia.optimize.auto import RolloutAuto
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import Budget
from sequoia.problem.families import capacity, epidemic


def found_in(environment, episodes=100, seed=0):
    argmax = RolloutAuto(ActionEncoding.of(environment))
    rng = np.random.default_rng(seed)

    def act(states, steps, rng):
        return random_actions(environment, argmax, states, steps, rng)

    played = play(environment, act, act, 0.0, episodes, rng)
    return discover(environment, argmax, played, rng)


@pytest.mark.parametrize(
    "problem",
    [
        epidemic(arms=8, budget=2, horizon=6, seed=1),
        epidemic(arms=9, budget=2, horizon=6, graph="small-world", seed=2),
        capacity(arms=6, workers=2, horizon=6),
    ],
    ids=lambda one: one.name[:14],
)
def test_what_a_problem_would_declare_is_found_exactly(problem):
    found, declared = found_in(Blind(problem)), problem.dependencies
    assert np.array_equal(found.components.toarray() > 0, declared.components.toarray() > 0)
    assert np.array_equal(found.columns.toarray() > 0, declared.columns.toarray() > 0)


def test_arms_that_do_not_interact_have_no_edges():
    found = found_in(Blind(capacity(arms=6, workers=2, horizon=6)))
    assert found.components.nnz == 0
    assert np.array_equal(found.columns.toarray() > 0, np.eye(6) > 0)


def test_an_environment_of_ones_own():
    found = found_in(Switches(), episodes=400)
    assert np.array_equal(found.components.toarray() > 0, np.eye(5, k=-1) > 0)
    assert np.array_equal(found.columns.toarray() > 0, np.eye(5) > 0)


class Mixed:
    """Two switches, a clock that counts up by itself, and a share of what is on."""

    name, fingerprint = "mixed", "mixed 1"
    space = Budget(np.ones(2), 2)
    horizon, discount, n_noise = 6, 1.0, 2

    def draw_start(self, rng, count):
        return np.zeros((count, 4))

    def step(self, states, actions, noise):
        after = states.copy()
        after[:, :2] = (actions == 1) & (noise < 0.8)
        after[:, 2] += 1
        after[:, 3] = 0.5 * states[:, 3] + 0.3 * states[:, 0]
        return after[:, 3], after


def test_kinds_are_told_by_the_values_that_components_take():
    found = found_in(Mixed())
    assert found.kinds[0] == found.kinds[1]
    assert len(set(found.kinds.tolist())) == 3
    wanted = np.zeros((4, 4), dtype=bool)
    wanted[3, 0] = True
    assert np.array_equal(found.components.toarray() > 0, wanted)
    assert np.array_equal(found.columns.toarray() > 0, np.eye(4, 2) > 0)
