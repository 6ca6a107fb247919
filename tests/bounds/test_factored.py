"""Bounds for arms that interact, against the optimum of tiny problems."""

from dataclasses import replace

import numpy as np
import pytest

from sequoia import Budget
from sequoia.bounds import (
    bound,
    clairvoyant_bound,
    clairvoyant_search,
    relax_factored,
    solve_exactly,
)
from sequoia.bounds.exact import joint_states
from sequoia.errors import ProblemError, TooLarge
from sequoia.policies import make_policy
from sequoia.policies.price import ClusterPricePolicy
from sequoia.problem.families import epidemic
from tiny_problems import KINDS, earned, infected, random_problem

SEEDS = range(8)
TINY = [(kind, seed) for kind in KINDS for seed in SEEDS]


def tiny(kind, seed):
    return infected(random_problem(kind, seed), seed)


@pytest.mark.parametrize(("kind", "seed"), TINY)
def test_policy_optimum_and_bound_are_in_order(kind, seed):
    problem = tiny(kind, seed)
    best = solve_exactly(problem).value
    slack = 1e-6 * max(1.0, abs(best))
    table = [1, 30, 10_000][seed % 3]
    found = relax_factored(problem, table=table, rounds=60)
    assert found.bound.total >= best - slack
    assert earned(problem, ClusterPricePolicy(problem, found.value)) <= best + slack
    # The value function is above the optimal values of all states, not only of the start.
    states = joint_states(problem)
    exact = solve_exactly(problem).values
    for step in range(problem.horizon):
        assert (found.value.state_values(states, step) >= exact[step] - slack).all()


@pytest.mark.parametrize(("kind", "seed"), TINY[::5])
def test_discounted_bounds_hold_too(kind, seed):
    problem = replace(tiny(kind, seed), discount=0.8)
    best = solve_exactly(problem, discounted=True).value
    slack = 1e-6 * max(1.0, abs(best))
    for horizon in (0, 3):
        found = relax_factored(problem, table=30, rounds=40, horizon=horizon, discounted=True)
        assert found.bound.total >= best - slack


@pytest.mark.parametrize(("kind", "seed"), TINY[::9])
def test_a_cluster_of_all_arms_is_exact(kind, seed):
    """Where one table holds everything, nothing is relaxed."""
    problem = tiny(kind, seed)
    best = solve_exactly(problem).value
    found = relax_factored(problem, table=10**6, rounds=400)
    assert len(found.value.tables) == 1 or not problem.contagion.neighbours.nnz
    if len(found.value.tables) == 1:
        assert found.bound.total == pytest.approx(best, rel=1e-6)


def test_larger_clusters_are_tighter_and_act_better():
    problem = epidemic(arms=8, seed=1)
    best = solve_exactly(problem)
    bounds, shares = [], []
    for table in (1, 1_000, 5_000, 10_000):
        found = relax_factored(problem, table=table, rounds=150)
        bounds.append(found.bound.total / best.value)
        shares.append(earned(problem, ClusterPricePolicy(problem, found.value)) / best.value)
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] < 1.25
    assert bounds[1] < 1.13
    assert bounds[2] < 1.09
    assert bounds[3] == pytest.approx(1, abs=1e-9)
    assert shares[1] > 0.97
    assert shares[3] == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(("kind", "seed"), TINY[1::7])
def test_a_clairvoyant_earns_no_less_than_the_optimum(kind, seed):
    problem = tiny(kind, seed)
    best = solve_exactly(problem).value
    found = clairvoyant_bound(
        problem, relax_factored(problem, table=30, rounds=60), scenarios=60, rounds=20, seed=3
    )
    # Three times the margin: of some dozen estimates, none may be that far off.
    assert found.total + 3 * found.margin >= best - 1e-6 * max(1.0, abs(best))


@pytest.mark.parametrize(("kind", "seed"), TINY[3::7])
@pytest.mark.parametrize("horizon", [0, 4])
def test_a_clairvoyant_without_an_end_earns_no_less_than_the_optimum(kind, seed, horizon):
    problem = replace(tiny(kind, seed), discount=0.8)
    best = solve_exactly(problem, discounted=True).value
    slack = 1e-6 * max(1.0, abs(best))
    found = relax_factored(problem, table=30, rounds=60, horizon=horizon, discounted=True)
    clairvoyant = clairvoyant_bound(problem, found, scenarios=60, rounds=20, seed=3)
    assert clairvoyant.total + 3 * clairvoyant.margin >= best - slack
    assert clairvoyant.total <= found.bound.total + slack
    assert clairvoyant.per_step == pytest.approx(clairvoyant.total * (1 - 0.8))


def test_a_clairvoyant_sees_the_start_and_the_horizon_of_the_question():
    problem = epidemic(arms=6, seed=1, horizon=5)
    longer = solve_exactly(replace(problem, horizon=9)).values[0]
    totals = []
    for start in (np.zeros(6, dtype=np.int64), np.ones(6, dtype=np.int64)):
        found = relax_factored(problem, table=50, rounds=60, horizon=9, start=start)
        estimate = clairvoyant_bound(problem, found, scenarios=20, rounds=20)
        best = longer[joint_states(problem).tolist().index(start.tolist())]
        assert best <= estimate.total + 3 * estimate.margin
        assert estimate.total <= found.bound.total
        totals.append(estimate.total)
    assert totals[0] < totals[1]


def test_the_usual_table_is_smaller_where_work_would_be_long():
    few = relax_factored(epidemic(arms=16, seed=1), rounds=1)
    many = relax_factored(epidemic(arms=16, seed=1, horizon=1_000), rounds=400, seconds=0)
    assert max(map(len, many.dual.tables)) < max(map(len, few.dual.tables)) <= 10_000
    assert many.bound.detail.endswith("stopped by the clock after 1 round")


