"""The model of the one learner: read again, it decides as before, whatever it is made of."""

import json

import numpy as np
import pytest
from safetensors.numpy import load as read_arrays
from safetensors.numpy import save as write_arrays

from learned_cases import Switches, made, random_states
from sequoia.models.learned_model import LearnedModel
from sequoia.optimize.auto import RolloutAuto
from sequoia.problem import Dependencies
from sequoia.problem.families import assortment, capacity, epidemic, interventions

DECOUPLED, COUPLED = capacity(arms=5, workers=2, horizon=4), epidemic(arms=6, budget=2, horizon=4)
DOSES = interventions(arms=6, budget=2, horizon=4)
SHOP = assortment(items=4, show=2, horizon=4)
CHAIN = Dependencies(np.eye(5, k=-1), np.eye(5))
MODELS = {
    "idle": (Switches(), "idle", (), False, CHAIN),
    "random": (Switches(), "random", (), False, CHAIN),
    "myopic": (COUPLED, "myopic", (), False, None),
    "listed": (SHOP, "myopic", ("linear",), False, None),
    "linear": (COUPLED, "myopic", ("linear",), False, None),
    "linear of an environment": (Switches(), "idle", ("linear",), False, CHAIN),
    "network": (COUPLED, "idle", ("network",), False, None),
    "linear and network": (DECOUPLED, "idle", ("linear", "network"), False, None),
    "joint": (DECOUPLED, "myopic", ("joint",), False, None),
    "joint with doses": (DOSES, "myopic", ("linear", "joint"), False, None),
    "price": (DECOUPLED, "price", (), False, None),
    "price and linear": (DOSES, "price", ("linear",), False, None),
    "factored": (COUPLED, "price", (), False, None),
    "factored and linear": (COUPLED, "price", ("linear",), False, None),
    "units": (COUPLED, "price", ("linear",), True, None),
}


def decisions(model, environment):
    argmax = RolloutAuto(model.encoding)
    states, steps = random_states(environment, 15, seed=2)
    return argmax.best_of(model.fold(states, steps))


@pytest.mark.parametrize("name", MODELS)
def test_what_is_read_decides_as_what_was_written(name):
    environment, *how, structure = MODELS[name]
    model = made(environment, *how, structure=structure)
    arrays, facts = model.to_arrays()
    content = write_arrays({key: np.ascontiguousarray(value) for key, value in arrays.items()})
    facts = json.loads(json.dumps(facts))
    again = LearnedModel.from_arrays(environment, read_arrays(content), facts)
    assert (again.known.name, again.known.units is None) == (how[0], not how[2])
    states, steps = random_states(environment, 15)
    one, other = model.fold(states, steps), again.fold(states, steps)
    assert np.array_equal(one.linear, other.linear)
    assert np.array_equal(one.first_bias, other.first_bias)
    wanted = decisions(model, environment)
    assert np.array_equal(decisions(again, environment), wanted)
    assert (len(np.unique(wanted, axis=0)) > 1) == (name != "idle")


def test_scores_come_on_top_of_what_is_known():
    plain, more = made(COUPLED, "price"), made(COUPLED, "price", ("linear", "network"))
    states, steps = random_states(COUPLED, 5)
    apart = more.weights(states, steps) - plain.weights(states, steps)
    assert apart == pytest.approx(
        more.linear.scores(states, steps) + more.network.scores(states, steps)
    )


def test_a_sight_of_another_size_is_refused():
    arrays, facts = made(DECOUPLED, "idle").to_arrays()
    with pytest.raises(ValueError, match="it sees 5 components of 6"):
        LearnedModel.from_arrays(capacity(arms=6, workers=2, horizon=4), arrays, facts)
