"""A trained model for a problem that has moved on."""

from dataclasses import replace

import numpy as np
import pytest

from sequoia import Arms, Assignment, Problem
from sequoia.bounds.lagrangian.relax import relax
from sequoia.errors import FileError
from sequoia.models.adopt import adopt_model
from sequoia.models.factored_part import FactoredPart
from sequoia.models.folder import Trained, save_model
from sequoia.models.graph_model import GraphModel, neighbourhood_of
from sequoia.models.graph_network import shapes as graph_shapes
from sequoia.models.next_step import next_step_of
from sequoia.models.price_part import PricePart
from sequoia.models.q_model import QModel, View, shapes
from sequoia.optimize.encoding import ActionEncoding
from sequoia.policies import Sequoia
from sequoia.policies.policy import Options

KERNELS = [
    [[[0.9, 0.1], [0.3, 0.7]], [[0.2, 0.8], [0.1, 0.9]]],
    [[[0.95, 0.05], [0.4, 0.6]], [[0.5, 0.5], [0.2, 0.8]]],
]
GROUPS = ("young", "old")


def problem(people, capacities=(2, 2), horizon=4, kernels=KERNELS):
    """Return a problem of people such as ``{"Ada": "young"}``."""
    models = [GROUPS.index(group) for group in people.values()]
    arms = Arms([[0, 1]] * 2, [[0, 1]] * 2, kernels, models, list(people), model_names=GROUPS)
    space = Assignment([1.0] * len(people), capacities, list(people))
    return Problem("clinic", arms, space, [[0.5, 0.5]] * len(people), horizon=horizon)


THEN = {"Ada": "young", "Bo": "old", "Cleo": "young", "Dan": "old"}


def train(folder, has_prices=True, indicators=True):
    """Write a model with random weights; return it."""
    rng, then = np.random.default_rng(0), problem(THEN)
    encoding = ActionEncoding.of(then)
    features = (8 if indicators else 4) + 1
    sizes = shapes(features, encoding.n_inputs, (3,), 5, True)
    own = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in sizes.items()}
    prices = PricePart.of(relax(then).prices, then.horizon) if has_prices else None
    q = QModel(then, encoding, View(indicators), own, 1.0, prices)
    history = [{"round": 0, "reward": 1.0, "seconds": 0.1}]
    save_model(folder, Trained(q, "q-learning", {}, 0, 1.0, None, None, 0.1, history))
    return q


STATES = [[0, 1, 0, 1], [1, 1, 0, 0]]


def test_the_same_problem_is_as_before(tmp_path):
    q = train(tmp_path)
    found = adopt_model(tmp_path, problem(THEN))
    assert found.remark == ""
    assert found.model.parameters.keys() == q.parameters.keys()


@pytest.mark.parametrize("indicators", [True, False])
@pytest.mark.parametrize(
    "now",
    [
        {"Ada Lovelace": "young", "Bo": "old", "Cleo": "young", "Dan": "old"},
        {"w": "young", "x": "old", "y": "young", "z": "old"},
    ],
)
def test_other_names_change_no_value(tmp_path, now, indicators):
    q = train(tmp_path, has_prices=False, indicators=indicators)
    found = adopt_model(tmp_path, problem(now)).model
    assert np.allclose(fold(found, STATES), fold(q, STATES))


def fold(q, states):
    net = q.fold(np.asarray(states), np.zeros(len(states), dtype=np.int64))
    return np.concatenate([net.first_bias, net.linear, net.constant[:, None]], axis=1)


def test_another_order_is_the_same_function(tmp_path):
    q = train(tmp_path, has_prices=False)
    now = dict(sorted(THEN.items(), reverse=True))
    found = adopt_model(tmp_path, problem(now)).model
    states = np.array(STATES)
    one = q.fold(states, np.zeros(2, np.int64))
    other = found.fold(states[:, ::-1], np.zeros(2, np.int64))
    assert np.allclose(one.first_bias, other.first_bias)
    assert np.allclose(one.constant, other.constant)
    assert np.allclose(one.linear, other.linear[:, ::-1])
    assert np.allclose(one.weights[0], other.weights[0][:, ::-1])


