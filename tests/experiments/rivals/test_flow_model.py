"""The flow on the sphere, and the model that chooses from what it draws."""

import numpy as np
import pytest
import torch

from experiments.rivals.flow_model import (
    CRITICS,
    FLOW,
    FlowModel,
    carried,
    on_sphere,
    output,
    seen_part,
    shapes,
    velocity,
)
from sequoia.models.q_model import FULL_VIEW
from sequoia.problem.families import standard

FEATURES, COLUMNS, HIDDEN = 3, 5, 8
RNG = np.random.default_rng(7)


def weights(network=FLOW, features=FEATURES, columns=COLUMNS, size=0.5):
    sizes = shapes(network, features, columns, HIDDEN)
    return {name: size * RNG.standard_normal(shape) for name, shape in sizes.items()}


def points(count):
    return on_sphere(RNG.standard_normal((count, COLUMNS)))


def turning(speed):
    """Return a flow that turns from the first column to the second, whatever the state."""
    own = {name: np.zeros_like(value) for name, value in weights().items()}
    # relu(x) and relu(-x) of the first two columns, handed on unchanged.
    for unit, (column, sign) in enumerate(((0, 1), (0, -1), (1, 1), (1, -1))):
        own["point"][unit, column] = sign
        own["weight1"][unit, unit] = 1.0
        own["weight2"][1 - column, unit] = sign * speed * (1 if column == 0 else -1)
    return own


def test_points_stay_on_the_sphere_and_move_along_it():
    own, begun = weights(), points(6)
    seen = seen_part(own, RNG.standard_normal((6, FEATURES)))
    assert np.allclose((velocity(own, seen, begun, 0.3) * begun).sum(axis=1), 0)
    ended = carried(own, seen, begun, 4)
    assert np.allclose(np.linalg.norm(ended, axis=1), 1)
    assert not np.allclose(ended, begun, atol=0.01)


@pytest.mark.parametrize("angle", [0.3, 1.0])
def test_a_flow_that_turns_is_followed_to_the_second_order(angle):
    own = turning(angle)
    begun = np.eye(COLUMNS)[:1]
    seen = seen_part(own, np.zeros((1, FEATURES)))
    wanted = np.array([[np.cos(angle), np.sin(angle), 0, 0, 0]])
    errors = [np.abs(carried(own, seen, begun, steps) - wanted).max() for steps in (4, 8)]
    assert errors[0] < 0.03
    assert errors[1] < errors[0] / 3


def test_numpy_and_torch_say_the_same():
    own, begun = weights(), points(6)
    features = RNG.standard_normal((6, FEATURES))
    theirs = {name: torch.from_numpy(value) for name, value in own.items()}
    ours = carried(own, seen_part(own, features), begun, 5)
    seen = seen_part(theirs, torch.from_numpy(features))
    assert np.allclose(ours, carried(theirs, seen, torch.from_numpy(begun), 5).numpy())


def made(problem, candidates=6):
    start = problem.draw_start(np.random.default_rng(0), 1)
    seen = FULL_VIEW.features(problem, start, np.zeros(1, int))
    columns = problem.space.n_actions
    parameters = {}
    for name in (FLOW, *CRITICS):
        for key, value in weights(name, seen.shape[1], columns).items():
            parameters[f"{name}.{key}"] = value.astype(np.float32)
    return FlowModel(problem, parameters, candidates, 3)


def test_the_direction_that_the_lower_critic_likes_best_is_taken():
    problem = standard(arms=COLUMNS, budget=2, horizon=4, seed=1)
    model = made(problem)
    states, steps = problem.draw_start(np.random.default_rng(1), 4), np.arange(4)
    chosen = model.fold(states, steps).linear
    features = FULL_VIEW.features(problem, states, steps)
    parts = {
        name: {
            key.partition(".")[2]: value.astype(np.float64)
            for key, value in model.parameters.items()
            if key.startswith(name)
        }
        for name in (FLOW, *CRITICS)
    }
    for row in range(4):
        seen = features[row : row + 1]
        found = carried(parts[FLOW], seen_part(parts[FLOW], seen), model.starts.astype(float), 3)
        said = [output(parts[n], seen_part(parts[n], seen), found)[:, 0] for n in CRITICS]
        best = found[np.minimum(*said).argmax()]
        assert np.allclose(chosen[row, :COLUMNS], best, atol=1e-4)
        assert not chosen[row, COLUMNS:].any()


def test_arrays_hold_all_of_it():
    problem = standard(arms=COLUMNS, budget=2, horizon=4, seed=1)
    model = made(problem, candidates=3)
    arrays, facts = model.to_arrays()
    again = FlowModel.from_arrays(problem, arrays, facts)
    states, steps = problem.draw_start(np.random.default_rng(1), 4), np.arange(4)
    assert len(again.starts) == 3
    assert np.array_equal(again.fold(states, steps).linear, model.fold(states, steps).linear)
