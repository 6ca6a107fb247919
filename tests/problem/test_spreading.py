"""Epidemics and fires against simulations written from their words alone."""

import numpy as np
import pytest

from sequoia.bounds import solve_exactly
from sequoia.problem.families import epidemic, wildfire
from sequoia.simulate import Scenarios

DRAWS = 4_000
INFECTED, HEALTHY, IMMUNE = range(3)
TREE, BURNING, BURNT = range(3)


class Coins:
    """Chances that come true or not."""

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)

    def __call__(self, chance):
        return self._rng.random() < chance


def next_person(state, treated, sick_neighbours, knobs, flip):
    """Follow one node for one step, as the page on epidemics tells it."""
    helps_sick = treated and knobs["treat"] in ("both", "infected")
    helps_healthy = treated and knobs["treat"] in ("both", "healthy")
    is_sir = knobs["disease"] == "sir"
    if state == INFECTED:
        is_well = flip(knobs["cure"] if helps_sick else knobs["recover"])
        return (IMMUNE if is_sir else HEALTHY) if is_well else INFECTED
    if state == IMMUNE:
        return HEALTHY if flip(knobs["wane"]) else IMMUNE
    if is_sir and helps_healthy and flip(knobs["vaccinate"]):
        return IMMUNE
    reached = [flip(knobs["infect"]) for _ in range(sick_neighbours)]
    is_caught = any([*reached, flip(knobs["arrive"])])
    if is_caught and helps_healthy and flip(knobs["protect"]):
        is_caught = False
    return INFECTED if is_caught else HEALTHY


def next_tree(state, treated, fires_beside, knobs, flip):
    """Follow one tree for one step, as the page on fires tells it."""
    if state == BURNT:
        return BURNT
    if state == BURNING:
        is_doused = treated and knobs["treat"] in ("both", "burning")
        return BURNT if flip(knobs["douse"] if is_doused else knobs["burn_out"]) else BURNING
    is_lit = any([flip(knobs["spread"]) for _ in range(fires_beside)] + [flip(knobs["lightning"])])
    if is_lit and treated and knobs["treat"] in ("both", "trees") and flip(knobs["wet"]):
        is_lit = False
    return BURNING if is_lit else TREE


EPIDEMIC = {"infect": 0.35, "arrive": 0.05, "recover": 0.2, "cure": 0.7, "protect": 0.6}
FIRE = {"spread": 0.35, "lightning": 0.05, "burn_out": 0.2, "douse": 0.7, "wet": 0.6}
IMMUNITY = {"vaccinate": 0.4, "wane": 0.15}


def assert_moves_agree(problem, follow, spreading, knobs):
    """From random states under random treatments, every arm moves as it is told to."""
    rng, flip = np.random.default_rng(1), Coins(2)
    size, states = problem.arms.n_arms, problem.arms.n_states
    weights = problem.contagion.neighbours.toarray()
    for _ in range(4):
        state, treated = rng.integers(states, size=size), rng.integers(2, size=size)
        beside = weights @ (state == spreading)
        noise = rng.random((DRAWS, size))
        ours = problem.transition(
            np.tile(state, (DRAWS, 1)), np.tile(treated, (DRAWS, 1)).astype(np.int8), noise
        )
        for arm in range(size):
            told = [
                follow(state[arm], bool(treated[arm]), beside[arm], knobs, flip)
                for _ in range(DRAWS)
            ]
            shares = [np.bincount(each, minlength=states) / DRAWS for each in (ours[:, arm], told)]
            # Five standard deviations of the difference of two shares, at most 0.0112 each.
            assert np.abs(shares[0] - shares[1]).max() < 0.056


@pytest.mark.parametrize("treat", ["both", "infected", "healthy"])
@pytest.mark.parametrize("disease", ["sis", "sir"])
def test_an_epidemic_moves_as_its_words_say(disease, treat):
    more = IMMUNITY if disease == "sir" else {}
    problem = epidemic(arms=6, graph="lattice", disease=disease, treat=treat, **EPIDEMIC, **more)
    knobs = {"disease": disease, "treat": treat, **EPIDEMIC, **more}
    assert_moves_agree(problem, next_person, INFECTED, knobs)


@pytest.mark.parametrize("treat", ["both", "burning", "trees"])
def test_a_fire_moves_as_its_words_say(treat):
    problem = wildfire(arms=6, burning=2, treat=treat, **FIRE)
    assert_moves_agree(problem, next_tree, BURNING, {"treat": treat, **FIRE})


def test_weights_count_as_so_many_neighbours(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("from,to,weight\na,b,3\nb,c,1\nc,d,2\n")
    problem = epidemic(graph=str(path), disease="sir", **EPIDEMIC, **IMMUNITY)
    knobs = {"disease": "sir", "treat": "both", **EPIDEMIC, **IMMUNITY}
    assert_moves_agree(problem, next_person, INFECTED, knobs)


def test_only_infected_pay_nothing_and_only_standing_trees_pay():
    people = epidemic(disease="sir", importance=2)
    assert {tuple(row) for row in people.arms.rewards.tolist()} == {(0, 1, 1), (0, 2, 2)}
    forest = wildfire(importance=2)
    assert {tuple(row) for row in forest.arms.rewards.tolist()} == {(1, 0, 0), (2, 0, 0)}


def test_states_have_names():
    assert list(epidemic(disease="sir").arms.state_names) == ["infected", "healthy", "immune"]
    assert list(wildfire().arms.state_names) == ["tree", "burning", "burnt"]


def test_a_fire_begins_in_one_place():
    problem = wildfire(burning=9, seed=3)
    start = Scenarios.sample(problem, 3, seed=0).start
    assert (start == start[0]).all()
    on_fire = np.flatnonzero(start[0] == BURNING)
    assert len(on_fire) == 9
    rows, columns = on_fire // 10, on_fire % 10
    assert np.ptp(rows) <= 4
    assert np.ptp(columns) <= 4
    assert (wildfire(burning=9, seed=4).start != problem.start).any()


def test_dousing_pays_later_or_never():
    """For the next step a treatment is worth nothing, so looking one step ahead sees nothing."""
    problem = wildfire(arms=6, burning=2, budget=1, horizon=10)
    state = problem.draw_start(np.random.default_rng(0), 1)
    actions = np.concatenate([np.zeros((1, 6), dtype=np.int8), np.eye(6, dtype=np.int8)])
    earned = problem.expected_reward(np.tile(state, (7, 1)), actions)
    np.testing.assert_allclose(earned, earned[0])
    treated = solve_exactly(problem).value
    left_alone = solve_exactly(wildfire(arms=6, burning=2, budget=0, horizon=10)).value
    assert treated > 1.3 * left_alone


def test_vaccination_adds_to_cures():
    knobs = {"arms": 6, "graph": "small-world", "disease": "sir", "budget": 2, "horizon": 12}
    both, cures = (solve_exactly(epidemic(treat=t, **knobs)).value for t in ("both", "infected"))
    assert both > cures
