"""Team: several walkers, each on a round trip of limited time."""

from dataclasses import replace
from unittest import mock

import networkx as nx
import numpy as np
import pytest
from examples import check_feasible_set, chosen_of, team
from hypothesis import given, settings
from hypothesis import strategies as st

from sequoia import Floor, Rules, load, make, save
from sequoia.errors import FileError, InfeasibleDecision, ProblemError
from sequoia.optimize import ActionEncoding, LinearArgmax
from sequoia.problem.spaces import Team, with_rules
from sequoia.problem.spaces.team import pool, search
from sequoia.problem.spaces.team.pricing import NgPaths
from sequoia.rng import stream
from sequoia.solvers import Highs, Limits

TRAVEL = [[0, 2, 9, 4], [3, 0, 5, 8], [9, 4, 0, 3], [2, 7, 5, 0]]


def unlisted(space):
    """Return the same team, whose routes are taken to be too many to list."""
    space = replace(space)
    with mock.patch.object(search, "maximal_routes", return_value=None):
        assert space._finder._search.pool is None
    return space


@st.composite
def teams(draw, arms=4, walkers=2):
    """Any small team; a way may be missing, as long as there is one round about."""
    n_arms = draw(st.integers(1, arms))
    size = n_arms + draw(st.integers(0, 1))
    minutes = st.one_of(st.integers(0, 9), st.just(float("inf")))
    travel = [[0 if a == b else draw(minutes) for b in range(size)] for a in range(size)]
    for a in range(size):
        travel[a][(a + 1) % size] = draw(st.integers(0, 9))
    for a in range(size):
        travel[a][a] = 0
    n_walkers = draw(st.integers(1, walkers))
    return team(
        "any",
        travel,
        [draw(st.integers(1, 4)) for _ in range(n_arms)],
        [draw(st.integers(0, size - 1)) for _ in range(n_walkers)],
        [draw(st.integers(0, 25)) for _ in range(n_walkers)],
    )


@settings(deadline=None, max_examples=40)
@given(teams())
def test_feasible_set_of_any_team(example):
    check_feasible_set(example)


def test_a_stop_on_the_way_that_is_worth_less_than_nothing_is_left_out():
    away = [[0, 0, 0, 2, 0, 0], *([7, 0, 0, 2, 0, 0] for _ in range(5))]
    away[3] = [7, 0, 0, 0, 0, 0]
    space = Team(travel=away, service=[1, 4, 1, 1, 1], depots=[0], limits=[13])
    weights = np.random.default_rng(73849561).normal(size=5)
    assert weights @ space.argmax_linear(weights) == (space.enumerate(100) @ weights).max()


@settings(deadline=None, max_examples=60)
@given(teams(arms=5), st.integers(0, 2**32))
def test_best_action_of_any_team(example, seed):
    rng = np.random.default_rng(seed)
    for space in (example.space, unlisted(example.space)):
        weights = rng.normal(size=space.n_actions)
        best = max(sum(weights[list(chosen)]) for chosen in example.feasible)
        found = space.argmax_linear(weights)
        assert chosen_of(found) in example.feasible
        assert weights @ found == pytest.approx(best, abs=1e-9)
        good = space.construct_linear(weights[None])[0]
        assert chosen_of(good) in example.feasible
        assert weights @ good <= best + 1e-9


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("knobs", [{"minutes": 30}, {"minutes": 35, "depots": 2}])
def test_best_action_is_that_of_the_compact_program(seed, knobs):
    listed = make("team", arms=10, walkers=2, seed=seed, **knobs).space
    weights = np.random.default_rng(seed).gamma(1.0, size=10)
    best = Highs().solve(listed.compact.program(weights)).objective
    assert Highs().solve(listed.slim.program(weights)).objective == pytest.approx(best, rel=1e-6)
    for space in (listed, unlisted(listed)):
        found = space.argmax_linear(weights)
        assert weights @ found == pytest.approx(best, rel=1e-6)
        space.system.require(space.certify(found))


@settings(deadline=None, max_examples=40)
@given(teams(arms=5), st.integers(0, 2**32))
def test_best_action_of_any_team_under_rules(example, seed):
    """Rows are part of the master: what is found and proven is the best that they allow."""
    rng, space = np.random.default_rng(seed), example.space
    names = [space.names[column] for column in rng.permutation(space.n_actions)]
    rules = Rules(
        {"half": names[::2]},
        [Floor("half", share=float(rng.choice([0, 0.5])), count=int(rng.integers(0, 2)))],
        at_most_one=[names[1:]],
    )
    rows = rules.rows(space.names)
    weights = rng.normal(size=space.n_actions)
    actions = with_rules(space, rules).enumerate(1_000)
    for listed in (search.maximal_routes, lambda *_: None):
        with mock.patch.object(search, "maximal_routes", listed):
            found = space.bracket_under(rows)(weights, 1e-9)
        if found is None:
            assert not len(actions)
            continue
        action, bound = found
        assert (actions == action).all(axis=1).any()
        assert weights @ action == pytest.approx((actions @ weights).max(), abs=1e-9)
        assert bound >= (actions @ weights).max() - 1e-9


