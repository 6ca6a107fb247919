"""Models of the one learner made by hand: known parts, and learned parts with random weights."""

import numpy as np

from sequoia.bounds.lagrangian.relax import relax, why_no_prices
from sequoia.learn.network_fit import may_be_whole
from sequoia.models.factored_part import FactoredPart
from sequoia.models.graph_network import shapes
from sequoia.models.joint_part import JointPart, joint_shapes
from sequoia.models.known import factored, known_parts, priced
from sequoia.models.learned_model import LearnedModel
from sequoia.models.network import Network, features, messages
from sequoia.models.price_part import PricePart
from sequoia.models.scores import LinearScores
from sequoia.models.sight import Sight
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import Budget, Dependencies, sample_actions
from sequoia.rng import stream


def random_states(environment, count=40, seed=0):
    """Return states of random play at their steps."""
    rng = np.random.default_rng(seed)
    states, parts, steps = environment.draw_start(rng, count), [], []
    for step in range(environment.horizon):
        at = np.full(count, step)
        parts.append(states)
        steps.append(at)
        actions = sample_actions(environment, states, at, rng)
        noise = rng.random((count, environment.n_noise))
        states = environment.step(states, actions, noise)[1]
    return np.concatenate(parts), np.concatenate(steps)


def sight_of(environment, structure=None, is_timeless=False):
    """Return how an environment is seen; what says nothing of its structure has every edge."""
    states, _ = random_states(environment)
    if structure is None:
        size, columns = states.shape[1], environment.space.n_actions
        anything = Dependencies(1 - np.eye(size), np.ones((size, columns)))
        structure = getattr(environment, "dependencies", anything)
    return Sight.of(states, structure, environment.horizon, is_timeless)


def drawn(sizes, seed=0):
    """Return random parameters of these shapes."""
    rng = stream(seed, "parameters")
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in sizes.items()}


def random_linear(sight, seed=0):
    rng = stream(seed, "linear")
    weights = rng.standard_normal((len(sight.node), sight.n_local, sight.n_times))
    return LinearScores(sight, weights, rng.standard_normal((sight.n_columns, sight.n_times)))


def random_network(sight, is_whole=False, seed=0):
    states, steps = np.zeros((1, sight.n_components)), np.zeros(1, np.int64)
    seen = features(sight, is_whole, states, steps).shape[2]
    kinds = 1 if is_whole else int(sight.rank.max(initial=0)) + 1
    sizes = shapes(seen, kinds, len(messages(sight, is_whole)), 4, 2)
    return Network(sight, is_whole, drawn(sizes, seed), 0.7)


def random_joint(sight, seed=0):
    assert may_be_whole(sight)
    states, steps = np.zeros((1, sight.n_components)), np.zeros(1, np.int64)
    seen = features(sight, True, states, steps).shape[2]
    return JointPart(sight, drawn(joint_shapes(seen, sight.n_columns, 3), seed), 1.3)


def made(environment, known="myopic", learned=(), units=False, structure=None):
    """Return a model by the name of what is known, with these learned parts."""
    encoding, sight = ActionEncoding.of(environment), sight_of(environment, structure)
    by_name = {own.name: own for own in known_parts(environment, encoding)}
    prices = part = None
    if known == "price" and why_no_prices(environment) is None:
        prices = PricePart.of(relax(environment).prices, environment.horizon)
        by_name["price"] = priced(encoding, prices)
    elif known == "price":
        part, _ = FactoredPart.of(environment, 60, 5)
        by_name["price"] = factored(environment, encoding, part, units)
    parts = {"linear": random_linear, "network": random_network, "joint": random_joint}
    own = {name: parts[name](sight) for name in learned}
    return LearnedModel(
        environment, encoding, by_name[known], sight, prices=prices, part=part, **own
    )


class Switches:
    """Five switches in a row, each set by its own column once the one before is on.

    All on earns 1 a step, anything less nothing; setting one works in nine of ten tries.
    """

    name, fingerprint = "switches", "switches 1"
    space = Budget(np.ones(5), 1)
    horizon, discount, n_noise = 10, 1.0, 5

    def draw_start(self, rng, count):
        return np.zeros((count, 5), dtype=np.int64)

    def features(self, states):
        return states.astype(float)

    def step(self, states, actions, noise):
        ready = np.concatenate([np.ones((len(states), 1)), states[:, :-1]], axis=1)
        after = np.where((actions == 1) & (ready == 1) & (noise < 0.9), 1, states)
        return states.all(axis=1).astype(float), after


class DeclaredSwitches(Switches):
    """The same, saying who depends on whom."""

    dependencies = Dependencies(np.eye(5, k=-1), np.eye(5))
