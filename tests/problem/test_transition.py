"""One step: frequencies, luck, and the expected reward."""

import numpy as np
import pytest

from sequoia import Arms, Budget, Problem
from sequoia.problem.families import capacity, interventions, standard

RNG_SEED = 11


def random_problem():
    """Return five arms that follow three models, with doses 0, 1, 2.5 and random kernels."""
    rng = np.random.default_rng(RNG_SEED)
    kernels = rng.dirichlet(np.full(4, 0.6), (3, 4, 4))
    arms = Arms(
        rng.random((3, 4)), np.tile([0, 1, 2.5, 3.5], (3, 1)), kernels, model=[2, 0, 1, 1, 2]
    )
    influence = [[1, 2.5, 0], [0, 1, 0], [2.5, 0, 1], [0, 0, 3.5], [0, 0, 0]]
    return Problem("p", arms, Budget(np.ones(3), 1), [[1, 0, 0, 0]] * 5, influence)


def dose_kernels(problem, action):
    """Return the kernel of each arm under ``action``, looked up without the simulator."""
    doses = problem.influence.toarray() @ action
    arms = problem.arms
    for arm, dose in enumerate(doses):
        model = arms.model[arm]
        (level,) = np.flatnonzero(np.abs(arms.doses[model] - dose) < 1e-9)
        yield arms.kernels[model, level], arms.rewards[model]


@pytest.mark.parametrize("action", [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1]])
def test_frequencies_follow_the_kernels(action):
    problem = random_problem()
    rng = np.random.default_rng(RNG_SEED)
    draws = 40_000
    for state in range(4):
        states = np.full((draws, 5), state)
        after = problem.transition(states, np.tile(action, (draws, 1)), rng.random((draws, 5)))
        for arm, (kernel, _) in enumerate(dose_kernels(problem, action)):
            found = np.bincount(after[:, arm], minlength=4) / draws
            error = np.sqrt(kernel[state] * (1 - kernel[state]) / draws)
            assert (np.abs(found - kernel[state]) <= 4.5 * error + 1e-12).all()


def test_noise_is_the_inverse_of_the_distribution():
    kernels = np.tile([0.25, 0.0, 0.5, 0.25], (1, 1, 4, 1))
    problem = Problem(
        "p", Arms(np.zeros((1, 4)), [[0]], kernels), Budget([], 0), [[1, 0, 0, 0]], [[]]
    )
    noise = np.array([[0.0], [0.2499], [0.25], [0.7499], [0.75], [np.nextafter(1, 0)]])
    after = problem.transition(np.zeros((6, 1), dtype=int), np.empty((6, 0)), noise)
    assert after[:, 0].tolist() == [0, 0, 2, 2, 3, 3]


def test_equal_noise_gives_equal_luck():
    problem = capacity(arms=30)
    rng = np.random.default_rng(RNG_SEED)
    states, noise = rng.integers(0, 4, (50, 30)), rng.random((50, 30))
    actions = rng.integers(0, 2, (50, 30))
    idle, acted = (problem.transition(states, a, noise) for a in (np.zeros_like(actions), actions))
    assert (idle[actions == 0] == acted[actions == 0]).all(), "an arm not acted on has its luck"
    assert (acted >= idle).all(), "on a ladder, acting never makes the same luck worse"
    assert (acted > idle).any()


def test_a_row_does_not_depend_on_the_rest_of_the_batch():
    problem = interventions(arms=20)
    rng = np.random.default_rng(RNG_SEED)
    states, noise = rng.integers(0, 4, (64, 20)), rng.random((64, 20))
    actions = rng.integers(0, 2, (64, problem.space.n_actions))
    whole = problem.transition(states, actions, noise)
    order = rng.permutation(64)[:17]
    part = problem.transition(states[order], actions[order], noise[order])
    np.testing.assert_array_equal(part, whole[order])
    for row in range(64):
        one = slice(row, row + 1)
        alone = problem.transition(states[one], actions[one], noise[one])
        np.testing.assert_array_equal(alone[0], whole[row])
    np.testing.assert_array_equal(
        problem.expected_reward(states[order], actions[order]),
        problem.expected_reward(states, actions)[order],
    )


def test_inputs_are_left_alone():
    problem = capacity(arms=10)
    states, actions = np.ones((4, 10), dtype=np.int64), np.ones((4, 10), dtype=np.int8)
    noise = np.full((4, 10), 0.5)
    problem.transition(states, actions, noise)
    problem.expected_reward(states, actions)
    assert (states == 1).all()
    assert (actions == 1).all()
    assert (noise == 0.5).all()


def test_infeasible_actions_are_accepted():
    problem = standard(arms=10, budget=1)
    everything = np.ones((1, 10), dtype=np.int8)
    assert not problem.space.contains(everything)[0]
    after = problem.transition(np.zeros((1, 10), dtype=int), everything, np.full((1, 10), 0.5))
    assert after.tolist() == [[1] * 10], "acted on, every arm moves up with at least 0.7"


def test_action_types_agree():
    for problem in (capacity(arms=12), interventions(arms=12)):
        rng = np.random.default_rng(RNG_SEED)
        states, noise = rng.integers(0, 4, (8, 12)), rng.random((8, 12))
        actions = rng.integers(0, 2, (8, problem.space.n_actions))
        wanted = problem.transition(states, actions, noise)
        for kind in (np.int8, np.bool_, np.float64):
            after = problem.transition(states, actions.astype(kind), noise)
            np.testing.assert_array_equal(after, wanted)
        assert wanted.dtype == np.int64


def test_an_arm_with_one_state_stays():
    problem = Problem("p", Arms.ladder([[7.0]], [[0, 1]]), Budget([1], 1), [[1.0]])
    assert problem.transition([[0]], [[1]], [[0.9]]).tolist() == [[0]]
    assert problem.expected_reward([[0]], [[1]]).tolist() == [7.0]


def test_expected_reward_against_brute_force():
    problem = random_problem()
    rng = np.random.default_rng(RNG_SEED)
    states, actions = rng.integers(0, 4, (60, 5)), rng.integers(0, 2, (60, 3))
    wanted = [
        sum(
            kernel[state[arm]] @ rewards
            for arm, (kernel, rewards) in enumerate(dose_kernels(problem, action))
        )
        for state, action in zip(states, actions, strict=True)
    ]
    np.testing.assert_allclose(problem.expected_reward(states, actions), wanted, rtol=1e-12)


def test_expected_reward_is_the_mean_over_luck():
    problem = random_problem()
    rng = np.random.default_rng(RNG_SEED)
    state, action, draws = rng.integers(0, 4, (1, 5)), np.array([[1, 0, 1]]), 100_000
    after = problem.transition(
        state.repeat(draws, 0), action.repeat(draws, 0), rng.random((draws, 5))
    )
    earned = problem.arms.rewards[problem.arms.model, after].sum(axis=1)
    error = earned.std() / np.sqrt(draws)
    assert abs(earned.mean() - problem.expected_reward(state, action)[0]) < 4.5 * error
