"""Scores of columns: linear ones by hand, and networks that do not care how nodes are numbered."""

import numpy as np
import pytest

from learned_cases import random_linear, random_network, random_states, sight_of
from sequoia.models import scores
from sequoia.models.network import features, messages
from sequoia.models.scores import LinearScores, batches
from sequoia.models.sight import Sight
from sequoia.problem.families import capacity, epidemic, interventions

PROBLEMS = [capacity(arms=4), epidemic(arms=6), interventions(arms=6)]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_score_is_the_sum_over_the_outlets_of_its_column(problem):
    sight = sight_of(problem)
    linear = random_linear(sight)
    states, steps = random_states(problem, 3)
    found = linear.scores(states, steps)
    local, times = sight.local(states), sight.times(steps)
    for row in range(0, len(states), 7):
        wanted = linear.bias @ times[row]
        for place, (node, column) in enumerate(zip(sight.node, sight.column, strict=True)):
            wanted[column] += local[row, node] @ linear.weights[place] @ times[row]
        assert found[row] == pytest.approx(wanted)


def test_rows_in_parts_are_rows_together(monkeypatch):
    problem = PROBLEMS[1]
    sight = sight_of(problem)
    linear, network = random_linear(sight), random_network(sight)
    states, steps = random_states(problem, 5)
    whole = [one.scores(states, steps) for one in (linear, network)]
    monkeypatch.setattr(scores, "_TOGETHER", 700)
    assert len(batches(len(states), 100)) == -(-len(states) // 7)
    assert linear.scores(states, steps) == pytest.approx(whole[0])
    assert network.scores(states, steps) == pytest.approx(whole[1], rel=1e-4, abs=1e-5)


def test_a_shared_network_says_the_same_however_nodes_are_numbered():
    problem = epidemic(arms=6)
    sight = sight_of(problem)
    network = random_network(sight)
    states, steps = random_states(problem, 3)
    order = np.random.default_rng(0).permutation(6)
    arrays = sight.to_arrays()
    graph = sight.graph.toarray()[np.ix_(order, order)]
    row, other = np.nonzero(graph)
    arrays |= {
        "graph": np.stack([row, other]),
        "graph.weights": graph[row, other],
        "is_number": arrays["is_number"][order],
        "scale": arrays["scale"][order],
        "kinds": arrays["kinds"][order],
    }
    turned = type(network)(
        Sight.from_arrays(arrays), False, network.parameters, network.scale
    ).scores(states[:, order], steps)
    assert turned == pytest.approx(network.scores(states, steps)[:, order], rel=1e-4, abs=1e-5)


def test_a_network_of_the_whole_state_is_one_node():
    problem = capacity(arms=4)
    sight = sight_of(problem)
    states, steps = random_states(problem, 3)
    seen = features(sight, True, states, steps)
    assert seen.shape == (1, len(states), 4 * sight.n_shown + 1)
    assert messages(sight, True) == ()
    network = random_network(sight, is_whole=True)
    values = network.values(states, steps)
    assert values.shape == (len(states),)
    assert values.std() > 0


def test_nothing_learned_is_nothing_said():
    sight = sight_of(PROBLEMS[0])
    zeros = LinearScores(
        sight,
        np.zeros((len(sight.node), sight.n_local, sight.n_times)),
        np.zeros((sight.n_columns, sight.n_times)),
    )
    states, steps = random_states(PROBLEMS[0], 3)
    assert not zeros.scores(states, steps).any()
