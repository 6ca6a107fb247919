"""Exact dynamic programming against an independent check."""

import itertools
from functools import cache

import numpy as np
import pytest

from sequoia import Arms, Assignment, Budget, Custom, Floor, Problem, Rules, Schedule, Walk
from sequoia.bounds import solve_exactly
from sequoia.errors import InfeasibleSpace, ProblemError, TooLarge
from sequoia.policies import FunctionPolicy, Random
from sequoia.problem.contagion import Contagion
from sequoia.problem.families import capacity, standard, trap
from sequoia.simulate import Scenarios, rollout


def random_arms(arms, states, levels=2, seed=0):
    rng = np.random.default_rng(seed)
    doses = np.tile(np.arange(levels), (arms, 1))
    kernels = rng.dirichlet(np.full(states, 0.5), (arms, levels, states))
    return Arms(rng.random((arms, states)), doses, kernels), rng.dirichlet(np.ones(states), arms)


def problem_over(space, arms, states=2, seed=0, horizon=4, **more):
    arm_classes, start = random_arms(arms, states, seed=seed)
    return Problem("p", arm_classes, space, start, horizon=horizon, discount=0.8, **more)


def sharing():
    models, _ = random_arms(2, 2)
    arms = Arms(models.rewards, models.doses, models.kernels, model=[1, 0, 1])
    start = [[0.5, 0.5], [1, 0], [0, 1]]
    return Problem("p", arms, Budget(np.ones(3), 1), start, horizon=4, discount=0.8)


def compounding():
    arm_classes, start = random_arms(3, 2, levels=4, seed=5)
    influence = [[1, 2, 0, 0], [0, 1, 1, 0], [0, 0, 1, 2]]
    return Problem("p", arm_classes, Budget(np.ones(4), 2), start, influence, 3, 0.8)


def infecting():
    """Three arms of three states, a ring in which one pair presses twice as hard."""
    models, start = random_arms(4, 3, seed=6)
    arm_classes = Arms(models.rewards, models.doses, models.kernels, model=[0, 1, 0])
    bonds = [[0, 1, 0], [0, 0, 2], [1, 0, 0]]
    contagion = Contagion(bonds, [0, 1, 2], [[0, 1, 2], [1, 1, 3], [0, 3, 3]])
    space = Budget(np.ones(3), 2)
    return Problem("p", arm_classes, space, start[:3], None, 4, 0.8, contagion)


WORKERS = np.array([[1, 1, 0], [0, 1, 0]])
# Which actions are allowed is said here once more, in words.
TINY = {
    "budget": (
        problem_over(Budget([1, 2, 1.5], 2.5), 3, states=3),
        lambda a: a @ [1, 2, 1.5] <= 2.5,
    ),
    "shared models": (sharing(), lambda a: a.sum() <= 1),
    "contagion": (infecting(), lambda a: a.sum() <= 2),
    "influence": (compounding(), lambda a: a.sum() <= 2),
    "assignment": (
        problem_over(Assignment([2, 3, 2, 2], [4, 3]), 4),
        # The room of 3 holds any one arm, the room of 4 two arms of 2; so any three arms fit.
        lambda a: a.sum() <= 3,
    ),
    "schedule": (
        problem_over(Schedule(WORKERS, [[1, 1, 0], [0, 1, 1], [1, 0, 1]], 2), 3),
        # Openings 1, 2, 0: arm 2 is never seen twice, and three openings serve one arm.
        lambda a: a.sum() <= 1 and a[2] == 0,
    ),
    "path": (
        problem_over(Walk([[0, 1], [1, 2], [2, 3]], source=0, length=4, limit=2), 4),
        lambda a: a[3] == 0 and a.sum() <= 2,
    ),
    "custom": (
        problem_over(Custom([[1, 1, -1]], [0], [1], ["a", "b", "c"]), 3),
        lambda a: 0 <= a[0] + a[1] - a[2] <= 1,
    ),
    "rules": (
        problem_over(Budget(np.ones(4), 3), 4).with_rules(
            Rules(
                {"g": ("arm 0", "arm 1")},
                (Floor("g", share=0.5),),
                must=("arm 3",),
                at_most_one=(("arm 0", "arm 2"),),
            )
        ),
        lambda a: a.sum() <= 3 and a[0] + a[1] >= a.sum() / 2 and a[3] == 1 and a[0] + a[2] <= 1,
    ),
    "absent": (
        problem_over(Assignment([2, 2, 2], [4, 2]), 3).with_rules(Rules(absent=("worker 0",))),
        lambda a: a.sum() <= 1,
    ),
}


