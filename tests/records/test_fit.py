"""Fitting gives the truth back, says how sure it is, and keeps to what is known anyway."""

import numpy as np
import pytest

from sequoia.errors import ProblemError
from sequoia.policies import make_policy
from sequoia.problem import Arms, Budget, Problem
from sequoia.problem.families import make
from sequoia.records import Log, Seen, Structure, fit, groups_of, simulate_log, with_kernels
from sequoia.records.em import find_mode
from sequoia.records.posterior import SteadyRows
from sequoia.records.segments import Segments
from sequoia.records.shrinkage import ShrunkRows
from sequoia.records.structure import FreeMoves, SameMoves, is_rising, make_rising


def programme(kernels, arms, budget):
    groups, doses, states = kernels.shape[:3]
    return Problem(
        "a programme",
        Arms(
            np.tile(np.arange(states), (groups, 1)),
            np.tile(np.arange(doses), (groups, 1)),
            kernels,
            np.arange(arms) % groups,
        ),
        Budget(np.ones(arms), budget),
        np.full((arms, states), 1 / states),
    )


def logged(problem, steps, seen, seed=0):
    policy = make_policy("random", problem)
    return simulate_log(problem, policy, steps, seen, np.random.default_rng(seed))


@pytest.mark.parametrize(
    "family",
    ["standard", "capacity", "scheduling", "routing", "interventions", "epidemic", "wildfire"],
)
def test_simulated_logs_of_every_family_give_the_truth_back(family):
    # One model for all arms, or few, so that a short log says enough.
    problem = make(family, arms=20, seed=1)
    if problem.is_decoupled:
        shared = Arms(
            problem.arms.rewards[:1],
            problem.arms.doses[:1],
            problem.arms.kernels[:1],
            np.zeros(20),
            problem.arms.names,
        )
        problem = Problem("x", shared, problem.space, problem.start, problem.influence)
    log = logged(problem, 150, Seen(1.0))
    doses = problem.arms.n_doses
    if problem.contagion is not None:
        doses *= problem.contagion.n_pressures
    found = fit(log, problem.arms.n_states, doses)
    refitted = with_kernels(problem, found.kernels)
    drawn = [with_kernels(problem, draw).arms.kernels for draw in found.draws[::3]]
    low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
    truth = problem.arms.kernels
    width = high - low
    # Where the log says enough, estimates are near the truth; elsewhere, intervals are wide.
    assert (np.abs(refitted.arms.kernels - truth) <= width + 0.02).mean() > 0.95
    assert (width < 0.3).mean() > 0.3


def test_the_truth_comes_back_from_few_sightings():
    rng = np.random.default_rng(5)
    kernels = rng.dirichlet([2.0, 2.0, 2.0], (2, 2, 3))
    log = logged(programme(kernels, 150, 30), 30, Seen(0.25, 0.5))
    found = fit(log, 3, 2)
    low, high = found.interval
    assert np.abs(found.kernels - kernels).mean() < 0.08
    assert ((low <= kernels) & (kernels <= high)).mean() >= 0.75
    np.testing.assert_allclose(found.kernels.sum(axis=-1), 1.0)


def test_expectation_maximisation_climbs_to_where_counts_agree():
    rng = np.random.default_rng(6)
    kernels = rng.dirichlet([1.0, 1.0, 1.0], (1, 2, 3))
    segments = Segments.of(logged(programme(kernels, 50, 10), 20, Seen(0.3, 0.3)), 1, 2, 3)
    prior = np.ones((1, 2, 3, 3))
    moves = FreeMoves(np.ones((2, 3, 3), dtype=bool))
    mode = find_mode(segments, moves, np.full((1, 2, 3, 3), 1 / 3), prior)
    counts, likelihood = segments.expected_counts(mode.rows)
    again = (counts + prior) / (counts + prior).sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(mode.rows, again, atol=2e-3)
    assert likelihood > segments.expected_counts(np.full((1, 2, 3, 3), 1 / 3))[1]


def test_groups_without_data_get_what_is_common():
    kernels = np.tile([[[0.9, 0.1], [0.4, 0.6]], [[0.2, 0.8], [0.1, 0.9]]], (3, 1, 1, 1))
    log = logged(programme(kernels, 60, 20), 30, Seen(1.0))
    found = fit(log, 2, 2, n_groups=4)
    assert found.kernels.shape == (4, 2, 2, 2)
    assert np.abs(found.kernels[3] - kernels[0]).max() < 0.2
    low, high = found.interval
    assert (high - low)[3].mean() > (high - low)[0].mean()
    assert {row.group for row in found.unsure if row.met == 0} == {3}


def test_what_is_known_is_kept():
    ladder = Arms.ladder([[0, 1, 2]], [[0.2, 0.4]]).kernels
    log = logged(programme(ladder, 20, 5), 10, Seen(0.3))
    found = fit(log, 3, 2, structure=Structure(ladder[0, 0] > 0, never_hurts=True))
    assert not found.draws[:, ladder == 0].any()
    assert is_rising(found.kernels).all()
    assert all(is_rising(draw).all() for draw in found.draws)


