import numpy as np
import pytest

from action_limit_cases import Doors
from policy_cases import KINDS, decide, joint_states, tiny, value_of
from sequoia import Assignment, Rules
from sequoia.bounds import solve_exactly
from sequoia.errors import InfeasibleSpace, ProblemError, SequoiaError, TooLarge
from sequoia.policies import (
    POLICIES,
    Idle,
    IterativeMyopic,
    Myopic,
    Optimal,
    Random,
    Sampling,
    make_policy,
)
from sequoia.problem.families import (
    FAMILIES,
    capacity,
    epidemic,
    interventions,
    routing,
    scheduling,
    standard,
)
from sequoia.simulate import Scenarios, rollout

RNG = np.random.default_rng(0)
NAMES = [
    *("idle", "random", "sampling", "iterative-myopic", "myopic", "iterative-dqn", "sequoia"),
    *("price", "price-update", "robust", "whittle", "lookahead", "exact"),
]
SMALL = {
    "epidemic": epidemic(arms=8),
    "capacity": capacity(arms=8, workers=3),
    "scheduling": scheduling(arms=8, workers=3),
    "interventions": interventions(arms=9, budget=3),
    "routing": routing(arms=8, budget=3),
}


def test_the_registry_has_every_policy_with_a_line_about_it():
    assert list(POLICIES.library) == NAMES
    assert all(recipe.words and "\n" not in recipe.words for recipe in POLICIES.values())
    assert {name for name in NAMES if POLICIES[name].needs_model} == {
        *("sequoia", "iterative-dqn"),
    }


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ["idle", "random", "sampling", "myopic", "price", "price-update"])
def test_decisions_are_feasible_and_named(family, name):
    sizes = {} if family == "trap" else {"arms": 8}
    problem = FAMILIES[family](horizon=3, **sizes)
    if problem.contagion is not None and name == "price-update":
        with pytest.raises(ProblemError, match=f"^{name}: prices need arms that evolve on their"):
            make_policy(name, problem)
        return
    policy = make_policy(name, problem)
    played = rollout(problem, policy, Scenarios.sample(problem, 2, seed=1))
    assert np.isfinite(played.rewards).all()


