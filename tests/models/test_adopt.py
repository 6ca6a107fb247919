"""A trained model for a problem that has moved on."""

from dataclasses import replace

import numpy as np
import pytest

from learned_cases import drawn, made
from sequoia import Arms, Assignment, Problem
from sequoia.bounds.lagrangian.relax import relax
from sequoia.errors import FileError
from sequoia.models.adopt import adopt_model
from sequoia.models.folder import Trained, save_model
from sequoia.models.price_part import PricePart
from sequoia.models.q_model import QModel, View, shapes
from sequoia.optimize.encoding import ActionEncoding
from sequoia.policies import Sequoia
from sequoia.policies.policy import Options
from sequoia.problem.families import epidemic

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


def write(folder, q, learner="policy-improvement"):
    history = [{"round": 0, "reward": 1.0, "seconds": 0.1}]
    save_model(folder, Trained(q, learner, {}, 0, 1.0, None, None, 0.1, history))
    return q


def train(folder, known="price", learned=("linear",)):
    """Write a model with random weights; return it."""
    return write(folder, made(problem(THEN), known, learned))


STATES = np.array([[0, 1, 0, 1], [1, 1, 0, 0]])
STEPS = np.array([0, 2])


def weights(q, states=STATES):
    return q.weights(np.asarray(states), STEPS[: len(states)])


def test_the_same_problem_is_as_before(tmp_path):
    q = train(tmp_path)
    found = adopt_model(tmp_path, problem(THEN))
    assert found.remark == ""
    assert np.array_equal(weights(found.model), weights(q))


@pytest.mark.parametrize("learned", [("linear",), ("network",), ("joint",), ("linear", "joint")])
@pytest.mark.parametrize(
    "now",
    [
        {"Ada Lovelace": "young", "Bo": "old", "Cleo": "young", "Dan": "old"},
        {"w": "young", "x": "old", "y": "young", "z": "old"},
    ],
)
def test_other_names_change_no_value(tmp_path, now, learned):
    q = train(tmp_path, "myopic", learned)
    found = adopt_model(tmp_path, problem(now))
    assert "other names" in found.remark
    one, other = q.fold(STATES, STEPS), found.model.fold(STATES, STEPS)
    assert np.allclose(one.linear, other.linear)
    assert np.allclose(one.first_bias, other.first_bias)


@pytest.mark.parametrize("learned", [("linear",), ("network",)])
def test_another_order_is_the_same_function(tmp_path, learned):
    q = train(tmp_path, "price", learned)
    now = dict(sorted(THEN.items(), reverse=True))
    found = adopt_model(tmp_path, problem(now)).model
    assert np.allclose(weights(found, STATES[:, ::-1])[:, ::-1], weights(q), atol=1e-4)


def test_prices_are_those_of_now(tmp_path):
    train(tmp_path)
    now = problem(THEN, capacities=(1, 0), horizon=6)
    found = adopt_model(tmp_path, now).model
    wanted = PricePart.of(relax(now).prices, 6)
    assert np.allclose(found.prices.q_values, wanted.q_values)
    assert found.sight.horizon == 6


def test_an_arm_keeps_its_own_weights_and_a_new_one_gets_the_mean_of_its_group(tmp_path):
    q = train(tmp_path, "myopic")
    now = problem({"Eve": "young", "Dan": "old", "Ada": "young", "Finn": "old"})
    found = adopt_model(tmp_path, now)
    assert "2 new and 2 gone" in found.remark
    for name in ("weights", "bias"):
        own, old = getattr(found.model.linear, name), getattr(q.linear, name)
        assert np.allclose(own[0], (old[0] + old[2]) / 2)
        assert np.array_equal(own[1], old[3])
        assert np.array_equal(own[2], old[0])
        assert np.allclose(own[3], (old[1] + old[3]) / 2)


@pytest.mark.parametrize("learned", [("linear",), ("network",), ("linear", "network")])
@pytest.mark.parametrize(
    "people", [{"Ada": "young", "Eve": "young", "Dan": "old"}, {"Eve": "young"}]
)
def test_it_acts_for_any_roster_of_groups_that_are_known(tmp_path, learned, people):
    train(tmp_path, "price", learned)
    now = problem(people)
    found = adopt_model(tmp_path, now).model
    states, rngs = np.zeros((1, len(people)), np.int64), [np.random.default_rng(0)]
    made = Sequoia.make(now, Options(found)).act(states, 0, rngs)
    assert now.space.contains(made.actions).all()
    assert weights(found, states).any()


@pytest.mark.parametrize("units", [False, True])
def test_values_of_clusters_are_those_of_now(tmp_path, units):
    then = epidemic(arms=6, budget=2, horizon=4, seed=1)
    q = write(tmp_path, made(then, "price", ("linear",), units))
    now = epidemic(arms=6, budget=2, horizon=5, seed=1)
    found = adopt_model(tmp_path, now).model
    states, steps = then.draw_start(np.random.default_rng(0), 4), np.zeros(4, np.int64)
    net = found.fold(states, steps)
    assert bool(net.weights) == units
    assert not np.allclose(found.weights(states, steps), q.weights(states, steps))
    assert np.array_equal(found.linear.weights, q.linear.weights)


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


def test_what_knows_arms_together_is_not_carried_to_others(tmp_path):
    train(tmp_path, "myopic", ("joint",))
    with pytest.raises(FileError, match="together with their actions, and others came") as error:
        adopt_model(tmp_path, problem({"Ada": "young", "Eve": "young", "Dan": "old"}))
    assert "\n" not in str(error.value)


def test_a_network_of_q_learning_is_not_carried_either(tmp_path):
    then = problem(THEN)
    encoding = ActionEncoding.of(then)
    own = drawn(shapes(9, encoding.n_inputs, (3,), 0, True))
    write(tmp_path, QModel(then, encoding, View(), own), "q-learning")
    assert adopt_model(tmp_path, then).remark == ""
    with pytest.raises(FileError, match="model of the kind q-network cannot be carried") as error:
        adopt_model(tmp_path, problem(THEN, capacities=(1, 0)))
    assert "\n" not in str(error.value)


def test_where_states_are_others_it_acts_by_prices_alone(tmp_path):
    train(tmp_path)
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
    found = adopt_model(tmp_path, now, like)
    assert found.remark.endswith("its prices are those of now; it acts by them alone")
    states = np.array([[2, 0, 1, 2]])
    wanted = PricePart.of(relax(now).prices, 4)
    levels = wanted.levels(states, np.zeros(1, np.int64))[0]
    assert np.allclose(weights(found.model, states)[0], levels[0, :, 1] - levels[0, :, 0])


def test_states_that_stayed_as_they_were_keep_what_was_learned(tmp_path):
    q = train(tmp_path)
    now = problem(THEN, capacities=(1, 0))
    like = {group: np.arange(2) for group in GROUPS}
    found = adopt_model(tmp_path, now, like)
    assert np.array_equal(found.model.linear.weights, q.linear.weights)
    assert "alone" not in found.remark
