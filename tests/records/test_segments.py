"""Counts of unseen transitions agree with an enumeration of all unseen paths."""

from itertools import pairwise, product

import numpy as np
import pytest

from sequoia.errors import ProblemError
from sequoia.records import Log
from sequoia.records.segments import Segments


def some_log(rng, arms=12, steps=7, states=3, doses=2, groups=2):
    seen = [(j, t, rng.integers(states)) for j in range(arms) for t in range(steps + 1)]
    given = [(j, t, rng.integers(1, doses)) for j in range(arms) for t in range(steps)]
    seen = [row for row in seen if rng.random() < 0.4]
    given = [row for row in given if rng.random() < 0.3]
    return Log(rng.integers(0, groups, arms), steps, seen, given)


def by_enumeration(log, kernels):
    """Return expected counts and the log-likelihood, path by path."""
    counts, likelihood = np.zeros_like(kernels), 0.0
    states = kernels.shape[-1]
    dose = {(j, t): d for j, t, d in log.visits.tolist()}
    for (j, t0, first), (k, t1, last) in zip(log.sightings, log.sightings[1:], strict=False):
        if j != k:
            continue
        own = [kernels[log.group[j], dose.get((j, t), 0)] for t in range(t0, t1)]
        chances = {}
        for between in product(range(states), repeat=t1 - t0 - 1):
            path = (first, *between, last)
            chances[path] = np.prod([p[a, b] for p, a, b in zip(own, path, path[1:], strict=False)])
        total = sum(chances.values())
        likelihood += np.log(total)
        for path, chance in chances.items():
            for t, (a, b) in enumerate(pairwise(path)):
                counts[log.group[j], dose.get((j, t0 + t), 0), a, b] += chance / total
    return counts, likelihood


@pytest.mark.parametrize("seed", range(5))
def test_expected_counts_are_those_of_all_paths(seed):
    rng = np.random.default_rng(seed)
    log = some_log(rng)
    kernels = rng.dirichlet(np.ones(3), (2, 2, 3))
    found, likelihood = Segments.of(log, 2, 2, 3).expected_counts(kernels)
    wanted, truth = by_enumeration(log, kernels)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    assert likelihood == pytest.approx(truth)


def test_sampled_counts_agree_with_expected_ones_on_average():
    rng = np.random.default_rng(3)
    log = some_log(rng)
    kernels = rng.dirichlet(np.ones(3), (2, 2, 3))
    segments = Segments.of(log, 2, 2, 3)
    drawn = segments.copies(4000).sample_counts(np.tile(kernels, (4000, 1, 1, 1)), rng)
    drawn = drawn.reshape(4000, *kernels.shape)
    wanted = segments.expected_counts(kernels)[0]
    assert (drawn.sum(axis=(1, 2, 3, 4)) == round(wanted.sum())).all()
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - wanted) <= 4.5 * error + 1e-9).all()


def test_copies_have_the_log_for_themselves():
    rng = np.random.default_rng(5)
    segments = Segments.of(some_log(rng), 2, 2, 3)
    kernels = rng.dirichlet(np.ones(3), (3, 2, 2, 3))
    each = [segments.expected_counts(own) for own in kernels]
    counts, likelihood = segments.copies(3).expected_counts(kernels.reshape(6, 2, 3, 3))
    np.testing.assert_allclose(counts.reshape(kernels.shape), [own for own, _ in each])
    assert likelihood == pytest.approx(sum(own for _, own in each))
    drawn = segments.copies(3).sample_counts(kernels.reshape(6, 2, 3, 3), rng)
    assert (drawn.reshape(3, -1).sum(axis=1) == round(each[0][0].sum())).all()


def test_pooled_segments_are_those_of_one_group():
    rng = np.random.default_rng(4)
    log = some_log(rng)
    one = Log(np.zeros(log.n_arms), log.n_steps, log.sightings, log.visits)
    kernels = rng.dirichlet(np.ones(3), (1, 2, 3))
    found = Segments.of(log, 2, 2, 3).pooled().expected_counts(kernels)
    wanted = Segments.of(one, 1, 2, 3).expected_counts(kernels)
    np.testing.assert_allclose(found[0], wanted[0])
    assert found[1] == pytest.approx(wanted[1])


def test_a_log_without_segments_has_no_counts():
    segments = Segments.of(Log([0], 3, [[0, 1, 1]], []), 1, 2, 2)
    kernels = np.full((1, 2, 2, 2), 0.5)
    assert segments.n_segments == 0
    assert not segments.expected_counts(kernels)[0].any()
    assert not segments.sample_counts(kernels, np.random.default_rng(0)).any()


def test_a_state_that_is_not_there_is_refused():
    with pytest.raises(ProblemError, match=r"goes up to 2; at most 1"):
        Segments.of(Log([0], 3, [[0, 1, 2]], []), 1, 2, 2)