def model_of(problem, arm, state):
    among = problem.contagion
    if among is None:
        return problem.arms.model[arm]
    bonds = among.neighbours.toarray()[arm]
    pressure = sum(bonds[other] * among.sources[s] for other, s in enumerate(state))
    return among.models[arm, min(pressure, among.models.shape[1] - 1)]


def arm_steps(problem, state, action):
    """Return the kernel and the rewards of each arm under ``action``, by its dose."""
    arms = problem.arms
    for arm, dose in enumerate(problem.influence.toarray() @ action):
        model = model_of(problem, arm, state)
        (level,) = np.flatnonzero(arms.doses[model] == dose)
        yield arms.kernels[model, level], arms.rewards[model]


def outcomes(problem, state, action):
    """Yield every joint next state with its probability and its reward."""
    steps = list(arm_steps(problem, state, action))
    for after in itertools.product(range(problem.arms.n_states), repeat=len(state)):
        chance = np.prod([k[s, t] for (k, _), s, t in zip(steps, state, after, strict=True)])
        yield after, chance, sum(r[t] for (_, r), t in zip(steps, after, strict=True))


def allowed_actions(problem, is_allowed):
    every = itertools.product([0, 1], repeat=problem.space.n_actions)
    return [np.array(action) for action in every if is_allowed(np.array(action))]


def joint_start(problem):
    for state in itertools.product(range(problem.arms.n_states), repeat=problem.arms.n_arms):
        yield state, np.prod([problem.start[arm, s] for arm, s in enumerate(state)])


@pytest.mark.parametrize("name", TINY)
def test_finite_value_equals_an_expectimax(name):
    problem, is_allowed = TINY[name]
    actions = allowed_actions(problem, is_allowed)

    @cache
    def step_rows(state):
        return [list(outcomes(problem, state, action)) for action in actions]

    @cache
    def best(state, left):
        if left == 0:
            return 0.0
        return max(
            sum(p * (reward + best(after, left - 1)) for after, p, reward in rows if p > 0)
            for rows in step_rows(state)
        )

    exact = solve_exactly(problem)
    wanted = sum(chance * best(s, problem.horizon) for s, chance in joint_start(problem))
    assert exact.value == pytest.approx(wanted, rel=1e-12)
    shape = (problem.arms.n_states,) * problem.arms.n_arms
    for state, _ in joint_start(problem):
        where = np.ravel_multi_index(state, shape)
        for step in range(problem.horizon):
            value = best(state, problem.horizon - step)
            assert exact.values[step, where] == pytest.approx(value, rel=1e-12)
            chosen = exact.act(state, step).action
            index = next(i for i, a in enumerate(actions) if np.array_equal(a, chosen))
            rows = step_rows(state)[index]
            left = problem.horizon - step - 1
            earned = sum(p * (reward + best(after, left)) for after, p, reward in rows)
            assert earned == pytest.approx(value, rel=1e-12), "the action earns the value"