def test_sightings_that_cannot_be_are_said():
    stays = np.eye(2, dtype=bool)
    with pytest.raises(ProblemError, match="seen in state 0 and next in state 1, which cannot"):
        fit(Log([0], 2, [[0, 0, 0], [0, 1, 1]], []), 2, 1, structure=Structure(stays))
    with pytest.raises(ProblemError, match="nowhere to go"):
        Structure(np.zeros((2, 2), dtype=bool))


def test_rows_made_rising_are_distributions_and_stay_where_they_are_fine():
    rng = np.random.default_rng(7)
    kernels = rng.dirichlet(np.ones(4), (5, 3, 4))
    weights = rng.random((5, 3, 4)) + 0.1
    risen = make_rising(kernels, weights)
    assert is_rising(risen).all()
    np.testing.assert_allclose(risen.sum(axis=-1), 1.0)
    np.testing.assert_allclose(make_rising(risen, weights), risen, atol=1e-12)


def test_features_say_how_groups_without_data_move():
    rng = np.random.default_rng(8)
    age = np.linspace(-1.5, 1.5, 24)
    up = 1 / (1 + np.exp(-1.5 * age))
    kernels = np.tile(np.stack([1 - up, up], axis=1)[:, None, None, :], (1, 2, 2, 1))
    log = logged(programme(kernels, 24, 0), 60, Seen(1.0))
    hidden = [3, 21]
    kept = ~np.isin(log.sightings[:, 0], hidden)
    log = Log(log.group, log.n_steps, log.sightings[kept], log.visits)
    plain = fit(log, 2, 2, n_groups=24)
    found = fit(log, 2, 2, n_groups=24, features=np.column_stack([age, rng.random(24)]))
    error, without = (np.abs(one.kernels - kernels)[hidden, 0].max() for one in (found, plain))
    assert error < 0.12
    assert error < without / 2


def test_the_same_seed_gives_the_same_draws():
    problem = make("standard", arms=2, states=2, budget=1, seed=1)
    log = logged(problem, 4, Seen(1.0))
    one, other = fit(log, 2, 2, seed=3), fit(log, 2, 2, seed=3)
    assert np.array_equal(one.draws, other.draws)
    assert not np.array_equal(one.draws, fit(log, 2, 2, seed=4).draws)
    assert groups_of(problem).tolist() == [0, 1]


def test_moves_that_are_the_same_from_every_state_need_less_data():
    ladder = Arms.ladder([[0, 1, 2, 3]] * 6, [[0.1, 0.3 + 0.1 * g] for g in range(6)]).kernels
    log = logged(programme(ladder, 6, 2), 40, Seen(1.0))
    known = Structure(ladder[0, 0] > 0, never_hurts=True)
    free = fit(log, 4, 2, structure=known)
    tied = fit(log, 4, 2, structure=Structure(ladder[0, 0] > 0, True, same_moves=True))
    errors = [np.abs(found.kernels - ladder).mean() for found in (free, tied)]
    assert errors[1] < 0.8 * errors[0]
    assert not tied.draws[:, ladder == 0].any()
    np.testing.assert_allclose(tied.kernels[:, :, 1, 2], tied.kernels[:, :, 2, 3])
    np.testing.assert_allclose(tied.kernels.sum(axis=-1), 1.0)


def test_distances_are_split_where_several_lead_to_the_same_state():
    moves = SameMoves(np.ones((1, 3, 3), dtype=bool))
    rows = np.array([0.1, 0.2, 0.3, 0.3, 0.1]).reshape(1, 1, 1, 5)
    kernels = moves.kernels(rows)[0, 0]
    np.testing.assert_allclose(kernels, [[0.6, 0.3, 0.1], [0.3, 0.3, 0.4], [0.1, 0.2, 0.7]])
    counts = np.zeros((1, 1, 3, 3))
    counts[0, 0, 0, 0] = 60
    np.testing.assert_allclose(moves.fold(counts, rows)[0, 0, 0], [10, 20, 30, 0, 0])
    drawn = moves.fold(counts, rows, np.random.default_rng(0))[0, 0, 0]
    assert drawn.sum() == 60
    assert not drawn[3:].any()
    with pytest.raises(ProblemError, match="possible from every state"):
        SameMoves(np.array([[[1, 0, 0], [0, 0, 1], [0, 1, 1]]], dtype=bool))


def test_a_guess_that_is_right_for_all_rows_is_worth_thousands():
    ladder = Arms.ladder([[0, 1, 2, 3]] * 3, [[0.1, 0.8]] * 3).kernels
    allowed, rng = ladder[0] > 0, np.random.default_rng(0)
    rows, counts = ShrunkRows(allowed[None], [SteadyRows(allowed, 3)], 3), 10 * ladder[None]
    rows.fit(counts)
    worth = []
    for _ in range(300):
        rows.draw(counts, rng)
        worth.append(rows.worth[0].item())
    assert np.median(worth) > 1000


def test_that_moves_are_the_same_from_every_state_is_found_in_the_log():
    rng = np.random.default_rng(9)
    up = np.column_stack([rng.uniform(0.0, 0.2, 20), rng.uniform(0.7, 0.9, 20)])
    ladder = Arms.ladder(np.zeros((20, 4)), up).kernels
    log = logged(programme(ladder, 20, 5), 30, Seen(1.0))
    error = np.abs(fit(log, 4, 2).kernels - ladder)
    # Arms seldom get to the upper states; rows of their own would be a guess.
    assert error[:, 1, 2:].mean() < 0.06
