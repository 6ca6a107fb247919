"""The sweep over a graph: heaviest nodes along a closed walk."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from examples import chosen_of, path
from hypothesis import given, settings
from hypothesis import strategies as st
from test_walk import paths

from sequoia.problem.families import routing
from sequoia.problem.rules import Floor, Rules
from sequoia.problem.spaces import Walk, with_rules
from sequoia.problem.spaces.walk import tours
from sequoia.problem.spaces.walk.frontier_dp import frontier
from sequoia.problem.spaces.walk.frontier_dp.cells import tables
from sequoia.solvers import Highs, Status

weights_of = {
    "real": lambda rng, size: rng.standard_normal(size),
    "positive": lambda rng, size: rng.standard_exponential(size),
    "many ties": lambda rng, size: rng.integers(-1, 4, size).astype(float),
    "few": lambda rng, size: np.where(rng.random(size) < 0.3, rng.random(size), -1.0),
}
kinds = st.sampled_from(sorted(weights_of))


def heaviest_listed(example, weights):
    return max(sum(weights[list(chosen)]) for chosen in example.feasible)


@settings(deadline=None, max_examples=50)
@given(paths(nodes=8, length=14), kinds, st.integers(0, 2**32))
def test_heaviest_of_any_path(example, kind, seed):
    space = example.space
    weights = weights_of[kind](np.random.default_rng(seed), space.n_actions)
    action = space.argmax_linear(weights)
    assert action.dtype == np.int8
    assert chosen_of(action) in example.feasible
    assert weights @ action == pytest.approx(heaviest_listed(example, weights), abs=1e-9)


@settings(deadline=None, max_examples=50)
@given(paths(nodes=8, length=14), st.integers(0, 2**32))
def test_counted_tables_hold_the_best_for_every_limit(example, seed):
    """Without prices: column b is the best action on at most b nodes."""
    space = example.space
    weights = np.random.default_rng(seed).random(space.n_actions)
    if not len(space._frontier.edges):
        return
    found = tables(space._frontier.layers, weights, space.limit + 2)[-1].max(axis=0)
    for limit in range(1, space.limit + 1):
        best = max(sum(weights[list(c)]) for c in example.feasible if len(c) <= limit)
        assert found[limit] == pytest.approx(best)


def ladder(rungs):
    """Two rails with rungs between them, and a spur at each corner."""
    graph = nx.ladder_graph(rungs)
    for spur, node in enumerate((0, rungs - 1, rungs, 2 * rungs - 1)):
        graph.add_edge(node, 2 * rungs + spur)
    return graph


def ring_or_spur():
    """Six steps: a ring with five others on it, or a spur with three.

    Prices find no walk with three good nodes when the ring has many fair ones and the spur has two
    excellent ones.
    """
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    return path("ring or spur", [*ring, (0, 6), (6, 7), (7, 8)], 0, 6, 3)


def fair_and_perhaps_excellent(rng):
    return np.concatenate([[0], 3 + rng.random(5), [0], 6 * rng.random(2)])


def test_what_prices_cannot_prove_is_counted(monkeypatch):
    """Both ways to finish a search are taken, and both are right."""
    searched = []
    plain = frontier._Search._search
    monkeypatch.setattr(
        frontier._Search, "_search", lambda self, price: searched.append(1) or plain(self, price)
    )
    example = ring_or_spur()
    rng = np.random.default_rng(0)
    for _ in range(60):
        weights = fair_and_perhaps_excellent(rng)
        value = weights @ example.space.argmax_linear(weights)
        assert value == pytest.approx(heaviest_listed(example, weights))
    assert 0 < len(searched) < 60


@settings(deadline=None, max_examples=25)
@given(paths(nodes=5, length=6), st.integers(0, 2**32))
def test_same_as_the_unrolled_form(example, seed):
    space = example.space
    weights = np.random.default_rng(seed).standard_normal(space.n_actions)
    best = Highs().solve(space.system.program(weights)).objective
    assert weights @ space.argmax_linear(weights) == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize(("arms", "longest_edge"), [(20, 1), (20, 3), (40, 1)])
def test_same_as_the_solver_on_the_underground(arms, longest_edge):
    space = routing(arms=arms, longest_edge=longest_edge).space
    weights = np.random.default_rng(5).standard_normal(arms)
    action = space.argmax_linear(weights)
    space.certify(action)
    solution = Highs().solve(space.compact.program(weights))
    assert solution.status is Status.OPTIMAL
    assert weights @ action == pytest.approx(solution.objective, rel=1e-5)


def test_a_hundred_stations():
    """Feasible, no worse than any walk that is drawn, and no better than the relaxation."""
    space = routing(arms=100).space
    rng = np.random.default_rng(1)
    weights = rng.standard_normal(100)
    action = space.argmax_linear(weights)
    assert space.system.violations(space.certify(action)) == []
    assert action.sum() <= space.limit
    drawn = max(weights.clip(0) @ space.sample(rng).action for _ in range(200))
    program = space.compact.program(weights)
    relaxed = Highs().solve(replace(program, is_integer=np.zeros_like(program.is_integer)))
    assert drawn < weights @ action <= relaxed.objective + 1e-6


@pytest.mark.parametrize(
    ("space", "weights", "expected"),
    [
        (Walk(np.empty((0, 2)), 0, 3, 1), [2.0], {0}),
        (Walk(np.empty((0, 2)), 0, 3, 0), [2.0], set()),
        (Walk(np.empty((0, 2)), 0, 3, 1), [-2.0], set()),
        (Walk([(0, 1), (2, 3)], 0, 10, 9), [1.0, 1.0, 5.0, 5.0], {0, 1}),
        (Walk([(0, 1), (1, 2)], 0, 1, 3), [1.0, 2.0, 3.0], {0}),
        (Walk([(0, 1), (1, 2)], 0, 3, 3), [1.0, 2.0, 3.0], {0, 1}),
        (Walk([(0, 1), (1, 2)], 0, 4, 3), [1.0, 2.0, 3.0], {0, 1, 2}),
        (Walk([(0, 1), (1, 2), (2, 0)], 0, 3, 10**9), [1.0, 2.0, 3.0], {0, 1, 2}),
        (Walk([(0, 1), (1, 2)], 0, 4, 1), [1.0, 2.0, 3.0], {2}),
        (Walk([(0, 1), (1, 2)], 0, 4, 2), [-1.0, -2.0, -3.0], set()),
        (Walk([(0, 1), (1, 2)], 0, 4, 2), [0.0, -2.0, -np.inf], set()),
        (Walk([(0, 1), (1, 2)], 0, 400, 3, [100, 100]), [1.0, -2.0, 3.0], {0, 2}),
        (Walk([(0, 1), (1, 2)], 0, 399, 3, [100, 100]), [1.0, -2.0, 3.0], {0}),
        (Walk([(2, 1), (1, 0)], 1, 5, 2, names=list("abcd")), [1.0, 0.5, 2.0, 9.0], {0, 2}),
    ],
)
def test_corners(space, weights, expected):
    assert chosen_of(space.argmax_linear(np.array(weights))) == expected


def test_what_is_too_wide_is_left_to_a_solver():
    """A frontier of twelve nodes and more, and too many states behind a narrower one."""
    for graph in (nx.complete_graph(30), nx.grid_2d_graph(10, 10)):
        space = Walk.from_graph(nx.convert_node_labels_to_integers(graph), "0", 30, 10)
        assert space.argmax_linear(np.ones(space.n_actions)) is None


def test_too_many_moves_are_left_to_a_solver(monkeypatch):
    monkeypatch.setattr("sequoia.problem.spaces.walk.frontier_dp.cells.MOST_MOVES", 20)
    assert Walk([(0, 1), (1, 2), (2, 0)], 0, 9, 2).argmax_linear(np.ones(3)) is None


def test_too_much_to_count_is_left_to_a_solver(monkeypatch):
    monkeypatch.setattr(frontier, "MOST_ENTRIES", 10)
    space, rng = ring_or_spur().space, np.random.default_rng(0)
    answers = [space.argmax_linear(fair_and_perhaps_excellent(rng)) for _ in range(60)]
    assert 0 < sum(answer is None for answer in answers) < 60


def test_rules_over_several_columns_are_left_to_a_solver():
    walk = Walk([(0, 1)], 0, 2, 1)
    must = with_rules(walk, Rules(must=["node 1"]))
    assert must.argmax_linear(np.array([5.0, 1.0])).tolist() == [0, 1]
    floor = Rules(groups={"far": ["node 1"]}, floors=[Floor("far", share=0.5)])
    assert with_rules(walk, floor).argmax_linear(np.ones(2)) is None


@pytest.mark.parametrize("has_frontier", [True, False])
def test_walks_through_many_stops(monkeypatch, has_frontier):
    """When no order of stops fits at once, the sweep decides; where there is none, the solver."""
    monkeypatch.setattr(tours, "MAX_STOPS_BY_ORDER", 1)
    monkeypatch.setattr(tours, "best_order", lambda *where: where[2][::2] + where[2][1::2])
    if not has_frontier:
        monkeypatch.setattr(Walk, "_frontier", None)
    graph = ladder(3)
    example = path("ladder", list(graph.edges), 1, 10, 10)
    actions = np.random.default_rng(0).integers(0, 2, (40, 10)).astype(np.int8)
    expected = [example.accepts(chosen_of(action)) for action in actions]
    assert 0 < sum(expected) < 40
    assert example.space.contains(actions).tolist() == expected
    for action in actions[expected]:
        assert example.space.system.violations(example.space.certify(action)) == []


@settings(deadline=None, max_examples=60)
@given(paths(nodes=8, length=14), kinds, st.integers(0, 2**32))
def test_heavy_actions_of_any_path_are_feasible(example, kind, seed):
    space, rng = example.space, np.random.default_rng(seed)
    weights = np.array([weights_of[kind](rng, space.n_actions) for _ in range(5)])
    for action, own in zip(space.construct_linear(weights), weights, strict=True):
        assert chosen_of(action) in example.feasible
        assert 0 <= own @ action <= heaviest_listed(example, own) + 1e-9


@pytest.mark.parametrize("arms", [20, 40])
def test_heavy_actions_are_nearly_heaviest(arms):
    space = routing(arms=arms).space
    weights = np.random.default_rng(0).standard_exponential((30, arms))
    heavy = (space.construct_linear(weights) * weights).sum(axis=1)
    heaviest = [own @ space.argmax_linear(own) for own in weights]
    assert np.mean(heavy / heaviest) > 0.96