@pytest.mark.parametrize("name", TINY)
def test_discounted_value_satisfies_bellman(name):
    problem, is_allowed = TINY[name]
    exact = solve_exactly(problem, discounted=True)
    states = list(itertools.product(range(problem.arms.n_states), repeat=problem.arms.n_arms))
    index = {state: i for i, state in enumerate(states)}

    def dynamics(state, action):
        row, reward = np.zeros(len(states)), 0.0
        for after, chance, earned in outcomes(problem, state, action):
            row[index[after]] += chance
            reward += chance * earned
        return row, reward

    chosen = [dynamics(state, exact.act(state).action) for state in states]
    moves, rewards = np.array([row for row, _ in chosen]), np.array([r for _, r in chosen])
    values = np.linalg.solve(np.eye(len(states)) - problem.discount * moves, rewards)
    np.testing.assert_allclose(exact.values[0], values, rtol=1e-9)
    for action in allowed_actions(problem, is_allowed):
        for state in states:
            row, reward = dynamics(state, action)
            assert reward + problem.discount * row @ values <= values[index[state]] + 1e-8
    start = np.array([chance for _, chance in joint_start(problem)])
    assert exact.value == pytest.approx(start @ values, rel=1e-9)


def test_trap_is_solved_by_pushing_the_second_arm():
    exact = solve_exactly(trap())
    assert exact.value == pytest.approx(0.2 + 19 * 10.1)
    assert exact.act([0, 0]).action.tolist() == [0, 1]
    assert exact.act([0, 1], step=1).action.tolist() == [0, 1]


def test_a_short_trap_is_worth_stepping_into():
    exact = solve_exactly(trap(horizon=1))
    # Acting on the first arm earns 0.2 + 0.2; on the second 0.1 + 0.1.
    assert exact.value == pytest.approx(0.4)
    assert exact.act([0, 0]).action.tolist() == [1, 0]


def test_discounted_trap_by_arithmetic():
    exact = solve_exactly(trap(discount=0.9), discounted=True)
    assert exact.value == pytest.approx(0.2 + 0.9 * 10.1 / (1 - 0.9))
    assert exact.act([0, 0]).action.tolist() == [0, 1]


@pytest.mark.parametrize(
    "problem",
    [standard(arms=4, states=3, budget=1, horizon=8), capacity(arms=4, workers=2, states=3)],
    ids=["standard", "capacity"],
)
def test_the_policy_earns_its_value_in_simulation(problem):
    exact = solve_exactly(problem)
    played = rollout(
        problem,
        FunctionPolicy("exact", lambda s, step, _: exact.act(s, step)),
        Scenarios.sample(problem, 300, seed=2),
    )
    earned = played.rewards.sum(axis=1)
    error = earned.std(ddof=1) / np.sqrt(len(earned))
    assert abs(earned.mean() - exact.value) < 3.5 * error
    assert error < 0.03 * exact.value, "the interval is narrow enough to mean something"


def test_no_policy_earns_more():
    problem = standard(arms=4, states=3, budget=1, horizon=8)
    exact = solve_exactly(problem)
    scenarios = Scenarios.sample(problem, 200, seed=2)
    earned = rollout(problem, Random(problem), scenarios)
    assert earned.rewards.sum(axis=1).mean() < exact.value


def test_too_many_joint_states_are_refused_with_their_number():
    with pytest.raises(TooLarge, match=r"4\^20 joint states × 20 steps are too many"):
        solve_exactly(standard(arms=20))
    with pytest.raises(TooLarge, match=r"4\^2000 joint states"):
        solve_exactly(standard(arms=2000), discounted=True)
    with pytest.raises(TooLarge, match=r"4\^9 joint states × 1000 steps"):
        solve_exactly(standard(arms=9, horizon=1000))


def test_too_much_work_is_refused_with_its_amount():
    with pytest.raises(TooLarge, match=r"2\^16 joint states × \d+ actions need \S+ operations"):
        solve_exactly(standard(arms=16, states=2, budget=8, horizon=2))


def test_too_many_actions_are_refused():
    with pytest.raises(TooLarge, match="more than 100000 feasible actions"):
        solve_exactly(standard(arms=20, states=2, budget=10, horizon=1))


def test_discounting_by_one_is_refused():
    with pytest.raises(ProblemError, match="discount is 1; the discounted optimum needs less"):
        solve_exactly(trap(discount=1.0), discounted=True)


def test_a_space_without_decisions_is_refused():
    problem = trap().with_rules(Rules(must=("arm 0", "arm 1")))
    with pytest.raises(InfeasibleSpace, match="no decision satisfies the rules"):
        solve_exactly(problem)