@pytest.mark.parametrize("seed", [4, 6, 9])
def test_paths_that_forget_miss_no_route(seed):
    """A path met first by a long way is met again by a shorter one, from which more is reached."""
    space, rng = make("team", arms=9, walkers=1, minutes=60, seed=seed).space, stream(seed, "test")
    fits, _, _ = space._map._by_sets(0, range(9))
    members = np.array([[chosen >> arm & 1 for arm in range(9)] for chosen in range(2**9)])[fits]
    for memory in (1, 4, 9):
        paths = NgPaths(space._map, 0, memory)
        for worth in rng.gamma(1.0, size=(5, 9)):
            paths.solve(worth)
            assert paths.value() >= (members @ worth).max() - 1e-9


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_search_that_gives_up_says_its_gap(monkeypatch, is_listed):
    problem = make("team", arms=20, minutes=45)
    weights = np.random.default_rng(1).gamma(1.0, size=20)
    best = float(weights @ problem.space.argmax_linear(weights))
    monkeypatch.setattr(pool, "_STARTS", 1)
    monkeypatch.setattr(pool, "_MOST_NODES", 0)
    monkeypatch.setattr(search, "_MOST_ROUNDS", 1)
    monkeypatch.setattr(search, "_FEW_LABELS", 0)
    monkeypatch.setattr(search, "_MOST_LABELS", 0)
    space = replace(problem.space) if is_listed else unlisted(problem.space)
    assert space.argmax_linear(weights) is None
    found = LinearArgmax(ActionEncoding.of_space(space)).maximise(weights[None])
    assert not found.is_proven[0]
    assert found.values[0] <= best + 1e-9 <= found.bounds[0] + 1e-8
    space.certify(found.actions[0])


@pytest.mark.parametrize("seed", range(3))
def test_routes_are_listed_by_the_prices_that_prove_the_bound(monkeypatch, seed):
    """Without any round of prices, the bound is that everybody is served, whatever routes lose."""
    space = make("team", arms=10, walkers=2, minutes=45, seed=seed).space
    weights = np.random.default_rng(seed).gamma(1.0, size=10)
    best = float(weights @ space.argmax_linear(weights))
    monkeypatch.setattr(search, "_MOST_ROUNDS", 0)
    action, bound = unlisted(space).bracket_linear(weights, 1e-9)
    assert weights @ action == pytest.approx(best)
    assert bound >= best - 1e-9


def test_a_wide_gap_is_kept():
    problem = make("team", arms=20)
    weights = np.random.default_rng(1).gamma(1.0, size=20)
    argmax = LinearArgmax(ActionEncoding.of_problem(problem))
    found = argmax.maximise(weights[None], Limits(gap=0.05))
    exact = argmax.maximise(weights[None])
    assert exact.is_proven[0]
    assert found.gaps[0] <= 0.06
    assert found.values[0] <= exact.values[0] + 1e-9 <= found.bounds[0] + 1e-8


def test_ways_round_about_are_taken_where_they_are_shorter():
    space = Team([[0, 10, 1], [10, 0, 1], [1, 1, 0]], [1, 1], [2], [6])
    assert space.travel[0, 1] == 2
    assert space.contains([[1, 1]])[0]
    assert not Team([[0, 10, 1], [10, 0, 1], [1, 1, 0]], [1, 1], [2], [5]).contains([[1, 1]])[0]


def test_a_map_as_a_graph():
    graph = nx.DiGraph()
    graph.add_edge("base", "x", minutes=2)
    graph.add_edge("x", "y", minutes=3)
    graph.add_edge("y", "base", minutes=4)
    space = Team.from_graph(graph, {"x": 5, "y": 1}, ["base"], [15])
    assert list(space.names) == ["x", "y"]
    assert list(space.places) == ["base"]
    assert space.travel.tolist() == [[0, 3, 7], [6, 0, 4], [2, 5, 0]]
    assert space.describe(space.certify([1, 1])) == [
        "Walker 0 goes base → x → y → base (15 of 15 minutes)"
    ]
    assert space.tasks(space.certify([1, 1])) == [
        ("walker 0", "minute 2", "x", "serve, 5 minutes"),
        ("walker 0", "minute 10", "y", "serve, 1 minutes"),
        ("walker 0", "minute 15", "base", "return"),
    ]
    assert space.describe(space.idle) == ["Nobody sets out"]


