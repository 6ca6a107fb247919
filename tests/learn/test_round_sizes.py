"""How much a round looks at: by the size of the environment, and by how actions are found."""

import numpy as np
import pytest

from action_limit_cases import Doors
from sequoia.learn import make_config
from sequoia.learn.round_sizes import RoundSizes
from sequoia.models.next_step import next_step_of
from sequoia.optimize.auto import RolloutAuto
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import ActionLimits, Custom
from sequoia.problem.dependencies import dependencies_of
from sequoia.problem.families import epidemic


def sizes(environment, **settings):
    encoding = ActionEncoding.of(environment)
    return RoundSizes(
        environment,
        make_config("interacting", **settings),
        encoding,
        RolloutAuto(encoding),
        next_step_of(environment, encoding),
        dependencies_of(environment),
    )


class Hall(Doors):
    """Forty doors in pairs of which one may be opened: too many actions to list."""

    space = Custom(
        np.kron(np.eye(20), [[1.0, 1.0]]),
        np.zeros(20),
        np.ones(20),
        [f"door {i}" for i in range(40)],
    )

    def draw_start(self, rng, count):
        return rng.integers(0, 3, (count, 40))

    def action_limits(self, states, steps):  # noqa: ARG002
        return None


class LimitedHall(Hall):
    """A hall in which a state forbids something."""

    def action_limits(self, states, steps):  # noqa: ARG002
        return ActionLimits(np.zeros(states.shape, dtype=bool), states > 0)


@pytest.mark.parametrize(("arms", "states", "held_out"), [(8, 2_500, 1_000), (100, 200, 400)])
def test_large_environments_need_fewer_states(arms, states, held_out):
    found = sizes(epidemic(arms=arms, seed=1))
    assert (found.states, found.held_out) == (states, held_out)


def test_what_takes_a_search_looks_at_less():
    assert (sizes(Hall()).states, sizes(Hall()).held_out) == (60, 40)
    assert (sizes(LimitedHall()).states, sizes(LimitedHall()).held_out) == (240, 120)


def test_settings_come_first():
    found = sizes(Hall(), n_eval_episodes=7, **{"comparisons.states": 9, "comparisons.changes": 3})
    assert (found.states, found.held_out, found.changes) == (9, 7, 3)


def test_batches_grow_with_what_a_round_teaches():
    found = sizes(Hall())
    assert [found.batch(lessons)[0] for lessons in (100, 10_000, 10**6)] == [128, 250, 512]
    assert found.batch(10**6)[1] == pytest.approx(2 * found.batch(0)[1])
