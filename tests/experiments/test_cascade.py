"""Cascades on a network: what spreads, indices of nodes, baselines."""

from itertools import product

import networkx as nx
import numpy as np
import pytest

from experiments.field.cascade import Cascade, make
from experiments.field.cascade_baselines import (
    by_index,
    lift,
    mean_field,
    one_step,
    random_nodes,
    whittle,
)
from experiments.field.village import read_ties, village
from experiments.play import no_action, returns
from sequoia.errors import FileError, ProblemError
from sequoia.problem import check_environment
from sequoia.rng import stream

# A square with a diagonal: cycles, and nodes at two distances.
SQUARE = np.array([[0, 1], [1, 2], [2, 3], [0, 3], [0, 2]])


def small(spread=0.3, ties=SQUARE, seed=0):
    rng = np.random.default_rng(seed)
    nodes = int(np.max(ties)) + 1
    chances = rng.uniform(0.1, 0.9, (nodes, 2, 2))
    return Cascade("small", ties, chances, rng.uniform(1, 2, nodes), limit=2, spread=spread)


def after_cascade(active, waiting, neighbours, spread):
    """Return the distribution of who is active in the end, from the words of the description.

    ``waiting`` have yet to try each of their inactive neighbours, once.
    """
    if not waiting:
        return {active: 1.0}
    node, *others = waiting
    targets = [other for other in neighbours[node] if other not in active]
    total = {}
    for hits in product((False, True), repeat=len(targets)):
        chance = np.prod([spread if hit else 1 - spread for hit in hits])
        new = [target for target, hit in zip(targets, hits, strict=True) if hit]
        following = after_cascade(active | set(new), (*others, *new), neighbours, spread)
        for final, share in following.items():
            total[final] = total.get(final, 0.0) + chance * share
    return total


@pytest.mark.parametrize("ties", [SQUARE, [[0, 1], [1, 2]], [[0, 1], [1, 2], [0, 2]]])
def test_step_is_an_independent_cascade(ties):
    """Exact: all own moves and all live ties, against trying neighbour after neighbour."""
    environment = small(ties=np.array(ties))
    nodes, spread = environment.n_nodes, environment.spread
    neighbours = {node: set() for node in range(nodes)}
    for one, other in ties:
        neighbours[one].add(other)
        neighbours[other].add(one)
    state = np.arange(nodes) % 2
    action = (np.arange(nodes) < 1).astype(np.int8)
    up = environment.chances[np.arange(nodes), state, action]
    wanted = {}
    for moved in product((0, 1), repeat=nodes):
        chance = np.prod(np.where(moved, up, 1 - up))
        active = frozenset(np.flatnonzero(moved).tolist())
        for final, share in after_cascade(active, tuple(active), neighbours, spread).items():
            wanted[final] = wanted.get(final, 0.0) + chance * share
    hits = np.array(list(product((0, 1), repeat=environment.n_noise)))
    limits = np.concatenate([up, np.full(len(ties), spread)])
    chances = np.where(hits, limits, 1 - limits).prod(axis=1)
    many = np.repeat(state[None], len(hits), axis=0)
    noise = np.where(hits, 0.0, 0.999)
    _, following = environment.step(many, np.repeat(action[None], len(hits), axis=0), noise)
    found = {}
    for row, chance in zip(following, chances, strict=True):
        final = frozenset(np.flatnonzero(row).tolist())
        found[final] = found.get(final, 0.0) + chance
    assert {final for final, chance in found.items() if chance} == set(wanted)
    for final, chance in wanted.items():
        assert found[final] == pytest.approx(chance)


def test_cascade_fills_components_of_live_ties():
    ties = village(1, 60, 150)
    environment = small(ties=ties)
    rng = np.random.default_rng(0)
    active, live = rng.random((40, 60)) < 0.1, rng.random((40, 150)) < 0.4
    for before, alive, after in zip(active, live, environment.cascade(active, live), strict=True):
        graph = nx.Graph(ties[alive].tolist())
        graph.add_nodes_from(range(60))
        for component in map(list, nx.connected_components(graph)):
            assert (after[component] == before[component].any()).all()


def test_marginals_by_simulation():
    """The step draws own moves and ties with the probabilities that it is given."""
    environment, count = small(), 40_000
    action = np.array([[1, 0, 1, 0]], np.int8)
    noise = np.random.default_rng(0).random((count, environment.n_noise))
    states = np.zeros((count, 4), np.int64)
    rewards, following = environment.step(states, np.repeat(action, count, axis=0), noise)
    up = environment.chances[np.arange(4), 0, action[0]]
    neighbours = {0: {1, 2, 3}, 1: {0, 2}, 2: {0, 1, 3}, 3: {0, 2}}
    wanted = np.zeros(4)
    for moved in product((0, 1), repeat=4):
        chance = np.prod(np.where(moved, up, 1 - up))
        active = frozenset(np.flatnonzero(moved).tolist())
        final = after_cascade(active, tuple(active), neighbours, environment.spread)
        for reached, share in final.items():
            wanted[list(reached)] += chance * share
    # Four standard errors of a probability.
    assert following.mean(axis=0) == pytest.approx(wanted, abs=4 * 0.5 / count**0.5)
    assert rewards == pytest.approx(following @ environment.values)


def test_keeps_the_promises_of_an_environment():
    check_environment(make(0))
    check_environment(small())