def test_many_arms_are_served_by_routes_that_insertion_does_not_find():
    """More stops than sets are listed for: column generation decides."""
    around = np.abs(np.subtract.outer(np.arange(17), np.arange(17)))
    travel = np.minimum(around, 17 - around)
    space = Team(travel, np.ones(16), [16, 16], [16, 17])
    everybody = np.ones(16, dtype=np.int8)
    assert not space.contains(everybody[None])[0]
    enough = Team(travel, np.ones(16), [16, 16], [33, 0])
    decision = enough.certify(everybody)
    assert sorted(arm for route in enough.routes(decision) for arm in route) == list(range(16))


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ([0, 0, 1], r"^Far cannot be served: the round trip takes 41 minutes, and nobody has"),
        (
            [1, 1, 0],
            r"^Ada and Bo cannot be served together: no routes of 14 minutes from 1 walker",
        ),
    ],
)
def test_refusals_name_the_smallest_conflict(action, message):
    travel = [[0, 9, 25, 5], [9, 0, 25, 5], [25, 25, 0, 20], [5, 5, 20, 0]]
    space = Team(travel, [2, 2, 1], [3], [14], ["Ada", "Bo", "Far"])
    with pytest.raises(InfeasibleDecision, match=message):
        space.certify(action)


def test_written_and_read_with_places_of_their_own(tmp_path):
    problem = make("team", arms=8, depots=2)
    save(problem, tmp_path / "p")
    assert load(tmp_path / "p").fingerprint == problem.fingerprint
    travel = tmp_path / "p" / "travel.csv"
    rows = travel.read_text().splitlines()
    name = problem.space.names[3]
    kept = [row for row in rows if row.split(",")[1].strip('"') != name]
    travel.write_text("\n".join(kept) + "\n")
    with pytest.raises(
        (FileError, ProblemError), match=f"team.travel has no way from .* to {name}"
    ):
        load(tmp_path / "p")


def test_absent_walker_stays_at_home():
    space = Team(TRAVEL, [1, 1, 1], [3, 3], [12, 12])
    assert space.absent(["walker 0", "walker 1"]).contains([[0, 0, 0], [1, 0, 0]]).tolist() == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"travel": [[0, 1]]}, r"team\.travel has shape \(1, 2\); as many rows as columns"),
        ({"travel": [[0]]}, r"team\.travel has shape \(1, 1\).* a place for each of 3 arms"),
        (
            {"travel": [[0, np.nan, 1, 1], *TRAVEL[1:]]},
            r"team\.travel\[0, 1\] is nan; minutes from arm 0 to arm 1 are wanted",
        ),
        ({"travel": [[0, -1, 1, 1], *TRAVEL[1:]]}, r"team\.travel\[0, 1\] is -1"),
        ({"travel": [[0, 0.5, 1, 1], *TRAVEL[1:]]}, r"no whole numbers"),
        (
            {"travel": [[0, np.inf, np.inf, np.inf], *TRAVEL[1:]]},
            r"team\.travel has no way from arm 0 to arm 1, not even round about; 3 pairs",
        ),
        ({"service": [1, 0, 1]}, r"team\.service\[1\] is 0; serving takes at least 1 minute"),
        ({"depots": [4]}, r"team\.depots\[0\] is 4; places are numbered from 0 to 3"),
        ({"limits": [10, 10]}, r"team\.limits has shape \(2,\); \(1\)"),
        ({"limits": [-1]}, r"team\.limits\[0\] is -1; 0 to 100000 minutes"),
        ({"names": ["a", "b", "b"]}, r"team\.names\[2\] repeats 'b'"),
        ({"names": ["a", "b", "place 0"]}, r"team\.names and places\[3\] repeats 'place 0'"),
    ],
)
def test_bad_input_names_the_place(arguments, message):
    valid = {"travel": TRAVEL, "service": [1, 1, 1], "depots": [3], "limits": [10]}
    with pytest.raises(ProblemError, match=message):
        Team(**valid | arguments)


def test_rules_over_several_arms_have_prices():
    """With more arms than can be listed, floors are kept, and the bound is one."""
    rng = np.random.default_rng(4)
    places = rng.integers(0, 20, (14, 2))
    travel = np.abs(places[:, None] - places[None]).sum(axis=2)
    plain = Team(travel, np.full(13, 2), [13, 13], [70, 60])
    names = plain.names
    rules = Rules(
        groups={"far": names[:4], "near": names[4:9]},
        floors=[Floor("far", share=0.4), Floor("near", count=2)],
        must=[names[12]],
    )
    space = with_rules(plain, rules)
    for _ in range(3):
        weights = rng.uniform(0.1, 1.0, 13)
        action, bound = space.bracket_linear(weights, 1e-6)
        assert space.contains(action[None])[0]
        chosen = action.astype(bool)
        assert chosen[12]
        assert chosen[4:9].sum() >= 2
        assert chosen[:4].sum() >= 0.4 * chosen.sum()
        assert weights @ action <= bound + 1e-9
    other = Highs().solve(space.compact.program(weights), Limits(nodes=1))
    assert other.values is None or other.objective <= bound + 1e-6
