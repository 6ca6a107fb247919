"""What `lsflow` learns from: noise on the sphere, great circles, and weights."""

import numpy as np
import pytest
import torch

from experiments.rivals import lsflow
from experiments.rivals.flow_model import CRITICS, FLOW
from experiments.rivals.lsflow import LsFlow
from experiments.rivals.scores import seen
from sequoia.learn import make_config
from sequoia.problem.families import standard

PROBLEM = standard(arms=6, budget=2, horizon=4, seed=3)
RNG = np.random.default_rng(5)


@pytest.fixture
def learner():
    settings = {"selection.n_eval_episodes": 1, "hidden": 32, "learning_rate": 0.01}
    return LsFlow(PROBLEM, make_config("lsflow", **settings), 0)


def features(count):
    states = PROBLEM.draw_start(np.random.default_rng(2), count)
    return seen(PROBLEM, states, np.zeros(count, np.int64))


def test_the_logarithm_leads_along_the_great_circle():
    begin, end = lsflow.anywhere(RNG, (20, 6)).double(), lsflow.anywhere(RNG, (20, 6)).double()
    along = lsflow.logarithm(begin, end)
    assert torch.allclose((along * begin).sum(dim=1), torch.zeros(20).double(), atol=1e-6)
    assert torch.allclose(lsflow.moved(begin, along), end, atol=1e-5)
    half = lsflow.moved(begin, along / 2)
    assert torch.allclose((half * begin).sum(dim=1), (half * end).sum(dim=1), atol=1e-5)


@pytest.mark.parametrize("columns", [6, 60])
def test_noise_is_as_long_with_few_columns_as_with_many(columns):
    learner = LsFlow(standard(arms=columns, budget=2, horizon=4), make_config("lsflow"), 0)
    points = lsflow.anywhere(RNG, (4000, columns))
    moved = learner.near(points, RNG)
    assert torch.allclose(moved.norm(dim=1), torch.ones(4000), atol=1e-5)
    tangent = (1 / (moved * points).sum(dim=1) ** 2 - 1).mean().sqrt()
    assert abs(float(tangent) - 1.2) < 0.05


def test_the_flow_learns_to_carry_points_where_it_should(learner):
    wanted = lsflow.anywhere(RNG, (1, 6))
    given = features(64)
    for _ in range(300):
        learner.fit_flow(given, wanted.repeat(64, 1), RNG)
    found = learner.carried(learner.online, given, lsflow.anywhere(RNG, (64, 6)))
    assert (found @ wanted[0]).mean() > 0.9


def test_what_is_rated_better_counts_more_but_not_without_end(learner):
    points, given = lsflow.anywhere(RNG, (500, 6)), features(500)
    with torch.no_grad():
        for name in CRITICS:
            learner.target[name]["weight2"] *= 100
    weights = learner.how_good(given, points, np.random.default_rng(1))
    values = learner.worth(learner.target, given, learner.near(points, np.random.default_rng(1)))
    assert torch.equal(values.argsort()[:100].sort().values, weights.argsort()[:100].sort().values)
    assert 0.2 < float(weights.min()) < 0.6 < 1.5 < float(weights.max()) <= 4


def test_nothing_comes_after_the_last_step(learner):
    following = PROBLEM.draw_start(np.random.default_rng(2), 4)
    ahead = learner.ahead(following, np.arange(4), RNG)
    assert ahead[3] == 0
    assert (ahead[:3] != 0).all()


def test_the_target_follows_and_learning_waits_for_enough(learner):
    learner.learn(np.random.default_rng(0))
    both = zip(learner.target.parameters(), learner.online.parameters(), strict=True)
    assert learner.batches == 0
    assert all(torch.equal(one, other) for one, other in both)
    while learner.replay.count < 1_000:
        learner.learn(np.random.default_rng(1))
    learner.learn(np.random.default_rng(2))
    assert learner.batches > 0
    for name in (FLOW, *CRITICS):
        target, online = learner.target[name]["state"], learner.online[name]["state"]
        assert not torch.equal(target, online)


def test_the_result_plays_as_the_learner_did(learner):
    for _ in range(10):
        learner.learn(RNG)
    states, steps = PROBLEM.draw_start(np.random.default_rng(4), 5), np.zeros(5, np.int64)
    folded = learner.model().fold(states, steps).linear[:, :6]
    begun = torch.from_numpy(learner.model().starts).repeat(5, 1)
    best = learner.best(seen(PROBLEM, states, steps), begun)
    assert np.allclose(folded, best.numpy(), atol=1e-4)


def test_one_column_is_enough():
    """On the sphere of one dimension there are two points: to act and not to act."""
    problem = standard(arms=1, budget=1, horizon=4, seed=1)
    learner = LsFlow(problem, make_config("lsflow", learning_starts=0), 0)
    assert learner.learn(RNG) > 0
    states, steps = problem.draw_start(np.random.default_rng(1), 3), np.zeros(3, np.int64)
    assert np.allclose(np.abs(learner.model().fold(states, steps).linear[:, 0]), 1, atol=1e-4)