def test_equal_noise_gives_equal_luck():
    """And so acting on more nodes never leaves fewer active."""
    environment = make(2)
    rng = stream(0, "luck")
    states = (rng.random((50, 202)) < 0.5).astype(np.int64)
    noise = rng.random((50, environment.n_noise))
    few = (rng.random(states.shape) < 0.05).astype(np.int8)
    more = few | (rng.random(states.shape) < 0.05).astype(np.int8)
    _, after_few = environment.step(states, few, noise)
    _, after_more = environment.step(states, more, noise)
    assert (after_more >= after_few).all()
    first = returns(environment, random_nodes(environment), 10, 0)
    assert np.array_equal(first, returns(environment, random_nodes(environment), 10, 0))
    assert not np.array_equal(first, returns(environment, random_nodes(environment), 10, 1))


def test_draws():
    environment = make(3)
    chances = environment.chances
    assert environment.ties.shape == (692, 2)
    assert environment.n_nodes == 202
    assert environment.n_noise == 202 + 692
    assert (chances[:, 1, 1] >= 0.8).all()
    assert (chances[:, 1, 0] >= 0.7).all()
    assert (chances[:, 0, 1] >= 0.5).all()
    assert (chances[:, :, 1] >= chances[:, :, 0]).all()
    assert ((environment.values >= 1) & (environment.values <= 2)).all()
    assert make(3).fingerprint == environment.fingerprint != make(4).fingerprint
    assert np.array_equal(make(4).ties, environment.ties)


def lone(chances, value=1.5):
    """One node without ties, among others that are the same."""
    count = 2
    both = np.repeat(np.array(chances)[None], count, axis=0)
    return Cascade("lone", np.zeros((0, 2), np.int64), both, np.full(count, value), limit=1)


def test_whittle_index_where_the_state_does_not_matter():
    """Acting buys ``p1 - p0`` of one step's value, and nothing after it."""
    indices = whittle(lone([[0.2, 0.9], [0.2, 0.9]]), 0.9)
    assert indices == pytest.approx(1.5 * 0.7)


def test_whittle_index_of_what_lasts():
    """Active stays so for ever; an act activates with p: worth ``p v / (1 - discount)``."""
    indices = whittle(lone([[0.0, 0.4], [1.0, 1.0]]), 0.8)
    assert indices[:, 0] == pytest.approx(0.4 * 1.5 / 0.2)
    assert indices[:, 1] == pytest.approx(0.0)


def test_whittle_index_by_bisection():
    """The charge at which acting and waiting are as good, by value iteration."""
    environment, discount = make(5), 0.8
    indices = whittle(environment, discount)
    chances = environment.chances[:20]
    values = environment.values[:20, None, None]
    for state in (0, 1):
        low, high = np.full(20, -20.0), np.full(20, 20.0)
        for _ in range(40):
            charge = (low + high) / 2
            ahead = np.zeros((20, 2))
            for _ in range(120):
                gain = chances * (values + discount * (ahead[:, 1] - ahead[:, 0])[:, None, None])
                worth = gain + discount * ahead[:, 0, None, None]
                worth = worth - charge[:, None, None] * np.array([0.0, 1.0])
                ahead = worth.max(axis=2)
            pays = worth[:, state, 1] > worth[:, state, 0]
            low, high = np.where(pays, charge, low), np.where(pays, high, charge)
        assert indices[:20, state] == pytest.approx(low, abs=1e-6)


def test_mean_field_without_spread_is_the_lone_index():
    environment = make(1, spread=0.0)
    assert mean_field(environment) == pytest.approx(whittle(environment))


def test_order_of_baselines():
    """Random, one step ahead, the lone index, the index among neighbours."""
    environment = make(1)
    indices = [one_step(environment), whittle(environment), mean_field(environment)]
    policies = [by_index(environment, index) for index in indices]
    chance = lift(environment, random_nodes(environment), 100, 0)
    assert chance[0] > 10 * chance[1]
    assert lift(environment, policies[0], 100, 0)[0] > 3 * chance[0]
    worse, better, best = (returns(environment, policy, 400, 0).mean() for policy in policies)
    assert worse < better < best
    assert lift(environment, no_action(environment), 5, 0) == (0.0, 0.0)


def test_policies_keep_to_the_budget():
    environment = small()
    states = environment.draw_start(stream(0, "x"), 30)
    for policy in (random_nodes(environment), by_index(environment, whittle(environment))):
        actions = policy(states, 0, stream(0, "policy"))
        assert (actions.sum(axis=1) == 2).all()
        assert environment.space.contains(actions).all()


def test_ties_from_a_file(tmp_path):
    path = tmp_path / "ties.txt"
    path.write_text("# who knows whom\n10 7\n7,10\n\n7 3  # friends\n")
    assert read_ties(path).tolist() == [[0, 1], [1, 2]]
    assert make(0, path, limit=1).n_nodes == 3
    for text, message in (
        ("1 2\n3 3\n", "line 2 ties 3 to itself"),
        ("1 2 3\n", "line 1 is '1 2 3'; two numbers"),
        ("from,to\n", "line 1 is 'from,to'"),
        ("# nobody\n", "has no ties"),
    ):
        path.write_text(text)
        with pytest.raises(FileError, match=message):
            read_ties(path)


def test_villages():
    ties = village(5)
    assert len(np.unique(ties, axis=0)) == 692
    assert (ties[:, 0] < ties[:, 1]).all()
    assert np.array_equal(ties, village(5))
    assert not np.array_equal(ties, village(6))
    with pytest.raises(ProblemError, match="a village of 10 with 50 ties"):
        village(0, 10, 50)
