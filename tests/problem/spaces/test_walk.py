"""Path: closed walks on a graph."""

from collections import Counter
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from examples import (
    action_of,
    check_feasible_set,
    check_growth,
    check_questions,
    chosen_of,
    is_accepted,
    neighbours_of,
    path,
    sets_of_closed_walks,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from sequoia.errors import InfeasibleDecision, ProblemError
from sequoia.problem.families import routing
from sequoia.problem.spaces import Walk
from sequoia.problem.spaces.walk import tours
from sequoia.problem.system import Decision


@st.composite
def paths(draw, nodes=5, longest_edge=3, length=7):
    size = draw(st.integers(2, nodes))
    edges = draw(st.sets(st.sampled_from(list(combinations(range(size), 2))), min_size=1))
    edges = [edge if draw(st.booleans()) else edge[::-1] for edge in sorted(edges)]
    lengths = draw(
        st.none() | st.lists(st.integers(1, longest_edge), min_size=len(edges), max_size=len(edges))
    )
    return path(
        "any",
        edges,
        draw(st.integers(0, size - 1)),
        draw(st.integers(1, length)),
        draw(st.integers(0, size)),
        lengths,
        size,
    )


def neighbours(space):
    return neighbours_of(space.n_actions, space.edges.tolist(), space.lengths.tolist())


def closed_walks(space):
    """Return every closed walk of at most ``length`` steps as a tuple of nodes."""
    found = []

    def follow(route, left):
        if route[-1] == space.source:
            found.append(route)
        for other, takes in neighbours(space)[route[-1]].items():
            if takes <= left:
                follow((*route, other), left - takes)

    follow((space.source,), space.length)
    return found


@settings(deadline=None, max_examples=60)
@given(paths())
def test_feasible_set_of_any_path(example):
    check_feasible_set(example)


@settings(deadline=None, max_examples=50)
@given(paths(nodes=7, length=10))
def test_questions_about_any_path(example):
    check_questions(example)


@settings(deadline=None, max_examples=80)
@given(paths(nodes=7, length=9), st.integers(0, 2**32))
def test_draws_and_their_walks(example, seed):
    """The plan is a closed walk along edges, and the action lies on it."""
    space = example.space
    drawn = space.sample(np.random.default_rng(seed))
    assert space.system.violations(drawn) == []
    walk = space.walk(drawn)
    takes = [neighbours(space)[a][b] for a, b in pairwise(walk)]
    assert walk[0] == walk[-1] == space.source
    assert sum(takes) <= space.length
    assert chosen_of(drawn.action) <= set(walk)
    assert drawn.action.sum() == min(space.limit, len(set(walk)))


@settings(deadline=None, max_examples=70)
@given(paths(nodes=7, length=9), st.integers(0, 2**32))
def test_growth_lists_the_walk_and_every_detour(example, seed):
    space, rng = example.space, np.random.default_rng(seed)
    near = neighbours(space)
    graph = nx.Graph()
    graph.add_nodes_from(near)
    graph.add_edges_from((a, b, {"n": n}) for a in near for b, n in near[a].items())
    steps = dict(nx.all_pairs_dijkstra_path_length(graph, weight="n"))
    decision = space.idle if rng.random() < 0.5 else space.sample(rng)
    while True:
        walk = space.walk(decision)
        slack = space.length - sum(near[a][b] for a, b in pairwise(walk))
        expected = []
        for node in set(range(space.n_actions)) - chosen_of(decision.action):
            if node not in steps[space.source]:
                continue
            there_and_back = min(2 * steps[stop][node] for stop in walk)
            instead = [steps[a][node] + steps[node][b] - near[a][b] for a, b in pairwise(walk)]
            if min([there_and_back, *instead]) <= slack:
                expected.append(node)
        if decision.action.sum() >= space.limit:
            expected = []
        assert sorted(space.extensions(decision).columns.tolist()) == sorted(expected)
        grown = check_growth(example, decision)
        if not grown:
            break
        decision = grown[rng.integers(len(grown))]


def test_growth_may_leave_a_slow_edge():
    """Replacing a long edge by a shorter way around gains steps."""
    example = path("slow", [(0, 1), (0, 2), (2, 1), (2, 3), (3, 4)], 0, 10, 5, [5, 1, 1, 1, 1])
    space = example.space
    decision = Decision(action_of({1}, 5), space._time_expanded.plan([0, 1, 0]))
    assert space.system.violations(decision) == []
    # Node 4 is reached in 6 steps instead of the 5 of the edge, and no step is left.
    assert space.extensions(decision).columns.tolist() == [0, 2, 3]
    check_growth(example, decision)


@pytest.mark.parametrize("lengths", [None, [1, 2, 1, 3, 1]], ids=["unit", "mixed"])
def test_draw_is_uniform_over_closed_walks(lengths):
    space = Walk([(0, 1), (1, 2), (2, 0), (2, 3), (1, 3)], 0, 6, 4, lengths)
    walks = closed_walks(space)
    assert len(set(walks)) == len(walks) > 15
    rng = np.random.default_rng(7)
    counts = Counter(tuple(space.walk(space.sample(rng))) for _ in range(50 * len(walks)))
    assert set(counts) <= set(walks)
    assert chisquare([counts[walk] for walk in walks]).pvalue > 1e-3


def test_draw_chooses_uniformly_along_the_walk():
    """With a limit, each visited node is as likely to be acted on as another."""
    space, rng = Walk([(0, 1)], 0, 2, 1), np.random.default_rng(0)
    long = [d for d in (space.sample(rng) for _ in range(2000)) if len(space.walk(d)) == 3]
    counts = np.sum([d.action for d in long], axis=0)
    assert chisquare(counts).pvalue > 1e-3


def test_counts_of_long_walks_neither_overflow_nor_vanish():
    """About 4 ** 900 walks; the last steps must still lead home."""
    space = Walk(list(combinations(range(5), 2)), 2, 900, 5)
    route = space._sampler.sample(np.random.default_rng(0))
    assert route[0] == route[-1] == 2
    assert 800 < len(route) - 1 <= 900


@pytest.mark.parametrize(
    ("length", "lengths"), [(10, None), (13, [1, 2, 1, 1, 2, 1, 1, 1, 3, 1, 1])]
)
def test_more_stops_than_orders_can_be_tried_for(length, lengths):
    edges = [(0, i) for i in range(1, 5)] + [(i, i + 4) for i in range(1, 5)]
    edges += [(5, 9), (9, 6), (7, 8)]
    example = path("ten nodes", edges, 0, length, 10, lengths)
    space = example.space
    many = [frozenset(c) for k in (8, 9, 10) for c in combinations(range(10), k)]
    actions = np.array([action_of(c, 10) for c in many])
    expected = [example.accepts(c) for c in many]
    assert 0 < sum(expected) < len(many)
    assert space.contains(actions).tolist() == expected
    for chosen, action, fine in zip(many, actions, expected, strict=True):
        assert is_accepted(space.compact, chosen) == fine
        if fine:
            assert space.system.violations(space.certify(action)) == []
        else:
            with pytest.raises(InfeasibleDecision, match="no closed walk"):
                space.certify(action)


def test_heuristic_that_fails_asks_the_solver(monkeypatch):
    """A bad order of stops must not turn a feasible action away."""
    monkeypatch.setattr(tours, "MAX_STOPS_BY_ORDER", 1)
    monkeypatch.setattr(tours, "best_order", lambda *where: where[2][::2] + where[2][1::2])
    ring = [(i, (i + 1) % 6) for i in range(6)]
    example = path("ring", ring, 0, 6, 6)
    assert len(example.feasible) == 2**6
    check_questions(example)


@pytest.fixture(scope="module")
def tube():
    return routing(arms=20).space


@pytest.fixture(scope="module")
def visited(tube):
    """What each closed walk of ten steps on the 20 stations visits."""
    return sets_of_closed_walks(neighbours(tube), tube.source, 10)


def test_underground_enumeration_is_that_of_all_walks(tube, visited):
    """All sets of up to five stations that some closed walk of ten steps visits."""
    assert (tube.length, tube.limit) == (10, 5)
    largest = {a for a in visited if not any(a < b for b in visited)}
    expected = {frozenset(c) for a in largest for k in range(6) for c in combinations(a, k)}
    assert {chosen_of(action) for action in tube.enumerate(20_000)} == expected


def test_underground_refuses_what_no_walk_can_visit(tube, visited):
    """Five stations, each within reach, that no closed walk of ten steps joins."""
    alone = set().union(*visited)
    impossible = next(
        frozenset(c)
        for c in combinations(sorted(alone, reverse=True), 5)
        if not any(a.issuperset(c) for a in visited)
    )
    action = action_of(impossible, 20)
    assert not tube.contains(action[None, :])[0]
    assert not is_accepted(tube.system, impossible)
    assert not is_accepted(tube.compact, impossible)
    with pytest.raises(InfeasibleDecision, match="no closed walk of at most 10 steps from"):
        tube.certify(action)
    possible = next(a for a in visited if len(a) == 5)
    assert is_accepted(tube.system, possible)
    assert is_accepted(tube.compact, possible)


@pytest.mark.parametrize(("arms", "rows", "columns"), [(20, 213, 800), (100, 4043, 14740)])
def test_underground_has_the_sizes_of_the_paper(arms, rows, columns):
    system = routing(arms=arms).space.system
    assert (system.n_rows, system.n_columns) == (rows, columns)


def test_one_step_at_a_time_binds_loops_too(tube):
    """The authors' waiting loops escape this rule, so that walks may be in two places."""
    staying = tube.idle
    names = list(tube.system.column_names)
    elsewhere = (tube.source + 1) % 20
    loop = names.index(f"{tube.names[elsewhere]} → {tube.names[elsewhere]} in step 3") - 20
    plan = staying.plan.copy()
    plan[loop] = 1
    found = tube.system.violations(Decision(staying.action, plan))
    assert any('"one move in step 3": 2 > 1' in line for line in found)


def test_described_by_station_names():
    space = Walk([(0, 1), (1, 2)], 0, 5, 2, names=["Green Park", "Victoria", "Pimlico"])
    assert space.describe(space.certify([0, 1, 1])) == [
        "Walk Green Park → Victoria → Pimlico → Victoria → Green Park (4 of 5 steps)",
        "Act on Victoria and Pimlico",
    ]
    assert space.describe(space.certify([1, 0, 0])) == ["Stay at Green Park", "Act on Green Park"]
    assert space.describe(space.idle) == ["Stay at Green Park", "Act on nothing"]


def test_described_steps_count_the_length_of_edges():
    space = Walk([(0, 1)], 0, 7, 2, [3])
    assert space.describe(space.certify([0, 1]))[0].endswith("(6 of 7 steps)")


def test_refusals_say_why():
    space = Walk([(0, 1), (1, 2)], 0, 3, 1)
    with pytest.raises(InfeasibleDecision, match="2 nodes chosen; at most 1 may be"):
        space.certify([1, 1, 0])
    with pytest.raises(InfeasibleDecision, match="3 steps from node 0 visits node 2"):
        space.certify([0, 0, 1])


def test_from_any_networkx_graph():
    graph = nx.Graph()
    graph.add_edge("a", "b", length=2)
    graph.add_edge("b", 7)
    space = Walk.from_graph(graph, "b", 4, 2)
    assert list(space.names) == ["a", "b", "7"]
    assert space.source == 1
    assert space.lengths.tolist() == [2, 1]
    assert space.positions is None
    assert {chosen_of(a) for a in space.enumerate(20)} == {
        frozenset(c) for c in ([], [0], [1], [2], [0, 1], [1, 2])
    }
    with pytest.raises(ProblemError, match="source names 'c', which is unknown"):
        Walk.from_graph(graph, "c", 4, 2)


def test_a_single_node_can_be_acted_on():
    space = Walk(np.empty((0, 2)), 0, 3, 1)
    assert space.enumerate(5).tolist() == [[0], [1]]
    assert space.system.violations(space.sample(np.random.default_rng(0))) == []


def test_distances_count_the_length_of_edges():
    space = Walk([(0, 1), (1, 2), (0, 2), (3, 4)], 0, 3, 2, [1, 1, 5, 1])
    assert space.distance[0].tolist() == [0, 1, 2, np.inf, np.inf]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edges": [(0, 1, 2)]}, r"walk\.edges has shape \(1, 3\); \(any, 2\)"),
        ({"edges": [(0, 1), (1, -1)]}, r"walk\.edges\[1, 1\] is -1; nodes are numbered from 0"),
        ({"edges": [(0, 0.5)]}, r"walk\.edges holds values that are not int64"),
        ({"edges": [(0, 1), (2, 2)]}, r"walk\.edges\[1\] is 2; an edge joins two different"),
        ({"edges": [(0, 1), (1, 0)]}, r"walk\.edges\[1\] repeats the edge 0–1"),
        ({"edges": [(0, 3)], "names": ["a", "b"]}, r"walk\.edges\[0, 1\] is 3; there are only 2"),
        ({"lengths": [1]}, r"walk\.lengths has shape \(1,\); \(2\)"),
        ({"lengths": [1, 0]}, r"walk\.lengths\[1\] is 0; a length is a whole number"),
        ({"lengths": [1, 1.5]}, r"walk\.lengths holds values that are not int64"),
        ({"source": 3}, r"walk\.source is 3; a whole number from 0 to 2"),
        ({"source": "a"}, r"walk\.source is a"),
        ({"length": 0}, r"walk\.length is 0; a whole number from 1 to 10000"),
        ({"length": np.inf}, r"walk\.length is inf"),
        ({"limit": -1}, r"walk\.limit is -1"),
        ({"limit": np.nan}, r"walk\.limit is nan"),
        ({"names": ["a", "b", "a"]}, r"walk\.names\[2\] repeats 'a'"),
        ({"positions": [[0, 0]]}, r"walk\.positions has shape \(1, 2\); \(3, 2\)"),
        ({"positions": [[0, 0], [0, np.nan], [1, 1]]}, r"walk\.positions\[1, 1\] is nan"),
    ],
)
def test_bad_input_names_the_place(arguments, message):
    valid = {"edges": [(0, 1), (1, 2)], "source": 0, "length": 4, "limit": 2}
    with pytest.raises(ProblemError, match=message):
        Walk(**valid | arguments)
