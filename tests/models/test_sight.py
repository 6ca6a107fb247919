"""What is seen of a state: indicators, numbers, surroundings and outlets; and all of it on disk."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from learned_cases import DeclaredSwitches, random_states, sight_of
from sequoia.models.sight import Sight
from sequoia.problem import Dependencies
from sequoia.problem.families import capacity, epidemic, interventions

# A path of three components: a state of few values, one of shares, and one of few values again.
STATES = np.array([[0, 0.25, 2], [1, 0.5, 0], [2, -4.0, 1], [0, 1.5, 2]])
PATH = Dependencies([[0, 1, 0], [0, 0, 3], [0, 0, 0]], np.eye(3), kinds=[0, 1, 0])


def seen(is_timeless=False, structure=PATH):
    return Sight.of(STATES, structure, 4, is_timeless)


def test_few_whole_values_are_indicators_and_others_numbers_with_their_squares():
    sight = seen()
    assert sight.values.tolist() == [0, 1, 2]
    assert sight.is_number.tolist() == [False, True, False]
    assert sight.n_shown == 4
    shown = sight.shown(STATES)
    assert shown[2, 0].tolist() == [0, 1, 0, 0]
    assert shown[0, 0].tolist() == [0, 0, 0, 0]
    assert shown[1, 1].tolist() == [0, 0, 0.125, 0.015625]
    assert shown[2, 1].tolist() == [0, 0, -1, 1]


def test_more_than_eight_whole_values_are_numbers():
    states = np.arange(9)[:, None] * [1, -1]
    sight = Sight.of(states, Dependencies(np.zeros((2, 2)), np.eye(2)), 4, False)
    assert sight.is_number.tolist() == [True, True]
    assert sight.shown(states)[4].tolist() == [[0.5, 0.25], [-0.5, 0.25]]


def test_what_never_changes_is_seen_as_nothing():
    sight = Sight.of(np.full((5, 2), 3), Dependencies(np.zeros((2, 2)), np.eye(2)), 4, False)
    assert not sight.shown(np.full((2, 2), 3)).any()
    assert sight.local(np.full((2, 2), 3)).shape == (2, 2, sight.n_local)


def test_surroundings_are_seen_from_both_ends_with_a_largest_sum_of_one():
    sight = seen()
    graph = sight.graph.toarray()
    assert np.allclose(graph, np.array([[0, 1, 0], [1, 0, 3], [0, 3, 0]]) / 4)
    shown = sight.shown(STATES)
    around = sight.around(shown)
    assert np.allclose(around[0, 1], (shown[0, 0] + 3 * shown[0, 2]) / 4)
    local = sight.local(STATES)
    assert local.shape == (4, 3, sight.n_local)
    assert (local[..., 0] == 1).all()
    products = local[2, 1, -16:].reshape(4, 4)
    assert np.allclose(products, np.outer(shown[2, 1], around[2, 1]))


def test_without_surroundings_a_component_sees_itself_alone():
    sight = seen(structure=Dependencies(np.zeros((3, 3)), np.eye(3)))
    assert sight.n_local == 5
    assert np.allclose(sight.local(STATES)[..., 1:], sight.shown(STATES))


def test_time_is_what_is_left_of_the_episode():
    sight = seen()
    assert sight.times(np.array([0, 3])).tolist() == [[1, 1, 1], [1, 0.25, 0.0625]]
    assert sight.is_over(np.array([3, 4, 5])).tolist() == [False, True, True]
    timeless = seen(is_timeless=True)
    assert timeless.times(np.array([0, 3])).tolist() == [[1], [1]]
    assert not timeless.is_over(np.array([3, 4, 5])).any()


def test_outlets_are_where_columns_reach_components():
    columns = csr_array(([1.0, 0.5, 2.0, 1.0], ([2, 0, 0, 1], [0, 1, 2, 2])), shape=(3, 3))
    sight = seen(structure=Dependencies(np.zeros((3, 3)), columns))
    outlets = list(zip(sight.column.tolist(), sight.node.tolist(), strict=True))
    assert outlets == [(0, 2), (1, 0), (2, 0), (2, 1)]
    assert sight.rank.tolist() == [0, 0, 1, 0]
    ones = np.ones(4)
    assert (ones @ sight.outlets_to_columns).tolist() == [1, 1, 2]
    assert (ones @ sight.outlets_to_nodes).tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    "environment",
    [capacity(arms=4), epidemic(arms=6), interventions(arms=6), DeclaredSwitches()],
    ids=lambda one: type(one).__name__ + one.name[:3],
)
@pytest.mark.parametrize("is_timeless", [True, False])
def test_arrays_hold_all_of_it(environment, is_timeless):
    sight = sight_of(environment, is_timeless=is_timeless)
    again = Sight.from_arrays(sight.to_arrays())
    states, steps = random_states(environment, seed=1)
    assert np.array_equal(again.local(states), sight.local(states))
    assert np.array_equal(again.times(steps), sight.times(steps))
    assert np.array_equal(again.kinds, sight.kinds)
    assert np.array_equal(again.rank, sight.rank)
    assert again.n_columns == sight.n_columns
    assert again.is_over(environment.horizon) == sight.is_over(environment.horizon)


def test_numbers_and_weights_of_the_graph_come_back_as_well():
    sight = seen()
    again = Sight.from_arrays(sight.to_arrays())
    assert np.array_equal(again.local(STATES), sight.local(STATES))
    assert np.array_equal(again.graph.toarray(), sight.graph.toarray())


def test_others_are_seen_like_those_that_they_are_like():
    other = Dependencies(np.eye(2, k=1), np.eye(2))
    sight = seen().for_others(np.array([1, 0]), other, 9)
    assert sight.shown(np.array([[-1.0, 2.0]])).tolist() == [[[0, 0, -0.25, 0.0625], [0, 1, 0, 0]]]
    assert sight.horizon == 9
    assert sight.n_columns == 2