@pytest.mark.parametrize("family", SMALL)
def test_myopic_is_the_best_of_all_actions_for_the_next_step(family):
    problem = SMALL[family]
    actions = problem.space.enumerate(100_000)
    rng = np.random.default_rng(3)
    myopic, sampling = Myopic(problem), Sampling(problem, k=30)
    for _ in range(10):
        state = rng.integers(0, problem.arms.n_states, problem.arms.n_arms)
        every = problem.expected_reward(np.tile(state, (len(actions), 1)), actions)
        for policy in (myopic, sampling):
            decision = decide(policy, state, 0, rng)
            value = problem.expected_reward(state[None], decision.action[None])[0]
            assert value <= every.max() + 1e-9
            if policy is myopic:
                assert value == pytest.approx(every.max(), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_myopic_on_tiny_problems_with_any_rules(kind):
    for seed in range(5):
        problem = tiny(kind, seed, horizon=1)
        # With one step to go, the best for the next step is the best there is.
        assert value_of(problem, Myopic(problem)) == pytest.approx(solve_exactly(problem).value)


@pytest.mark.parametrize("kind", KINDS)
def test_exact_is_at_least_as_good_as_anything_else(kind):
    rivals = ["idle", "random", "sampling", "iterative-myopic", "myopic", "price"]
    for seed in range(15):
        problem = tiny(kind, seed)
        best = Optimal(problem)
        optimum = value_of(problem, best)
        assert optimum == pytest.approx(solve_exactly(problem).value, abs=1e-9)
        for name in rivals:
            if name == "iterative-myopic" and kind == "path":
                continue
            policy = Sampling(problem, k=5) if name == "sampling" else make_policy(name, problem)
            assert value_of(problem, policy) <= optimum + 1e-9, (problem.name, name)


def test_greedy_fills_small_workers_first_and_by_value_per_cost():
    """Two workers; the small one comes first and takes what pays most for its cost."""
    from sequoia import Arms, Problem

    arms = Arms.ladder([[0, 3], [0, 5], [0, 4]], [[0, 1.0]] * 3)
    problem = Problem("greedy", arms, Assignment([1, 3, 2], [4, 2]), [[1, 0]] * 3)
    decision = decide(IterativeMyopic(problem), np.zeros(3, dtype=np.int64), 0, RNG)
    # Worker 1 (capacity 2) takes arm 0 (3 per unit), which leaves nothing that fits its last
    # unit; worker 0 takes arm 2 (2 per unit) before arm 1 (5/3), and then arm 1 does not fit.
    assert problem.space.describe(decision) == [
        "Worker 0 visits arm 2 (2 of 4 units used)",
        "Worker 1 visits arm 0 (1 of 2 units used)",
    ]


def test_greedy_goes_on_until_nothing_fits():
    problem = SMALL["capacity"]
    decision = decide(IterativeMyopic(problem), np.zeros(8, dtype=np.int64), 0, RNG)
    assert not len(problem.space.extensions(decision))


def test_idle_and_random():
    problem = SMALL["routing"]
    state = np.zeros(8, dtype=np.int64)
    assert not decide(Idle(problem), state, 0, RNG).action.any()
    drawn = {decide(Random(problem), state, 0, RNG).action.tobytes() for _ in range(20)}
    assert len(drawn) > 3


def test_exact_repeats_its_last_step():
    problem = tiny("budget", 0)
    best = Optimal(problem)
    for state in joint_states(problem):
        last, later = (decide(best, state, step, RNG).action for step in (2, 9))
        assert np.array_equal(last, later)


@pytest.mark.parametrize(
    ("name", "problem", "error", "words"),
    [
        ("nonsense", SMALL["capacity"], ProblemError, "no policy 'nonsense'; known: idle, random"),
        ("sequoia", SMALL["capacity"], ProblemError, "sequoia needs a trained model"),
        ("iterative-dqn", SMALL["capacity"], ProblemError, "needs a trained model"),
        ("whittle", SMALL["capacity"], ProblemError, "whittle: .* not a standard bandit"),
        ("exact", capacity(), TooLarge, "exact: 4\\^20 joint states"),
        ("iterative-myopic", SMALL["routing"], ProblemError, "closed walk one stop at a time"),
        (
            "iterative-myopic",
            SMALL["routing"].with_rules(Rules(never=[SMALL["routing"].space.names[1]])),
            ProblemError,
            "closed walk one stop at a time",
        ),
        (
            "iterative-myopic",
            SMALL["capacity"].with_rules(Rules(must=["arm 1"])),
            InfeasibleSpace,
            "doing nothing",
        ),
        (
            "idle",
            SMALL["capacity"].with_rules(Rules(must=["arm 1"])),
            InfeasibleSpace,
            "must act on arm 1",
        ),
    ],
)
def test_what_does_not_apply_is_one_clear_line(name, problem, error, words):
    with pytest.raises(error, match=words) as caught:
        make_policy(name, problem)
    assert isinstance(caught.value, SequoiaError)
    assert "\n" not in str(caught.value)


def test_whittle_on_a_standard_bandit():
    problem = standard(arms=10)
    played = rollout(problem, make_policy("whittle", problem), Scenarios.sample(problem, 3, 0))
    idle = rollout(problem, Idle(problem), Scenarios.sample(problem, 3, 0))
    assert played.rewards.mean() > idle.rewards.mean()


def test_myopic_minds_what_a_state_forbids():
    class Expecting(Doors):
        def expected_reward(self, states, actions):
            return self.step(states, actions, np.ones((len(states), self.n_noise)))[0]

    doors = Expecting()
    played = rollout(doors, make_policy("myopic", doors), Scenarios.sample(doors, 20, 0))
    every = doors.space.enumerate(100)
    for states, actions in zip(played.states, played.actions, strict=True):
        for step in range(doors.horizon):
            now = states[step][None]
            allowed = doors.action_limits(now, np.array([step])).allowed(every)[0]
            many = np.repeat(now, len(every), axis=0)
            best = doors.expected_reward(many, every)[allowed].max()
            assert doors.expected_reward(now, actions[step][None])[0] == best
