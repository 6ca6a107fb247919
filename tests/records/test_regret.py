"""Programmes that learn lose less and less against one that knows the truth."""

import numpy as np
import pytest

from sequoia.bounds import bound
from sequoia.errors import ProblemError
from sequoia.policies import make_policy
from sequoia.problem import Arms, Budget, Problem
from sequoia.problem.families import make
from sequoia.records import Seen, Structure, cautious, fit, regret, simulate_log, with_kernels
from sequoia.records.learners import hopeful


@pytest.fixture(scope="module")
def bandit():
    """Six arms of two kinds: only the second kind responds."""
    idle = [[0.9, 0.1], [0.3, 0.7]]
    helped = [[0.1, 0.9], [0.05, 0.95]]
    arms = Arms(
        np.tile([0.0, 1.0], (2, 1)),
        np.tile([0.0, 1.0], (2, 1)),
        [[idle, idle], [idle, helped]],
        np.arange(6) % 2,
    )
    return Problem(
        "two kinds", arms, Budget(np.ones(6), 2), np.tile([1.0, 0.0], (6, 1)), discount=0.95
    )


def test_learning_pays(bandit):
    found = regret(bandit, steps=60, episodes=4, every=10)
    assert list(found.names) == ["thompson", "refit", "groups", "ucwhittle"]
    lost = found.cumulative.mean(axis=1)
    for name in ("thompson", "refit"):
        curve = lost[list(found.names).index(name)]
        # Most of what is lost is lost early.
        assert curve[-1] - curve[29] < max(curve[29], 1.0)
    assert found.at("thompson", 60).mean < found.at("groups", 60).mean
    assert found.share("groups", 60).mean > 0.05


def test_states_may_be_seen_at_visits_only(bandit):
    found = regret(bandit, ["thompson"], steps=20, episodes=2, seen=Seen())
    assert np.isfinite(found.rewards).all()
    with pytest.raises(ProblemError, match="every state to be seen"):
        regret(bandit, ["ucwhittle"], steps=20, episodes=1, seen=Seen())
    assert "ucwhittle" not in regret(bandit, steps=3, episodes=1, seen=Seen()).names


def test_what_is_known_is_used(bandit):
    known = Structure(never_hurts=True)
    found = regret(bandit, ["refit"], steps=10, episodes=1, structure=known)
    assert found.rewards.shape == (1, 1, 10)


def test_other_spaces_have_regret_too():
    found = regret(make("capacity", arms=8, seed=1), ["refit", "groups"], steps=6, episodes=1)
    assert list(found.names) == ["refit", "groups"]
    with pytest.raises(ProblemError, match="not a standard bandit"):
        regret(make("capacity", arms=8, seed=1), ["ucwhittle"], steps=6, episodes=1)
    with pytest.raises(ProblemError, match=r"no learner 'tompson'.*thompson"):
        regret(make("capacity", arms=8, seed=1), ["tompson"])
    with pytest.raises(ProblemError, match="infect each other"):
        regret(make("epidemic", seed=1))


def test_the_same_seed_gives_the_same_regret(bandit):
    one, other = (regret(bandit, ["thompson"], steps=10, episodes=2, seed=4) for _ in range(2))
    assert np.array_equal(one.rewards, other.rewards)


def test_hopeful_rows_are_the_best_within_their_radius():
    rng = np.random.default_rng(0)
    mean = rng.dirichlet(np.ones(4), (3, 2, 4))
    worth = rng.random((3, 1, 1, 4))
    radius = rng.uniform(0.0, 2.0, (3, 2, 4))
    hope = hopeful(mean, radius, worth)
    np.testing.assert_allclose(hope.sum(axis=-1), 1.0)
    assert (hope >= -1e-12).all()
    assert (np.abs(hope - mean).sum(axis=-1) <= radius + 1e-9).all()
    best = (hope * worth).sum(axis=-1)
    for _ in range(200):
        other = rng.dirichlet(np.ones(4), (3, 2, 4))
        share = np.minimum(1, radius / np.abs(other - mean).sum(axis=-1))[..., None]
        assert (best >= ((mean + share * (other - mean)) * worth).sum(axis=-1) - 1e-9).all()


def test_the_cautious_model_promises_less_than_most(bandit):
    policy = make_policy("random", bandit)
    log = simulate_log(bandit, policy, 8, Seen(1.0), np.random.default_rng(1))
    found = fit(log, 2, 2)
    kernels = cautious(found, bandit)
    careful = bound(with_kernels(bandit, kernels)).total
    others = [bound(with_kernels(bandit, draw)).total for draw in found.draws[::8]]
    assert np.mean(np.array(others) > careful) > 0.6
    assert np.mean(np.array(others) < careful) < 0.35
    assert any(np.array_equal(kernels, draw) for draw in found.draws)
