import numpy as np
import pytest

from sequoia.bounds import whittle_indices
from sequoia.errors import ProblemError


def random_arms(count: int, states: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    kernels = rng.dirichlet(np.full(states, 0.5), (count, 2, states))
    return kernels, rng.random((count, 2, states))


@pytest.mark.parametrize("discount", [0.9, 0.99, 1.0])
@pytest.mark.filterwarnings("ignore")
def test_agrees_with_markovianbandit(discount: float, capsys: pytest.CaptureFixture[str]) -> None:
    reason = "markovianbandit-pkg (and numba) are not installed"
    reference = pytest.importorskip("markovianbandit", reason=reason)
    for states in (2, 3, 5, 8):
        kernels, rewards = random_arms(60, states, seed=states)
        mine = whittle_indices(kernels, rewards, discount)
        for arm in range(len(kernels)):
            model = reference.restless_bandit_from_P0P1_R0R1(*kernels[arm], *rewards[arm])
            assert model.is_indexable(discount=discount) == mine.is_indexable[arm]
            if mine.is_indexable[arm]:
                theirs = model.whittle_indices(discount=discount)
                assert mine.indices[arm] == pytest.approx(theirs, abs=1e-6)
    capsys.readouterr()


def best_sets(
    kernels: np.ndarray, rewards: np.ndarray, charge: float, discount: float
) -> np.ndarray:
    """Return where acting is strictly better, by value iteration."""
    values = np.zeros(rewards.shape[1])
    for _ in range(400):
        ahead = rewards - np.array([[0.0], [charge]]) + discount * kernels @ values
        values = ahead.max(axis=0)
    return np.asarray(ahead[1] - ahead[0])


def test_index_is_where_acting_stops_to_pay() -> None:
    kernels, rewards = random_arms(20, 4, seed=1)
    found = whittle_indices(kernels, rewards, 0.9)
    assert found.is_indexable.all()
    for arm in range(20):
        for state, index in enumerate(found.indices[arm]):
            below = best_sets(kernels[arm], rewards[arm], index - 1e-4, 0.9)
            above = best_sets(kernels[arm], rewards[arm], index + 1e-4, 0.9)
            assert below[state] > 0 > above[state]


def test_finds_an_arm_that_is_not_indexable() -> None:
    kernels, rewards = random_arms(4000, 3, seed=2)
    found = whittle_indices(kernels, rewards, 0.9)
    wrong = np.flatnonzero(~found.is_indexable)
    assert 0 < len(wrong) < 200
    assert np.isnan(found.indices[wrong]).all()
    arm = wrong[0]
    charges = np.linspace(-2, 2, 201)
    acts = [best_sets(kernels[arm], rewards[arm], charge, 0.9) > 1e-7 for charge in charges]
    returns = (~np.array(acts)[:-1] & np.array(acts)[1:]).any()
    assert returns


def test_separate_classes_need_a_discount() -> None:
    kernels = np.broadcast_to(np.eye(2), (1, 2, 2, 2))
    with pytest.raises(ProblemError, match="discount"):
        whittle_indices(kernels, np.zeros((1, 2, 2)), 1.0)