def test_a_clairvoyant_who_pays_is_tighter():
    problem = epidemic(arms=8, seed=2)
    best = solve_exactly(problem).value
    found = relax_factored(problem, table=1_000, rounds=150)
    clairvoyant = clairvoyant_bound(problem, found, scenarios=20, rounds=40)
    assert clairvoyant.kind == "clairvoyant"
    assert clairvoyant.margin > 0
    assert best < clairvoyant.total + 3 * clairvoyant.margin
    assert clairvoyant.total < 0.99 * found.bound.total


def test_the_same_again():
    problem = epidemic(arms=8, seed=3)
    one, other = (relax_factored(problem, table=1_000, rounds=20) for _ in range(2))
    assert one.bound.total == other.bound.total
    assert all(
        np.array_equal(a, b) for a, b in zip(one.value.values, other.value.values, strict=True)
    )


def test_linear_levels_are_exact_for_single_arms():
    problem = epidemic(arms=6, seed=1)
    value = relax_factored(problem, table=1, rounds=20).value
    rng = np.random.default_rng(0)
    states = rng.integers(0, 2, (5, 6))
    levels, constant = value.levels(states, 2)
    actions = (rng.random((5, 6)) < 0.5).astype(np.int8)
    q = levels[np.arange(5)[:, None], np.arange(6), actions].sum(axis=1) + constant
    for row in range(5):
        state, action = states[[row]], actions[[row]]
        moves = np.ones((1, 1))
        model = problem.models(state)
        for arm in range(6):
            own = problem.arms.kernels[model[0, arm], action[0, arm], state[0, arm]]
            moves = (moves[:, :, None] * own[None, None, :]).reshape(1, -1)
        ahead = moves[0] @ value.state_values(joint_states(problem), 3)
        assert q[row] == pytest.approx(problem.expected_reward(state, action)[0] + ahead)


def test_kinds_by_name():
    problem = epidemic(arms=6, seed=1, horizon=5)
    assert bound(problem).kind == "factored"
    assert bound(problem, "clairvoyant", scenarios=3, table=300, rounds=10).kind == "clairvoyant"
    with pytest.raises(ProblemError, match=r"infect each other\. Ask for factored"):
        bound(problem, "lp")
    assert make_policy("price", problem).name == "price"


def test_refusals():
    problem = epidemic(arms=12, seed=1)
    with pytest.raises(TooLarge, match=r"arms need \d\.\de\+\d\d numbers; .* fewer than 50000000"):
        relax_factored(problem, table=50_000_000)
    with pytest.raises(ProblemError, match="table is 0; at least 1"):
        relax_factored(problem, table=0)
    with pytest.raises(ProblemError, match="scenarios is 1; at least 2"):
        clairvoyant_bound(problem, relax_factored(problem, table=1, rounds=1), scenarios=1)


class Gamble:
    """Guess which of two sides comes up; a wrong guess ends the game."""

    name, fingerprint, discount, horizon, n_noise = "gamble", "gamble", 1.0, 3, 1
    space = Budget(np.ones(1), 1)

    def draw_start(self, rng, count):
        return np.ones((count, 1), dtype=np.int64)

    def features(self, states):
        return states.astype(np.float64)

    def step(self, states, actions, noise):
        is_right = (actions[:, 0] == 1) == (noise[:, 0] < 0.7)
        following = states * is_right[:, None]
        return following[:, 0].astype(np.float64), following


def test_any_environment_has_a_clairvoyant():
    found = clairvoyant_search(Gamble(), scenarios=5)
    # Who knows the luck never guesses wrong; who does not, earns 0.7 + 0.7² + 0.7³ at best.
    assert (found.total, found.margin) == (3.0, 0.0)
    assert bound(Gamble()).total == 3.0
    with pytest.raises(ProblemError, match=r"lp bounds need a problem of arms; gamble"):
        bound(Gamble(), "lp")


@pytest.mark.parametrize(("kind", "seed"), TINY[2::11])
def test_a_search_is_above_the_optimum_and_knows_more_than_who_pays(kind, seed):
    problem = tiny(kind, seed)
    best = solve_exactly(problem).value
    found = clairvoyant_search(problem, scenarios=60, seed=5)
    assert found.total + 3 * found.margin >= best - 1e-6 * max(1.0, abs(best))


def test_a_search_that_is_too_large(monkeypatch):
    monkeypatch.setattr("sequoia.bounds.clairvoyant.MAX_TRIED", 30)
    with pytest.raises(TooLarge, match=r"step \d can begin in \d+ states, and 7 actions .*: \d"):
        clairvoyant_search(epidemic(arms=6, seed=1, horizon=12), scenarios=2)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e12])
@pytest.mark.parametrize("kind", KINDS)
def test_a_bound_holds_in_any_unit_of_rewards(kind, unit):
    for seed in (2,):
        problem = tiny(kind, seed)
        scaled = replace(problem, arms=replace(problem.arms, rewards=problem.arms.rewards * unit))
        ours, theirs = (relax_factored(one, table=30, rounds=60) for one in (problem, scaled))
        # Not the same to the last digit: rounding decides ties, and prices go another way.
        assert theirs.bound.total == pytest.approx(unit * ours.bound.total, rel=1e-3)
        assert theirs.bound.total >= solve_exactly(scaled).value * (1 - 1e-6)
        guesses = [
            clairvoyant_bound(one, found, scenarios=5, rounds=10).total
            for one, found in ((problem, ours), (scaled, theirs))
        ]
        assert guesses[1] == pytest.approx(unit * guesses[0], rel=1e-3)
