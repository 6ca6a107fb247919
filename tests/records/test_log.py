"""A log says who was there, who was seen and who got what, and refuses what cannot have been."""

import numpy as np
import pytest

from sequoia.errors import ProblemError
from sequoia.policies import make_policy
from sequoia.problem.families import make
from sequoia.records import Log, Seen, simulate_log


def test_events_come_out_in_order():
    log = Log([0, 1], 3, [[1, 2, 0], [0, 1, 1], [0, 0, 1]], [[1, 0, 1]])
    assert log.sightings.tolist() == [[0, 0, 1], [0, 1, 1], [1, 2, 0]]
    assert log.n_rows == 4
    assert log.n_groups == 2


@pytest.mark.parametrize(
    ("sightings", "visits", "words"),
    [
        ([[0, 0, 1], [0, 0, 0]], [], "arm 0 at step 0 twice"),
        ([[2, 0, 1]], [], r"log.sightings\[:, 0\]\[0\] is 2"),
        ([[0, 4, 1]], [], r"log.sightings\[:, 1\]\[0\] is 4"),
        ([], [[0, 3, 1]], r"log.visits\[:, 1\]\[0\] is 3"),
        ([], [[1, 0, 1]], r"log.visits\[:, 1\]\[0\] is 0"),
        ([[0, 0, -1]], [], r"log.sightings\[:, 2\]\[0\] is -1"),
    ],
)
def test_what_cannot_have_been_is_refused(sightings, visits, words):
    with pytest.raises(ProblemError, match=words):
        Log([0, 0], 3, sightings, visits, joined=[0, 1])


def test_before_a_step_only_the_past_is_known():
    log = Log([0, 1, 2], 3, [[0, 1, 1], [2, 2, 0], [0, 3, 1]], [[0, 1, 1], [0, 0, 1]], [0, 2, 1])
    past = log.before(1)
    assert past.group.tolist() == [0, 2]
    assert past.sightings.tolist() == [[0, 1, 1]]
    assert past.visits.tolist() == [[0, 0, 1]]


def test_states_are_seen_by_the_rule():
    problem = make("standard", arms=12, budget=3, seed=1)
    policy = make_policy("random", problem)
    every = simulate_log(problem, policy, 20, Seen(1.0), np.random.default_rng(0))
    assert len(every.sightings) == 12 * 21
    only = simulate_log(problem, policy, 20, Seen(), np.random.default_rng(0))
    assert only.sightings[:, :2].tolist() == only.visits[:, :2].tolist()
    half = simulate_log(problem, policy, 200, Seen(0.5, 0.0), np.random.default_rng(0))
    assert 0.45 < len(half.sightings) / (12 * 201) < 0.55


@pytest.mark.parametrize("family", ["epidemic", "wildfire"])
def test_with_contagion_the_level_says_dose_and_pressure(family):
    problem = make(family, seed=1)
    policy = make_policy("random", problem)
    log = simulate_log(problem, policy, 5, Seen(1.0), np.random.default_rng(0))
    states = np.zeros((6, problem.arms.n_arms), dtype=np.int64)
    states[log.sightings[:, 1], log.sightings[:, 0]] = log.sightings[:, 2]
    acting = np.zeros_like(states)
    acting[log.visits[:, 1], log.visits[:, 0]] = log.visits[:, 2]
    pressure = problem.contagion.pressure(states)
    assert (acting[:5] // problem.arms.n_doses == pressure[:5]).all()