def test_prices_are_those_of_now(tmp_path):
    train(tmp_path)
    now = problem(THEN, capacities=(1, 0), horizon=6)
    found = adopt_model(tmp_path, now).model
    wanted = PricePart.of(relax(now).prices, 6)
    assert np.allclose(found.prices.q_values, wanted.q_values)


def test_whoever_is_new_gets_what_the_group_has(tmp_path):
    q = train(tmp_path, has_prices=False)
    now = problem({"Ada": "young", "Eve": "young", "Dan": "old"})
    found = adopt_model(tmp_path, now)
    assert "1 new and 2 gone" in found.remark
    action, old = found.model.parameters["action"], q.parameters["action"]
    assert np.allclose(action[:, 0], old[:, 0])
    assert np.allclose(action[:, 1], (old[:, 0] + old[:, 2]) / 2, atol=1e-6)
    assert np.allclose(action[:, 2], old[:, 3])
    state = found.model.parameters["state"]
    assert state.shape == (3, 7)
    assert np.allclose(state[:, 6], q.parameters["state"][:, 8])
    made = Sequoia.make(now, Options(found.model)).act(
        np.array([[0, 1, 0]]), 0, [np.random.default_rng(0)]
    )
    assert now.space.contains(made.actions).all()


def test_what_means_nothing_here_is_one_line(tmp_path):
    train(tmp_path)
    new_group = problem(THEN)
    arms = replace(new_group.arms, model_names=("young", "ancient"))
    with pytest.raises(FileError, match=r"nobody of ancient was there then: train a model"):
        adopt_model(tmp_path, replace(new_group, arms=arms))
    three = Arms.ladder([[0, 1, 2]] * 4, [[0.1, 0.8]] * 4)
    other = Problem("three", three, Assignment([1.0] * 4, [1]), [[1, 0, 0]] * 4)
    with pytest.raises(FileError, match="arms had 2 states then and have 3 now"):
        adopt_model(tmp_path, other)
    about = tmp_path / "model.json"
    about.write_text(about.read_text().replace('"meaning"', '"nothing"'))
    with pytest.raises(FileError, match="does not say which arms it knows"):
        adopt_model(tmp_path, problem({"Ada": "young"}))


@pytest.mark.parametrize("starts", [False, True])
def test_a_network_that_arms_share_fits_any_roster(tmp_path, starts):
    then = problem(THEN)
    encoding = ActionEncoding.of(then)
    factored = FactoredPart.of(then, 20, 3)[0] if starts else None
    seen = neighbourhood_of(then, encoding, factored)
    rng = np.random.default_rng(1)
    sizes = graph_shapes(seen.n_features, 1, len(seen.matrices), 4, 1, starts)
    own = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in sizes.items()}
    q = GraphModel(then, encoding, seen, next_step_of(then, encoding), own, factored=factored)
    history = [{"round": 0, "reward": 1.0, "seconds": 0.1}]
    save_model(tmp_path, Trained(q, "x", {}, 0, 1.0, None, None, 0.1, history))
    now = problem({"Eve": "old", "Ada": "young"})
    found = adopt_model(tmp_path, now).model
    assert found.weights(np.array([[0, 1]]), np.array([0])).shape == (1, 2)


def test_states_that_are_like_others_get_their_weights(tmp_path):
    q = train(tmp_path, has_prices=False)
    arms = Arms(
        [[0, 1, 0.5]] * 2,
        [[0, 1]] * 2,
        np.full((2, 2, 3, 3), 1 / 3),
        [0, 1, 0, 1],
        list(THEN),
        model_names=GROUPS,
    )
    now = Problem("clinic", arms, problem(THEN).space, np.full((4, 3), 1 / 3), horizon=4)
    with pytest.raises(FileError, match="arms had 2 states then and have 3 now"):
        adopt_model(tmp_path, now)
    like = {"young": np.array([0, 1, 1]), "old": np.array([1, 0, 0])}
    found = adopt_model(tmp_path, now, like).model
    assert np.allclose(fold(found, [[2, 0, 1, 2]]), fold(q, [[1, 1, 1, 0]]))
