import numpy as np
import pytest

from sequoia.bounds import relax, solve_exactly
from sequoia.errors import ProblemError
from sequoia.policies import PricePolicy, PriceUpdatePolicy
from sequoia.problem.families import FAMILIES, trap
from sequoia.simulate import Scenarios, rollout


@pytest.mark.parametrize("family", ["interventions", "scheduling", "capacity", "routing"])
def test_close_to_the_bound(family: str) -> None:
    problem = FAMILIES[family](arms=20, seed=1)
    hull = relax(problem, "hull", gap=1e-3)
    scenarios = Scenarios.sample(problem, 12, seed=0)
    rewards = rollout(problem, PricePolicy(problem, hull.prices), scenarios).rewards.mean(1)
    half_width = 2.2 * rewards.std(ddof=1) / np.sqrt(len(rewards))
    assert rewards.mean() - half_width <= hull.bound.per_step
    assert rewards.mean() + half_width >= 0.97 * hull.bound.per_step


def test_the_trap_is_avoided() -> None:
    problem = trap(horizon=20)
    scenarios = Scenarios.sample(problem, 1, seed=0)
    exact = solve_exactly(problem).value
    for policy in (PricePolicy(problem), PriceUpdatePolicy(problem)):
        assert rollout(problem, policy, scenarios).rewards.sum() >= 0.99 * exact


def test_updates_belong_to_their_episode() -> None:
    """Playing episodes side by side changes nothing, whatever the pace of updates."""
    problem = FAMILIES["scheduling"](arms=8, workers=2, horizon=6)
    both = Scenarios.sample(problem, 2, seed=0)
    alone = Scenarios(both.start[:1], both.noise[:1])
    for every in (1, 3):
        policy = PriceUpdatePolicy(problem, every)
        together = rollout(problem, policy, both)
        single = rollout(problem, PriceUpdatePolicy(problem, every), alone)
        assert np.array_equal(together.states[0], single.states[0])


def test_updates_over_known_actions() -> None:
    problem = FAMILIES["routing"](arms=20, horizon=3)
    vertices = relax(problem, "hull", gap=1e-2).vertices
    policy = PriceUpdatePolicy(problem, 2, vertices=vertices)
    rollout(problem, policy, Scenarios.sample(problem, 2, seed=0))


def test_updates_that_the_clock_cuts_off_say_so() -> None:
    problem = FAMILIES["standard"](arms=130, horizon=2)
    policy = PriceUpdatePolicy(problem, update_seconds=0.0)
    played = rollout(problem, policy, Scenarios.sample(problem, 1, seed=0))
    assert played.is_at_limit.all()
    assert played.is_late.all()


def test_stationary_prices() -> None:
    problem = FAMILIES["capacity"](arms=10, horizon=10)
    prices = relax(problem, horizon=0, discounted=True).prices
    assert prices.is_stationary
    assert np.array_equal(prices.phi(0), prices.phi(7))
    assert prices.phi().shape == (10, 4, 2)
    assert prices.theta().shape == (10, 4)
    rollout(problem, PricePolicy(problem, prices), Scenarios.sample(problem, 2, seed=0))


def test_refusals() -> None:
    with pytest.raises(ProblemError, match="every"):
        PriceUpdatePolicy(trap(), 0)
