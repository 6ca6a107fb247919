"""Families: the paper's numbers by default, and every knob does what it says."""

import inspect
import itertools

import networkx as nx
import numpy as np
import pytest

from sequoia.bounds import solve_exactly
from sequoia.errors import ProblemError
from sequoia.problem.families import (
    FAMILIES,
    capacity,
    epidemic,
    interventions,
    routing,
    scheduling,
    standard,
    trap,
)
from sequoia.problem.families.routing import route_on

SEEDED = [name for name in FAMILIES if name != "trap"]
LADDERS = [name for name in SEEDED if name not in ("epidemic", "wildfire")]
PAPER_SIZES = [(20, 5), (40, 10), (100, 20)]
LONG, SHORT = [0.2, 0.15, 0.1], [0.1, 0.15, 0.2]


def up(problem):
    """Return the probability of moving up from the bottom, by arm and dose."""
    return 1 - problem.arms.kernels[problem.arms.model, :, 0, 0]


def long_run(problem):
    return int((problem.arms.rewards[:, 0] == 0.2).sum())


def limit(problem):
    return int(problem.space.limit)


@pytest.mark.parametrize("name", LADDERS)
@pytest.mark.parametrize(("arms", "budget"), PAPER_SIZES)
def test_paper_defaults(name, arms, budget):
    problem = FAMILIES[name](arms=arms)
    assert problem.arms.n_arms == arms
    assert problem.arms.n_states == 4
    assert (problem.horizon, problem.discount) == (20, 0.99)
    assert problem.start.tolist() == [[0.8, 0.2, 0, 0]] * arms
    rewards = problem.arms.rewards
    is_long = rewards[:, 0] == 0.2
    assert is_long.sum() == budget
    np.testing.assert_allclose(rewards[is_long, :3], np.tile(LONG, (budget, 1)))
    np.testing.assert_allclose(rewards[~is_long, :3], np.tile(SHORT, (arms - budget, 1)))
    assert set(rewards[is_long, 3]) <= {4, 5, 6}
    assert set(rewards[~is_long, 3]) <= {1, 2, 3}
    assert len(set(rewards[:, 3])) > 3
    assert 0 < np.flatnonzero(is_long)[-1] != budget - 1, "long-run arms are at random positions"


@pytest.mark.parametrize("name", ["scheduling", "capacity", "routing", "standard"])
def test_arms_move_up_rarely_alone_and_mostly_when_acted_on(name):
    problem = FAMILIES[name](arms=100)
    alone, acted = up(problem).T
    assert (alone >= 0).all()
    assert (alone <= 0.2).all()
    assert (acted >= 0.7).all()
    assert (acted <= 0.9).all()
    assert np.ptp(alone) > 0.15
    assert np.ptp(acted) > 0.15
    kernels = problem.arms.kernels
    np.testing.assert_allclose(kernels[:, :, 1, 2], up(problem))
    np.testing.assert_allclose(kernels[:, :, 2, 1], 1 - up(problem))


@pytest.mark.parametrize(("arms", "budget"), PAPER_SIZES)
def test_capacity_draws_costs_and_capacities_in_range(arms, budget):
    space = capacity(arms=arms).space
    assert space.n_workers == budget
    assert set(space.costs) <= {2, 3, 4, 5, 6}
    assert set(space.capacities) <= {2, 3, 4, 5, 6, 7}
    if arms == 100:
        assert set(space.costs) == {2, 3, 4, 5, 6}
        assert len(set(space.capacities)) > 3


@pytest.mark.parametrize(("arms", "budget"), PAPER_SIZES)
def test_scheduling_opens_two_slots_per_arm_and_three_per_worker(arms, budget):
    space = scheduling(arms=arms).space
    assert space.arm_slots.shape == (arms, 5)
    assert space.worker_slots.shape == (budget, 5)
    assert (space.arm_slots.sum(axis=1) == 2).all()
    assert (space.worker_slots.sum(axis=1) == 3).all()
    assert (space.limit, space.visits, space.distinct_workers) == (budget, 2, False)
    assert len(np.unique(space.arm_slots, axis=0)) > 4


