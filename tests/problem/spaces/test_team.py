"""Team: several walkers, each on a round trip of limited time."""

import sys
import time
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
from sequoia.problem.spaces.team.engine import better_routes
from sequoia.problem.spaces.team.pricing import NgPaths
from sequoia.problem.spaces.team.time_flow import walker_groups
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
    begins, windows = None, None
    if draw(st.booleans()):
        begins = [480 + draw(st.integers(0, 9)) for _ in range(n_walkers)]
        opens = [draw(st.integers(470, 500)) for _ in range(n_arms)]
        windows = [(first, first + draw(st.integers(0, 20))) for first in opens]
    return team(
        "any",
        travel,
        [draw(st.integers(1, 4)) for _ in range(n_arms)],
        [draw(st.integers(0, size - 1)) for _ in range(n_walkers)],
        [draw(st.integers(0, 25)) for _ in range(n_walkers)],
        begins,
        windows,
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
            found = space.bracket_under(rows)(weights, Limits(gap=1e-9))
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
    action, bound = unlisted(space).bracket_linear(weights, Limits(gap=1e-9))
    assert weights @ action == pytest.approx(best)
    assert bound >= best - 1e-9


def town(arms, walkers, minutes, seed=0):
    """A team at real size: a town of 20 km, visits of 15 to 45 minutes, some at certain hours."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(0, 20, (arms + 1, 2))
    away = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
    windows = np.tile([0, 1_440], (arms, 1))
    windows[::3] = [9 * 60, 11 * 60]
    service = rng.integers(15, 46, arms)
    travel = np.ceil(3 * away)
    space = Team(travel, service, [arms] * walkers, [minutes] * walkers, windows=windows)
    return space, rng.gamma(1.0, size=arms)


@pytest.mark.parametrize("size", [(40, 3, 300), (120, 20, 480), (60, 1, 480)])
@pytest.mark.parametrize("has_engine", [True, False])
def test_routes_at_real_size_keep_the_limit_of_time(monkeypatch, size, has_engine):
    if not has_engine:
        monkeypatch.setitem(sys.modules, "pyvrp", None)
    space, weights = town(*size)
    began = time.monotonic()
    action, bound = space.bracket_linear(weights, Limits(seconds=1.0))
    # What is counted in work may take a slow machine long; hours are what it once took.
    assert time.monotonic() - began < 60
    assert 0 < weights @ action <= bound
    decision = space.certify(action)
    for walker, route in enumerate(space.routes(decision)):
        times = [task.when for task in space.tasks(decision) if task.who == f"walker {walker}"]
        assert times == sorted(times)
        for arm in route:
            when = next(t.when for t in space.tasks(decision) if t.where == space.names[arm])
            assert arm % 3 or "09:00" <= when <= "11:00"


def test_routing_with_prizes_is_within_a_per_cent_of_what_is_proven():
    space, weights = town(14, 2, 150)
    best = float(weights @ space.argmax_linear(weights))
    routes = better_routes(
        space._map, walker_groups(space._map), weights, [[], []], Limits(seconds=20)
    )
    assert best >= weights[[arm for route in routes for arm in route]].sum() >= 0.99 * best


def stopped(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize("at", ["engine", "search"])
def test_what_was_found_when_somebody_stops_it_is_there_for_the_next_question(monkeypatch, at):
    space, weights = town(150, 3, 480)  # Far too many routes to list.
    with monkeypatch.context() as patch:
        if at == "engine":
            pytest.importorskip("pyvrp")
            patch.setattr("pyvrp.solve", stopped)
        else:
            patch.setattr(search, "better_routes", stopped)
        with pytest.raises(KeyboardInterrupt):
            space.bracket_linear(weights, Limits(seconds=1.0))
        action, bound = space.bracket_linear(weights, Limits(seconds=0.5))
    assert 0 < weights @ action <= bound
    space.certify(action)


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
        "Walker 0 goes base → x → y → base, 08:00 to 08:15 (15 of 15 minutes)"
    ]
    assert space.tasks(space.certify([1, 1])) == [
        ("walker 0", "08:02", "x", "serve, 5 minutes"),
        ("walker 0", "08:10", "y", "serve, 1 minute"),
        ("walker 0", "08:15", "base", "return"),
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
        ({"begins": [1440]}, r"team\.begins\[0\] is 1440; minutes from 0 to 1439 are wanted"),
        (
            {"windows": [[0, 9], [9, 0], [0, 9]]},
            r"team\.windows\[1, 0\] is 9; a first minute and a last, not before it, are wanted",
        ),
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
        action, bound = space.bracket_linear(weights, Limits(gap=1e-6))
        assert space.contains(action[None])[0]
        chosen = action.astype(bool)
        assert chosen[12]
        assert chosen[4:9].sum() >= 2
        assert chosen[:4].sum() >= 0.4 * chosen.sum()
        assert weights @ action <= bound + 1e-9
    other = Highs().solve(space.compact.program(weights), Limits(nodes=1))
    assert other.values is None or other.objective <= bound + 1e-6


def test_times_of_visits_and_walkers_are_written_and_read(tmp_path):
    problem = make("team", arms=4, depots=1)
    space = replace(
        problem.space,
        begins=[510, 480, 480],
        windows=[[540, 600], *([[0, 101_440]] * 3)],
    )
    save(replace(problem, space=space), tmp_path / "p")
    assert "09:00,10:00" in (tmp_path / "p" / "actions.csv").read_text()
    assert "08:30" in (tmp_path / "p" / "workers.csv").read_text()
    read = load(tmp_path / "p").space
    assert (read.windows == space.windows).all()
    assert (read.begins == space.begins).all()
    actions = (tmp_path / "p" / "actions.csv").read_text()
    (tmp_path / "p" / "actions.csv").write_text(actions.replace("09:00", "nine"))
    with pytest.raises(FileError, match=r"actions.csv row 2, column 'earliest' is 'nine'; a time"):
        load(tmp_path / "p")


def by_coordinates(folder, rows, mode="car"):
    """Write a team whose ways are given by coordinates."""
    save(make("team", arms=len(rows) - 1, depots=1, walkers=1, minutes=240), folder)
    (folder / "travel.csv").unlink()
    names = [line.split(",")[0] for line in (folder / "actions.csv").read_text().splitlines()[1:]]
    lines = [f"{name},20,{lat},{lon}" for name, (lat, lon) in zip(names, rows, strict=False)]
    (folder / "actions.csv").write_text("\n".join(["name,minutes,lat,lon", *lines]) + "\n")
    (folder / "places.csv").write_text("name,lat,lon\nClinic,{},{}\n".format(*rows[-1]))
    (folder / "workers.csv").write_text("name,depot,minutes,begins\nAnna,Clinic,240,08:30\n")
    text = (folder / "problem.toml").read_text()
    (folder / "problem.toml").write_text(
        text.replace('kind = "team"', f'kind = "team"\nmode = "{mode}"')
    )


LUSAKA = [(-15.41, 28.28), (-15.40, 28.30), (-15.43, 28.31), (-15.42, 28.29)]


def test_ways_by_coordinates(tmp_path):
    """A hundredth of a degree of latitude is 1.11 km: 1.45 by road, 2.9 minutes at 30 km/h."""
    by_coordinates(tmp_path / "p", [(-15.41, 28.28), (-15.42, 28.28), (-15.43, 28.28)])
    space = load(tmp_path / "p").space
    assert space.travel.tolist() == [[0, 3, 6], [3, 0, 3], [6, 3, 0]]
    assert space.tasks(space.certify([0, 1]))[0].when == "08:33"
    by_coordinates(tmp_path / "q", LUSAKA, mode="walk")
    by_coordinates(tmp_path / "r", LUSAKA, mode="bicycle")
    walk, ride = load(tmp_path / "q").space.travel, load(tmp_path / "r").space.travel
    assert (walk[~np.eye(4, dtype=bool)] > ride[~np.eye(4, dtype=bool)]).all()


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ((28.28, -15.41), r"actions.csv row 3: .* latitude and longitude look swapped"),
        ((-15.41, 128.28), r"actions.csv row 3: .* 10,\d{3} km from the middle .* too far"),
        ((-95.41, 28.28), r"actions.csv row 3: .*; latitude and longitude look swapped"),
        ((-195.41, 28.28), r"actions.csv row 3: .*; -90 to 90 and -180 to 180 degrees"),
    ],
)
def test_coordinates_that_cannot_be_meant(tmp_path, place, message):
    by_coordinates(tmp_path / "p", [LUSAKA[0], place, *LUSAKA[1:]])
    with pytest.raises(FileError, match=message):
        load(tmp_path / "p")


def test_an_unknown_way_to_travel(tmp_path):
    by_coordinates(tmp_path / "p", LUSAKA, mode="boat")
    with pytest.raises(FileError, match=r"option 'mode' is 'boat'; one of walk, bicycle, car"):
        load(tmp_path / "p")


def test_a_visit_outside_all_hours_says_so():
    space = Team(TRAVEL, [1, 1, 1], [3], [60], windows=[[0, 470], [0, 999], [0, 999]])
    with pytest.raises(InfeasibleDecision, match=r"arm 0 cannot be served: .* from 00:00 to 07:50"):
        space.certify([1, 0, 0])
