"""A folded model is the network that was trained, for every action."""

import numpy as np
import pytest
import torch

from policy_cases import joint_states, tiny
from sequoia.models.q_model import QModel, View, n_hidden, of_pairs, of_state, shapes
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem.families import epidemic, interventions

PARTS = [
    (hidden, value, linear, time_feature)
    for hidden in ((), (4,), (4, 3))
    for value in (0, 5)
    for linear in (False, True)
    for time_feature in (False, True)
]
ACTIONS = np.unpackbits(np.arange(8, dtype=np.uint8)[:, None], axis=1)[:, -3:].astype(np.int8)
FEATURES, INPUTS = 7, 5
FORMS = [
    (hidden, value, linear)
    for hidden in ((), (4,), (4, 3))
    for value in (0, 6)
    for linear in (False, True)
]


def model_of(problem, hidden=(4,), value=5, linear=True, time_feature=True, scale=2.5):
    view, columns = (
        View(indicators=True, time_feature=time_feature),
        ActionEncoding.of_problem(problem),
    )
    start = problem.draw_start(np.random.default_rng(0), 1)
    features = view.features(problem, start, np.zeros(1, np.int64)).shape[1]
    rng = np.random.default_rng(3)
    sizes = shapes(features, columns.n_inputs, hidden, value, linear)
    own = {
        name: np.asarray(rng.standard_normal(shape), np.float32) for name, shape in sizes.items()
    }
    return QModel(problem, columns, view, own, scale)


def separately(model, states, steps, actions):
    """Return Q of pairs by the torch network as it is trained."""
    problem = model.environment
    features = model.view.features(problem, states, steps).astype(np.float32)
    inputs = model.columns.encode(actions).astype(np.float32)
    tensors = {name: torch.from_numpy(part) for name, part in model.parameters.items()}
    network = of_pairs(tensors, torch.from_numpy(features), torch.from_numpy(inputs))
    return model.scale * network.numpy().astype(np.float64)


def folded(model, states, steps, actions):
    return model.fold(states, steps).values(model.columns.encode(actions)[:, None])[:, 0]


@pytest.mark.parametrize(("hidden", "value", "linear", "time_feature"), PARTS)
@pytest.mark.parametrize("kind", ["assignment", "doses"])
def test_folding_changes_no_value(kind, hidden, value, linear, time_feature):
    """With dose indicators as inputs for ``doses``; feasible or not."""
    problem = tiny(kind, 1, horizon=3)
    model = model_of(problem, hidden, value, linear, time_feature)
    assert (model.columns.dose_indicators is not None) == (kind == "doses")
    states = np.tile(joint_states(problem), (3, 1))
    rng = np.random.default_rng(4)
    steps, actions = rng.integers(0, 3, len(states)), ACTIONS[rng.integers(0, 8, len(states))]
    wanted = separately(model, states, steps, actions)
    assert folded(model, states, steps, actions) == pytest.approx(wanted, rel=1e-4, abs=1e-4)


def test_on_the_setting_with_interventions():
    problem = interventions(arms=9, budget=3, horizon=5)
    model = model_of(problem)
    rng = np.random.default_rng(5)
    states, steps = rng.integers(0, 4, (50, 9)), rng.integers(0, 5, 50)
    actions = rng.integers(0, 2, (50, problem.space.n_actions)).astype(np.int8)
    wanted = separately(model, states, steps, actions)
    assert folded(model, states, steps, actions) == pytest.approx(wanted, rel=1e-4, abs=1e-4)


def test_the_clock_counts_down():
    problem = tiny("budget", 0, horizon=4)
    states = joint_states(problem)[:2]
    seen = View().features(problem, states, np.array([0, 3]))
    assert seen[:, -1].tolist() == [1.0, 0.25]
    assert seen[:, :-1].tolist() == problem.features(states).tolist()
    assert View(time_feature=False).features(problem, states, np.array([0, 3])).shape[1] == 6


def test_without_indicators_the_network_sees_the_bare_state():
    problem = epidemic(arms=6, budget=2)
    states = problem.draw_start(np.random.default_rng(0), 3)
    seen = View(indicators=False, time_feature=False).features(
        problem, states, np.zeros(3, np.int64)
    )
    assert seen.dtype == np.float64
    assert seen.tolist() == states.tolist()


def drawn(hidden, value, linear, seed=0):
    rng = np.random.default_rng(seed)
    sizes = shapes(FEATURES, INPUTS, hidden, value, linear)
    return {name: np.asarray(rng.standard_normal(shape)) for name, shape in sizes.items()}


def by_hand(own, features, inputs, hidden, value, linear):
    """Return the value of one pair, with plain loops over layers."""
    total = float(own["constant"])
    if value:
        inner = own["value.in"] @ features + own["value.bias"]
        total += own["value.out"] @ np.maximum(inner, 0)
    if linear:
        total += (own["linear.state"] @ features + own["linear.bias"]) @ inputs
    if linear and value:
        total += (own["linear.hidden"] @ np.maximum(inner, 0)) @ inputs
    if hidden:
        unit = np.maximum(own["state"] @ features + own["action"] @ inputs + own["bias.0"], 0)
        if len(hidden) == 2:
            unit = np.maximum(own["weight.1"] @ unit + own["bias.1"], 0)
        total += own["output"] @ unit
    return total


@pytest.mark.parametrize(("hidden", "value", "linear"), FORMS)
def test_numpy_and_torch_say_what_the_formula_says(hidden, value, linear):
    own = drawn(hidden, value, linear)
    rng = np.random.default_rng(1)
    features, inputs = rng.standard_normal((9, FEATURES)), rng.integers(0, 2, (9, INPUTS))
    wanted = [
        by_hand(own, z, x, hidden, value, linear) for z, x in zip(features, inputs, strict=True)
    ]
    assert of_pairs(own, features, inputs) == pytest.approx(wanted)
    tensors = {name: torch.from_numpy(part) for name, part in own.items()}
    found = of_pairs(tensors, torch.from_numpy(features), torch.from_numpy(inputs).double())
    assert found.numpy() == pytest.approx(wanted)


@pytest.mark.parametrize(("hidden", "value", "linear"), FORMS)
def test_parts_that_are_missing_are_missing(hidden, value, linear):
    own = drawn(hidden, value, linear)
    first, weights, constant = of_state(own, np.ones((2, FEATURES)))
    assert (first is None) == (not hidden)
    assert (weights is None) == (not linear)
    assert constant.shape == (2,)
    assert n_hidden(own) == len(hidden)


def test_every_state_has_a_value_of_its_own():
    own = drawn((), 6, False)
    features = np.random.default_rng(2).standard_normal((20, FEATURES))
    values = of_pairs(own, features, np.zeros((20, INPUTS)))
    assert len(np.unique(values)) > 10
