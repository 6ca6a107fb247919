"""Predictions of held-out sightings, and what a fitted model says of itself."""

from functools import partial

import numpy as np
import pytest

from sequoia.errors import ProblemError
from sequoia.policies import make_policy
from sequoia.problem import Arms, Budget, Problem
from sequoia.records import Log, Seen, calibrate, fit, fit_rows, fit_words, simulate_log


@pytest.fixture(scope="module")
def clinic():
    kernels = [[[[0.9, 0.1], [0.3, 0.7]], [[0.3, 0.7], [0.1, 0.9]]]]
    arms = Arms(
        [[0.0, 1.0]],
        [[0.0, 1.0]],
        kernels,
        np.zeros(60),
        model_names=["asthma"],
        state_names=["at risk", "well"],
        dose_names={1.0: "a visit"},
    )
    return Problem("clinic", arms, Budget(np.ones(60), 15), np.full((60, 2), 0.5))


@pytest.fixture(scope="module")
def log(clinic):
    policy = make_policy("random", clinic)
    return simulate_log(clinic, policy, 25, Seen(0.6), np.random.default_rng(2))


def test_the_true_model_is_calibrated_and_beats_the_frequencies(log):
    held = calibrate(log, 2, partial(fit, n_states=2, n_doses=2))
    assert held.is_fine
    assert held.log_score > held.baseline + 0.05
    assert held.since == 20
    late = log.sightings[log.sightings[:, 1] > 20]
    assert held.n_sightings == len(late)
    assert held.count.sum() == 2 * held.n_sightings
    assert "agree with" in held.words


def test_a_wrong_model_is_not(log):
    class Wrong:
        kernels = np.array([[[[0.5, 0.5], [0.9, 0.1]], [[0.95, 0.05], [0.9, 0.1]]]])

    held = calibrate(log, 2, lambda _: Wrong())
    assert not held.is_fine
    assert held.log_score < held.baseline
    assert "differ from" in held.words
    assert "no more probability" in held.words


def test_nothing_to_foresee_is_said():
    short = Log([0], 10, [[0, 0, 1], [0, 1, 0]], [])
    with pytest.raises(ProblemError, match="nobody was seen twice"):
        calibrate(short, 2, partial(fit, n_states=2, n_doses=1))


def test_the_table_names_everything_and_the_words_what_is_not_known(clinic, log):
    found = fit(log, 2, 2)
    rows = list(fit_rows(found, clinic.arms))
    assert len(rows) == 8
    row = rows[4]
    assert row[:4] == ("asthma", "1 (a visit)", "at risk", "at risk")
    assert row.low <= row.estimate <= row.high
    assert sum(row.met for row in rows) == pytest.approx(found.counts.sum())
    assert ("cannot tell", "nothing: all rows are known well") in fit_words(found, clinic.arms)
    few = fit(Log(np.zeros(60), 2, [[0, 0, 0], [0, 1, 1]], []), 2, 2)
    words = " ".join(text for _, text in fit_words(few, clinic.arms))
    assert "4 of 4 rows of transitions" in words
    assert 'asthma, dose 1 (a visit), from state "at risk": never met' in words