@pytest.mark.parametrize(("arms", "budget"), PAPER_SIZES)
def test_interventions_reach_three_arms_in_groups_of_three(arms, budget):
    problem = interventions(arms=arms)
    reached = problem.influence.toarray()
    assert reached.shape == (arms, 2 * budget)
    assert limit(problem) == budget
    assert (problem.space.costs == 1).all()
    assert set(reached.ravel()) == {0, 3}
    assert ((reached > 0).sum(axis=0) == 3).all()
    groups, sizes = np.unique(reached, axis=1, return_counts=True)
    assert sizes.max() == 3
    assert len(groups.T) == 2 * -(-budget // 3), "groups of three in each half, the rest in one"
    assert ((groups > 0).sum(axis=1) <= 1).all(), "groups reach different arms"


def test_interventions_need_several_doses_on_strong_arms():
    problem = interventions(arms=100)
    assert problem.arms.doses[0].tolist() == [0, 3, 6, 9]
    chances = up(problem)
    np.testing.assert_allclose(chances[:, 0], 0.01)
    is_strong = chances[:, 3] > 0.51
    assert is_strong.sum() == 50
    strong, weak = chances[is_strong], chances[~is_strong]
    # a ∈ [0.7, 1], b ∈ [1.4, 1.9], x₀ ∈ {9, 10}: at dose 3, b·x - x₀ is at most 5.7 - 9.
    assert strong[:, 1].max() < 0.06
    assert strong[:, 3].min() > 0.01 + 0.98 * 0.69 * 0.93
    # a ∈ [0.2, 0.5], b = 1, x₀ ∈ {1, 2}: the first dose already does most.
    gains = np.diff(weak, axis=1)
    assert (gains[:, 0] > gains[:, 1:].sum(axis=1)).all()
    assert weak[:, 3].max() <= 0.5
    reached = problem.influence.toarray() > 0
    of_strong = reached[is_strong].any(axis=0)
    of_weak = reached[~is_strong].any(axis=0)
    assert of_strong.sum() == 20
    assert (of_strong != of_weak).all(), "an intervention reaches strong arms or weak ones"


@pytest.mark.parametrize(
    ("arms", "budget", "edges", "rows"),
    [(20, 5, 29, 213), (40, 10, 56, None), (100, 20, 133, 4043)],
)
def test_routing_has_the_papers_sizes(arms, budget, edges, rows):
    space = routing(arms=arms).space
    assert (len(space.edges), space.limit, space.length) == (edges, budget, 2 * budget)
    assert space.system.n_columns == (2 * edges + arms) * 2 * budget + arms
    assert rows in (None, space.system.n_rows)
    assert (space.lengths == 1).all()
    assert space.positions.shape == (arms, 2)


def test_routing_stations_are_nested_and_connected():
    names = [set(routing(arms=arms).space.names) for arms in (20, 33, 40, 60, 80, 100)]
    assert all(small < large for small, large in itertools.pairwise(names))
    space = routing(arms=33).space
    assert np.isfinite(space.distance).all()
    assert list(space.names) == list(routing(arms=33).arms.names)


def test_routing_arms_do_not_depend_on_edge_lengths():
    plain, long = routing(), routing(longest_edge=4)
    np.testing.assert_array_equal(plain.arms.kernels, long.arms.kernels)
    assert set(long.space.lengths.tolist()) == {1, 2, 3, 4}


def test_routing_on_any_graph():
    graph = nx.Graph()
    graph.add_edge("x", "y", length=2)
    graph.add_edge("y", "z")
    problem = route_on(graph, "y", budget=2)
    assert list(problem.space.names) == ["x", "y", "z"] == list(problem.arms.names)
    assert (problem.space.source, problem.space.length, limit(problem)) == (1, 4, 2)
    assert problem.space.lengths.tolist() == [2, 1]
    with pytest.raises(ProblemError, match="source names 'w', which is unknown"):
        route_on(graph, "w")


def test_trap_has_the_papers_numbers():
    problem = trap()
    assert problem.arms.rewards.tolist() == [[0.1, 0.2, 1.0], [0.2, 0.1, 10.0]]
    assert up(problem).tolist() == [[0, 1], [0, 1]]
    assert problem.start.tolist() == [[1, 0, 0], [1, 0, 0]]
    assert problem.space.costs.tolist() == [1, 1]
    assert limit(problem) == 1
    assert (problem.horizon, problem.discount) == (20, 0.99)


def bends(problem):
    """Whether the probability of moving up is anything but a straight line in the dose."""
    up = problem.arms.kernels[:, :, 0, 1]
    return not np.allclose(np.diff(up, 2, axis=1), 0)


def caught(epidemic, pressure):
    """Return the probability that the first node falls ill by itself under a pressure."""
    model = epidemic.contagion.models[0, pressure]
    return round(float(epidemic.arms.kernels[model, 0, 1, 0]), 9)


def lit(wildfire, pressure):
    """Return the probability that the first tree catches fire under a pressure."""
    model = wildfire.contagion.models[0, pressure]
    return round(float(wildfire.arms.kernels[model, 0, 0, 1]), 9)


def edges(problem):
    return problem.contagion.neighbours.nnz // 2


def neighbours(problem):
    return set(np.diff(problem.contagion.neighbours.indptr).tolist())


def wet_tree(problem):
    """Return the probability that a treated tree without fires beside it is lit."""
    return problem.arms.kernels[0, 1, 0, 1]


def names(problem):
    return list(problem.arms.names)[:2]


def helped(problem):
    """Return the states in which treatment changes anything."""
    nothing, treated = problem.arms.kernels[problem.contagion.models[0, 1]]
    return np.flatnonzero((nothing != treated).any(axis=1)).tolist()


# family, knob, value, what it changes, and what that is then
KNOBS = [
    *[
        entry
        for name in SEEDED
        for entry in (
            (name, "arms", 12, lambda p: p.arms.n_arms, 12),
            (name, "horizon", 7, lambda p: p.horizon, 7),
            (name, "discount", 0.5, lambda p: p.discount, 0.5),
        )
    ],
    *[
        entry
        for name in LADDERS
        for entry in (
            (name, "states", 3, lambda p: p.arms.n_states, 3),
            (name, "long_run", 7, long_run, 7),
            (name, "long_run", 0, long_run, 0),
            (name, "start_share", 0.5, lambda p: p.start[3].tolist(), [0.5, 0.5, 0, 0]),
        )
    ],
    ("trap", "horizon", 7, lambda p: p.horizon, 7),
    ("trap", "discount", 0.5, lambda p: p.discount, 0.5),
    ("capacity", "workers", 3, lambda p: len(p.space.capacities), 3),
    ("capacity", "workers", 3, long_run, 3),
    ("capacity", "least_cost", 6, lambda p: set(p.space.costs), {6}),
    ("capacity", "most_cost", 2, lambda p: set(p.space.costs), {2}),
    ("capacity", "least_capacity", 7, lambda p: set(p.space.capacities), {7}),
    ("capacity", "most_capacity", 2, lambda p: set(p.space.capacities), {2}),
    ("scheduling", "workers", 3, lambda p: p.space.worker_slots.shape, (3, 5)),
    ("scheduling", "workers", 3, limit, 3),
    ("scheduling", "budget", 4, limit, 4),
    ("scheduling", "budget", 4, long_run, 4),
    ("scheduling", "slots", 7, lambda p: p.space.arm_slots.shape, (20, 7)),
    ("scheduling", "slots_per_arm", 4, lambda p: set(p.space.arm_slots.sum(axis=1)), {4}),
    ("scheduling", "slots_per_worker", 1, lambda p: set(p.space.worker_slots.sum(axis=1)), {1}),
    ("scheduling", "visits", 1, lambda p: p.space.visits, 1),
    ("scheduling", "distinct_workers", True, lambda p: p.space.distinct_workers, True),
    ("interventions", "budget", 4, limit, 4),
    ("interventions", "breakpoints", 2, bends, False),
    ("interventions", "budget", 4, lambda p: p.space.n_actions, 8),
    ("interventions", "actions", 13, lambda p: p.space.n_actions, 13),
    ("interventions", "reach", 2, lambda p: set((p.influence > 0).sum(axis=0)), {2}),
    ("interventions", "group", 1, lambda p: p.influence.sum(axis=1).max(), 3),
    ("interventions", "group", 5, lambda p: p.influence.sum(axis=1).max(), 15),
    ("interventions", "weight", 2.5, lambda p: set(p.influence.data), {2.5}),
    ("interventions", "weight", 2.5, lambda p: p.arms.doses[0].tolist(), [0, 2.5, 5, 7.5]),
    ("routing", "budget", 3, limit, 3),
    ("routing", "budget", 3, lambda p: p.space.length, 6),
    ("routing", "steps", 8, lambda p: p.space.length, 8),
    ("routing", "longest_edge", 3, lambda p: set(p.space.lengths.tolist()), {1, 2, 3}),
    ("standard", "budget", 3, limit, 3),
    ("standard", "budget", 3, long_run, 3),
    ("rota", "workers", 3, lambda p: p.space.minutes.shape, (3, 5)),
    ("rota", "workers", 3, long_run, 3),
    ("rota", "slots", 7, lambda p: p.space.arm_slots.shape, (20, 7)),
    ("rota", "slots_per_arm", 4, lambda p: set(p.space.arm_slots.sum(axis=1)), {4}),
    ("rota", "slots_per_worker", 2, lambda p: set(p.space.worker_slots.sum(axis=1)), {2}),
    ("rota", "least_minutes", 120, lambda p: set(p.space.minutes.max(axis=1)), {120}),
    ("rota", "most_minutes", 60, lambda p: set(p.space.minutes.max(axis=1)), {60}),
    ("rota", "least_length", 60, lambda p: set(p.space.lengths), {60}),
    ("rota", "most_length", 30, lambda p: set(p.space.lengths), {30}),
    ("rota", "visits", 3, lambda p: set(p.space.visits), {1, 2, 3}),
    ("rota", "may_visit", 1.0, lambda p: p.space.may_visit.mean(), 1.0),
    ("rota", "distinct_workers", True, lambda p: p.space.distinct_workers, True),
    ("rota", "most_in_a_row", 2, lambda p: p.space.most_in_a_row, 2),
    ("rota", "budget", 4, limit, 4),
    ("team", "walkers", 2, lambda p: len(p.space.limits), 2),
    ("team", "minutes", 45, lambda p: set(p.space.limits), {45}),
    ("team", "depots", 3, lambda p: len(set(p.space.depots.tolist())), 3),
    ("team", "least_travel", 5, lambda p: p.space.travel[p.space.travel > 0].min(), 5),
    ("team", "most_travel", 2, lambda p: bool((p.space.travel % 2 == 0).all()), True),
    ("team", "least_service", 15, lambda p: set(p.space.service), {15}),
    ("team", "most_service", 5, lambda p: set(p.space.service), {5}),
    ("epidemic", "budget", 3, limit, 3),
    ("epidemic", "route", True, lambda p: p.space.kind, "walk"),
    ("epidemic", "village", 5, lambda p: p.contagion.neighbours.nnz, 88),
    ("epidemic", "importance", 1, lambda p: set(p.arms.rewards[:, 1]), {1}),
    ("epidemic", "infect", 0.5, lambda p: caught(p, 3), 1 - 0.98 * 0.5**3),
    ("epidemic", "arrive", 0.1, lambda p: caught(p, 0), 0.1),
    ("epidemic", "recover", 0.25, lambda p: p.arms.kernels[0, 0, 0, 1], 0.25),
    ("epidemic", "cure", 0.5, lambda p: p.arms.kernels[2, 1, 0, 1], 0.5),
    ("epidemic", "protect", 0.5, lambda p: p.arms.kernels[0, 1, 1, 0], 0.01),
    ("epidemic", "sick_share", 0.5, lambda p: p.start[3].tolist(), [0.5, 0.5]),
    ("epidemic", "graph", "lattice", names, ["node 0-0", "node 0-1"]),
    ("epidemic", "graph", "small-world", edges, 40),
    ("epidemic", "disease", "sir", lambda p: p.arms.n_states, 3),
    ("epidemic", "treat", "infected", helped, [0]),
    ("epidemic", "treat", "healthy", helped, [1]),
    ("wildfire", "budget", 3, limit, 3),
    ("wildfire", "graph", "villages", names, ["node 0", "node 1"]),
    ("wildfire", "columns", 5, lambda p: p.arms.names[5], "node 1-0"),
    ("wildfire", "importance", 3, lambda p: set(p.arms.rewards[:, 0]), {1, 2, 3}),
    ("wildfire", "treat", "trees", helped, [0]),
    ("wildfire", "treat", "both", helped, [0, 1]),
    ("wildfire", "spread", 0.5, lambda p: lit(p, 3), 1 - 0.5**3),
    ("wildfire", "lightning", 0.1, lambda p: lit(p, 0), 0.1),
    ("wildfire", "burn_out", 0.25, lambda p: p.arms.kernels[0, 0, 1, 2], 0.25),
    ("wildfire", "douse", 0.5, lambda p: p.arms.kernels[0, 1, 1, 2], 0.5),
    ("wildfire", "burning", 5, lambda p: p.start.sum(axis=0).tolist(), [95, 5, 0]),
]

# The same for knobs that go with others
KNOBS_TOGETHER = [
    ("epidemic", {"graph": "lattice"}, "columns", 10, lambda p: p.arms.names[10], "node 1-0"),
    *[
        entry
        for name, count in (("epidemic", 20), ("wildfire", 100))
        for entry in (
            (name, {"graph": "villages"}, "village", 1, edges, count),
            (name, {"graph": "small-world"}, "degree", 2, edges, count),
            (name, {"graph": "small-world", "degree": 2}, "rewire", 0.0, neighbours, {2}),
        )
    ],
    (
        "epidemic",
        {"disease": "sir"},
        "vaccinate",
        0.5,
        lambda p: p.arms.kernels[0, 1, 1, 2],
        0.5,
    ),
    ("epidemic", {"disease": "sir"}, "wane", 0.5, lambda p: p.arms.kernels[0, 0, 2, 1], 0.5),
    ("wildfire", {"treat": "both", "lightning": 0.5}, "wet", 0.5, wet_tree, 0.25),
]


@pytest.mark.parametrize(("name", "knob", "value", "what", "wanted"), KNOBS)
def test_a_knob_changes_what_it_says(name, knob, value, what, wanted):
    assert what(FAMILIES[name]()) != wanted
    assert what(FAMILIES[name](**{knob: value})) == wanted


@pytest.mark.parametrize(("name", "others", "knob", "value", "what", "wanted"), KNOBS_TOGETHER)
def test_a_knob_that_goes_with_others_changes_what_it_says(name, others, knob, value, what, wanted):
    assert what(FAMILIES[name](**others)) != wanted
    assert what(FAMILIES[name](**others, **{knob: value})) == wanted


def test_skew_makes_arms_late_and_workers_early():
    def mean_slots(skew):
        spaces = [scheduling(arms=40, skew=skew, seed=seed).space for seed in range(30)]
        arms = np.mean([space.arm_slots.mean(axis=0) for space in spaces], axis=0)
        workers = np.mean([space.worker_slots.mean(axis=0) for space in spaces], axis=0)
        return arms / arms.sum() @ np.arange(5), workers / workers.sum() @ np.arange(5)

    assert mean_slots(skew=False) == pytest.approx((2, 2), abs=0.1)
    late, early = mean_slots(skew=True)
    assert late > 2.3
    assert early < 1.7


def test_links_respond_as_they_say():
    linear = np.diff(up(interventions(link="linear")), axis=1)
    np.testing.assert_allclose(linear, linear[:, :1] * np.ones(3), rtol=1e-9)
    gains = np.diff(up(interventions(link="submodular")), axis=1)
    assert (np.diff(gains, axis=1) < 0).all()
    # Three interventions bring an arm as far as its height, whatever the link.
    np.testing.assert_allclose(
        up(interventions(link="linear"))[:, 3],
        0.01 + 0.98 * _heights(interventions(link="submodular")),
        rtol=1e-9,
    )


def _heights(submodular):
    # 1 - 0.99 * (1 - height) at one intervention, as the dose of one is the weight.
    return 1 - (1 - up(submodular)[:, 1]) / 0.99


def test_random_dynamics_are_any_kernels():
    problem = standard(dynamics="random", states=3)
    assert (problem.arms.kernels > 0).all()
    assert (np.diff(problem.arms.rewards, axis=1) > 0).all()


def test_two_states_give_the_binary_bandit():
    problem = standard(states=2)
    assert problem.arms.kernels.shape == (20, 2, 2, 2)
    assert set(problem.arms.rewards[:, 1]) <= {1, 2, 3, 4, 5, 6}


def test_every_knob_is_tested():
    tested = {(name, knob) for name, knob, *_ in KNOBS}
    tested |= {("scheduling", "skew"), ("interventions", "link"), ("standard", "dynamics")}
    tested |= {("epidemic", "steps")}
    tested |= {(name, knob) for name, _, knob, *_ in KNOBS_TOGETHER}
    for name, family in FAMILIES.items():
        for knob in inspect.signature(family).parameters:
            assert knob == "seed" or (name, knob) in tested


BAD = [
    *[
        entry
        for name in SEEDED
        for entry in (
            (name, {"arms": 0}, r"0"),
            (name, {"arms": -3}, r"-3"),
            (name, {"horizon": 0}, r"horizon is 0"),
            (name, {"discount": 0}, r"discount is 0"),
            (name, {"discount": 1.5}, r"discount is 1\.5"),
            (name, {"seed": -1}, r"seed is -1; at least 0"),
        )
    ],
    *[
        entry
        for name in LADDERS
        for entry in (
            (name, {"states": 1}, r"states is 1; at least 2"),
            (name, {"long_run": 21}, r"long_run is 21; 0 to 20"),
            (name, {"long_run": -1}, r"long_run is -1; 0 to 20"),
            (name, {"start_share": 1.1}, r"start_share is 1\.1; 0 to 1"),
            (name, {"start_share": float("nan")}, r"start_share is nan"),
        )
    ],
    ("trap", {"horizon": 0}, r"horizon is 0"),
    ("trap", {"discount": 2}, r"discount is 2"),
    ("standard", {"arms": 10**22}, r"arms is 10{22}; at most"),
    ("capacity", {"workers": -1}, r"workers is -1; at least 0"),
    ("capacity", {"least_cost": 0}, r"least_cost is 0; at least 1"),
    ("capacity", {"least_cost": 7}, r"most_cost is 6; at least 7"),
    ("capacity", {"least_capacity": -1}, r"least_capacity is -1; at least 0"),
    ("capacity", {"most_capacity": 1}, r"most_capacity is 1; at least 2"),
    ("scheduling", {"workers": -1}, r"workers is -1; at least 0"),
    ("scheduling", {"budget": -1}, r"budget is -1; at least 0"),
    ("scheduling", {"slots": 1}, r"slots_per_arm is 2; 0 to 1"),
    ("scheduling", {"slots": 0}, r"slots is 0; at least 1"),
    ("scheduling", {"slots_per_arm": -1}, r"slots_per_arm is -1; 0 to 5"),
    ("scheduling", {"slots_per_worker": 6}, r"slots_per_worker is 6; 0 to 5"),
    ("scheduling", {"visits": 0}, r"visits is 0"),
    ("rota", {"workers": -1}, r"workers is -1; at least 0"),
    ("rota", {"budget": -1}, r"limit is -1; a whole number of at least 0"),
    ("rota", {"slots": 0}, r"slots is 0; at least 1"),
    ("rota", {"slots_per_arm": 6}, r"slots_per_arm is 6; 0 to 5"),
    ("rota", {"slots_per_worker": -1}, r"slots_per_worker is -1; 0 to 5"),
    ("rota", {"least_minutes": 10}, r"least_minutes is 10; at least 15"),
    ("rota", {"most_minutes": 45}, r"most_minutes is 45; at least 60"),
    ("rota", {"least_length": 0}, r"least_length is 0; at least 15"),
    ("rota", {"most_length": 15}, r"most_length is 15; at least 30"),
    ("rota", {"visits": 0}, r"visits is 0; at least 1"),
    ("rota", {"may_visit": 1.5}, r"may_visit is 1\.5; 0 to 1"),
    ("rota", {"most_in_a_row": 0}, r"most_in_a_row is 0; a whole number of at least 1"),
    ("team", {"walkers": -1}, r"walkers is -1; at least 0"),
    ("team", {"minutes": -1}, r"minutes is -1; at least 0"),
    ("team", {"depots": 0}, r"depots is 0; 1 to 20"),
    ("team", {"depots": 21}, r"depots is 21; 1 to 20"),
    ("team", {"least_travel": 0}, r"least_travel is 0; at least 1"),
    ("team", {"most_travel": 1}, r"most_travel is 1; at least 2"),
    ("team", {"least_service": 0}, r"least_service is 0; at least 1"),
    ("team", {"most_service": 4}, r"most_service is 4; at least 5"),
    ("team", {"arms": 101}, r"1 to 100 stations; 101 is asked for"),
    ("interventions", {"budget": -1}, r"budget is -1; at least 0"),
    ("interventions", {"budget": 0}, r"actions is 0; at least 1"),
    ("interventions", {"actions": 0}, r"actions is 0; at least 1"),
    ("interventions", {"reach": 0}, r"reach is 0; at least 1"),
    ("interventions", {"group": 0}, r"group is 0; at least 1"),
    ("interventions", {"weight": 0}, r"weight is 0"),
    ("interventions", {"weight": float("nan")}, r"weight is nan"),
    ("interventions", {"weight": float("inf")}, r"weight is inf"),
    ("interventions", {"link": "cubic"}, r"link is 'cubic'; known: sigmoid, linear, submodular"),
    ("routing", {"budget": -1}, r"budget is -1; at least 0"),
    ("routing", {"steps": 0}, r"length is 0"),
    ("routing", {"longest_edge": 0}, r"longest_edge is 0; at least 1"),
    ("routing", {"arms": 101}, r"1 to 100 stations; 101 is asked for"),
    ("standard", {"budget": -1}, r"budget is -1; at least 0"),
    ("standard", {"dynamics": "wild"}, r"dynamics is 'wild'; known: ladder, random"),
    ("standard", {"dynamics": "random", "states": 1}, r"states is 1; at least 2"),
    ("standard", {"dynamics": "random", "arms": 0}, r"arms is 0; at least 1"),
    ("epidemic", {"budget": -1}, r"budget is -1; at least 0"),
    ("epidemic", {"village": 0}, r"village is 0; at least 1"),
    ("epidemic", {"importance": 0}, r"importance is 0; at least 1"),
    ("epidemic", {"infect": 1.1}, r"infect is 1\.1; 0 to 1"),
    ("epidemic", {"arrive": -0.1}, r"arrive is -0\.1; 0 to 1"),
    ("epidemic", {"recover": float("nan")}, r"recover is nan"),
    ("epidemic", {"cure": 2}, r"cure is 2; 0 to 1"),
    ("epidemic", {"protect": -1}, r"protect is -1; 0 to 1"),
    ("epidemic", {"sick_share": 1.1}, r"sick_share is 1\.1; 0 to 1"),
    ("epidemic", {"steps": 4}, r"steps is 4, but only a route has steps"),
    ("epidemic", {"route": True, "steps": 0}, r"length is 0"),
    ("epidemic", {"disease": "flu"}, r"disease is 'flu'; known: sis, sir"),
    ("epidemic", {"treat": "all"}, r"treat is 'all'; known: both, infected, healthy"),
    ("epidemic", {"vaccinate": 0.5}, r"vaccinate is 0\.5; it goes with disease sir only"),
    ("epidemic", {"wane": 0.0}, r"wane is 0\.0; it goes with disease sir only"),
    ("epidemic", {"disease": "sir", "wane": 2}, r"wane is 2; 0 to 1"),
    ("epidemic", {"disease": "sir", "vaccinate": -1}, r"vaccinate is -1; 0 to 1"),
    ("epidemic", {"columns": 3}, r"columns is 3; it goes with graph lattice only"),
    ("epidemic", {"graph": "lattice", "village": 4}, r"village is 4; .* graph villages only"),
    ("epidemic", {"graph": "lattice", "columns": 0}, r"columns is 0; at least 1"),
    ("epidemic", {"graph": "lattice", "rewire": 0.1}, r"rewire is 0\.1; .* small-world only"),
    ("epidemic", {"graph": "small-world", "degree": 3}, r"degree is 3; an even number below 20"),
    ("epidemic", {"graph": "small-world", "degree": 20}, r"degree is 20; an even number below 20"),
    ("epidemic", {"graph": "small-world", "degree": -2}, r"degree is -2; an even number"),
    ("epidemic", {"graph": "small-world", "rewire": 1.5}, r"rewire is 1\.5; 0 to 1"),
    ("wildfire", {"budget": -1}, r"budget is -1; at least 0"),
    ("wildfire", {"burning": 101}, r"burning is 101; 0 to 100"),
    ("wildfire", {"burning": -1}, r"burning is -1; 0 to 100"),
    ("wildfire", {"importance": 0}, r"importance is 0; at least 1"),
    ("wildfire", {"spread": 2}, r"spread is 2; 0 to 1"),
    ("wildfire", {"lightning": -1}, r"lightning is -1; 0 to 1"),
    ("wildfire", {"burn_out": 2}, r"burn_out is 2; 0 to 1"),
    ("wildfire", {"douse": 2}, r"douse is 2; 0 to 1"),
    ("wildfire", {"wet": float("nan")}, r"wet is nan; 0 to 1"),
    ("wildfire", {"treat": "fire"}, r"treat is 'fire'; known: burning, trees, both"),
    ("wildfire", {"graph": "torus"}, r"graph is 'torus'; villages, lattice, small-world or"),
]


@pytest.mark.parametrize(("name", "knobs", "message"), BAD)
def test_a_bad_knob_is_a_problem_error(name, knobs, message):
    with pytest.raises(ProblemError, match=message):
        FAMILIES[name](**knobs)


@pytest.mark.parametrize(
    ("name", "knobs"),
    [
        ("capacity", {"arms": 1}),
        ("capacity", {"workers": 0}),
        ("scheduling", {"arms": 1}),
        ("scheduling", {"slots": 1, "slots_per_arm": 0, "slots_per_worker": 0}),
        ("scheduling", {"budget": 0}),
        ("rota", {"arms": 1}),
        ("rota", {"workers": 0}),
        ("rota", {"slots": 1, "slots_per_arm": 0, "slots_per_worker": 0}),
        ("team", {"arms": 1}),
        ("team", {"walkers": 0}),
        ("team", {"minutes": 0}),
        ("interventions", {"arms": 1}),
        ("interventions", {"arms": 2, "actions": 50, "reach": 40, "group": 50}),
        ("interventions", {"weight": 0.1}),
        ("routing", {"arms": 1}),
        ("routing", {"budget": 0}),
        ("standard", {"arms": 1, "budget": 5}),
        ("epidemic", {"arms": 1}),
        ("epidemic", {"arms": 5, "village": 1}),
        ("epidemic", {"arms": 5, "village": 9}),
        ("epidemic", {"arms": 7, "route": True, "budget": 0}),
        ("epidemic", {"arms": 1, "graph": "lattice"}),
        ("epidemic", {"arms": 1, "graph": "small-world"}),
        ("epidemic", {"arms": 4, "graph": "small-world", "disease": "sir", "route": True}),
        ("wildfire", {"arms": 1, "burning": 0}),
        ("wildfire", {"arms": 8, "burning": 8, "budget": 0}),
    ],
)
def test_corners_are_well_formed(name, knobs):
    problem = FAMILIES[name](**knobs)
    decision = problem.space.sample(np.random.default_rng(0))
    assert problem.space.system.violations(decision) == []


@pytest.mark.parametrize("name", SEEDED)
def test_same_seed_same_problem(name):
    first, again, other = (FAMILIES[name](seed=seed) for seed in (4, 4, 5))
    assert first.fingerprint == again.fingerprint
    assert first.fingerprint != other.fingerprint
    tables = [problem.to_tables().tables for problem in (first, other)]
    drawn = {"epidemic": "neighbours", "wildfire": "arms"}.get(name, "transitions")
    assert differ(tables[0][drawn], tables[1][drawn])


def differ(one, other):
    return any(list(cells) != list(other.columns[name]) for name, cells in one.columns.items())


def test_villages_are_close_and_hang_together_by_bridges():
    problem = epidemic(arms=18, village=4)
    graph = nx.from_scipy_sparse_array(problem.contagion.neighbours)
    assert nx.is_connected(graph)
    home = np.arange(18) // 4
    inside = [edge for edge in graph.edges if home[edge[0]] == home[edge[1]]]
    assert len(inside) == 4 * 6 + 1
    bridges = [{int(home[a]), int(home[b])} for a, b in graph.edges if home[a] != home[b]]
    assert sorted(map(sorted, bridges)) == [[0, 1], [0, 4], [1, 2], [2, 3], [3, 4]]


def test_a_route_goes_along_the_bonds_that_infect():
    problem = epidemic(route=True, steps=6, budget=2)
    assert (problem.space.length, problem.space.limit, problem.space.source) == (6, 2, 0)
    edges = {tuple(sorted(edge)) for edge in problem.space.edges.tolist()}
    assert edges == {
        tuple(sorted(edge)) for edge in np.argwhere(problem.contagion.neighbours.toarray()).tolist()
    }


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("route", [False, True])
def test_looking_ahead_pays_in_an_epidemic(seed, route):
    problem = epidemic(arms=7, budget=1, seed=seed, route=route, horizon=12)
    best = solve_exactly(problem).value
    # Myopic by dynamic programming over one step, played to the end by exact expectations.
    assert best >= 1.05 * value_of_myopic(problem)


def value_of_myopic(problem):
    states = np.array(list(itertools.product(range(2), repeat=problem.arms.n_arms)))
    actions = problem.space.enumerate(1_000)
    earned = np.array(
        [problem.expected_reward(states, np.tile(action, (len(states), 1))) for action in actions]
    )
    action, row = actions[earned.argmax(axis=0)], np.arange(len(states))
    model, level = problem.models(states), problem.levels(action)
    arms = np.arange(problem.arms.n_arms)
    moves = np.ones((len(states), len(states)))
    for arm in arms:
        own = problem.arms.kernels[model[:, arm], level[:, arm], states[:, arm]]
        moves *= own[row[:, None], states[None, :, arm]]
    values = np.zeros(len(states))
    for _ in range(problem.horizon):
        values = earned.max(axis=0) + moves @ values
    start = problem.start[arms[None, :], states].prod(axis=1)
    return float(start @ values)
