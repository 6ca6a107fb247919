from dataclasses import replace

import numpy as np
import pytest

from sequoia.bounds import Prices, prices_over, relax, solve_exactly
from sequoia.bounds.lagrangian import occupancy_lp
from sequoia.bounds.lagrangian import relax as relaxation_module
from sequoia.errors import InfeasibleSpace, ProblemError
from sequoia.optimize import ActionEncoding, LinearArgmax
from sequoia.problem import Arms, Assignment, Budget, LinearSystem, Problem, Rules
from sequoia.problem.families import FAMILIES
from tiny_problems import KINDS, is_feasible, random_problem

SEEDS = range(32)
TOLERANCE = 1e-6


def value_of_policy(problem: Problem, prices: Prices) -> float:
    """Evaluate the price policy exactly, over the joint chain."""
    arms, step = problem.arms, LinearArgmax(ActionEncoding.of_problem(problem))
    shape = (arms.n_states,) * arms.n_arms
    values = np.zeros(shape)
    for time in range(problem.horizon - 1, -1, -1):
        now = np.empty(shape)
        for state in np.ndindex(shape):
            best = step.best_doses(prices.weights(state, time)[None])
            levels = problem.levels(best.actions)[0]
            ahead, total = values, 0.0
            for arm in range(arms.n_arms):
                model = arms.model[arm]
                total += arms.next_rewards[model, levels[arm], state[arm]]
                ahead = np.tensordot(arms.kernels[model, levels[arm], state[arm]], ahead, 1)
            now[state] = total + ahead
        values = now
    for start in problem.start:
        values = np.tensordot(start, values, 1)
    return float(values)


def problems(kind: str) -> list[Problem]:
    made = [random_problem(kind, seed) for seed in SEEDS]
    return [problem for problem in made if is_feasible(problem)]


@pytest.mark.parametrize("kind", KINDS)
def test_policy_exact_hull_lp(kind: str) -> None:
    ratios = []
    for problem in problems(kind):
        lp, hull = relax(problem), relax(problem, "hull", gap=1e-6)
        exact = solve_exactly(problem).value
        room = TOLERANCE * max(1.0, abs(exact))
        assert exact <= hull.bound.total + room
        assert hull.bound.total <= lp.bound.total + room
        assert value_of_policy(problem, hull.prices) <= exact + room
        assert value_of_policy(problem, lp.prices) <= exact + room
        assert lp.bound.per_step == pytest.approx(lp.bound.total / problem.horizon)
        ratios.append(hull.bound.total / exact)
    assert len(ratios) >= 29  # 7 kinds: at least 200 problems
    assert np.median(ratios) <= 1.03


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", [0, 2])
def test_discounted(kind: str, steps: int) -> None:
    for problem in problems(kind)[:4]:
        exact = solve_exactly(problem, discounted=True).value
        lp = relax(problem, horizon=steps, discounted=True)
        hull = relax(problem, "hull", horizon=steps, discounted=True, gap=1e-6)
        room = TOLERANCE * max(1.0, abs(exact))
        assert exact <= hull.bound.total + room
        assert hull.bound.total <= lp.bound.total + room
        assert lp.bound.per_step == pytest.approx(lp.bound.total * (1 - problem.discount))


@pytest.mark.parametrize("kind", KINDS)
def test_safe_when_stopped_early(kind: str) -> None:
    for problem in problems(kind)[:4]:
        exact = solve_exactly(problem).value
        lp = relax(problem).bound.total
        hurried = relax(problem, "hull", seconds=0.0).bound
        assert exact - TOLERANCE <= hurried.total <= lp + TOLERANCE


@pytest.mark.parametrize("kind", KINDS)
def test_any_prices_give_a_bound(kind: str) -> None:
    rng = np.random.default_rng(0)
    for problem in problems(kind)[:10]:
        prices = relax(problem).prices
        exact = solve_exactly(problem)
        wild = prices.table + rng.normal(0.0, 1.0, prices.table.shape)
        wild[..., 0] = 0.0
        by_arm = wild[:, prices.arm_classes.price_class[prices.arm_class]]
        linear = LinearArgmax(ActionEncoding.of_problem(problem))
        support = linear.best_doses(by_arm).bounds
        total = prices.arm_classes.dual_value(wild).sum() + np.sum(support)
        assert total >= exact.value - TOLERANCE


@pytest.mark.parametrize("kind", KINDS)
def test_tables_overestimate_every_action(kind: str) -> None:
    """Q from prices is an upper bound on the true Q of every state and action."""
    for problem in problems(kind)[:5]:
        prices, exact = relax(problem, "hull").prices, solve_exactly(problem)
        arms = problem.arms
        shape = (arms.n_states,) * arms.n_arms
        for step in range(problem.horizon):
            theta, phi = prices.theta(step), prices.phi(step)
            for index, state in enumerate(np.ndindex(shape)):
                levels = problem.levels(exact.actions[exact.choices[step, index]][None])[0]
                each = np.arange(arms.n_arms)
                total = (theta[each, state] + phi[each, state, levels]).sum()
                assert total + prices.offset(step) >= exact.values[step, index] - TOLERANCE
                weights = prices.weights(state, step)
                assert weights == pytest.approx((theta[..., None] + phi)[each, state])


@pytest.mark.parametrize("family", ["standard", "capacity", "scheduling"])
def test_smooth_agrees_with_lp(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = FAMILIES[family](arms=30, horizon=8, seed=3)
    exact = relax(problem).bound.total
    monkeypatch.setattr(relaxation_module, "MAX_LP_CLASSES", 0)
    smooth = relax(problem).bound.total
    assert exact - TOLERANCE <= smooth <= exact * (1 + 2e-5)


def test_smooth_with_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"arm {i}" for i in range(30)]
    rules = Rules(must=[names[0]], never=[names[1]], at_most_one=[names[2:5]])
    problem = FAMILIES["capacity"](arms=30, horizon=6).with_rules(rules)
    exact = relax(problem).bound.total
    monkeypatch.setattr(relaxation_module, "MAX_LP_CLASSES", 0)
    assert exact - TOLERANCE <= relax(problem).bound.total <= exact * (1 + 1e-4)


def test_sampled_arms_still_give_a_bound() -> None:
    """With more classes than a sample holds, the bound covers all arms."""
    rng = np.random.default_rng(1)
    count = 6000
    kernels = rng.dirichlet(np.ones(2), (count, 2, 2))
    arms = Arms(rng.random((count, 2)), np.tile([0.0, 1.0], (count, 1)), kernels)
    start = np.tile([1.0, 0.0], (count, 1))
    problem = Problem("many", arms, Budget(np.ones(count), 60), start, horizon=3)
    relaxation = relax(problem)
    lp = relax_by_program(problem)
    assert lp - TOLERANCE * lp <= relaxation.bound.total <= lp * (1 + 1e-4)


def relax_by_program(problem: Problem) -> float:
    largest = relaxation_module.MAX_LP_CLASSES
    try:
        relaxation_module.MAX_LP_CLASSES = 10**9
        return relax(problem).bound.total
    finally:
        relaxation_module.MAX_LP_CLASSES = largest


def test_arms_with_the_same_reach_share_a_dose() -> None:
    """Two arms behind the same columns: the bound must not dose them differently."""
    doses = np.tile([0.0, 1.0, 2.0], (2, 1))
    up = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    arms = Arms.ladder([[0.0, 1.0], [0.0, 1.0]], up, doses)
    start = np.tile([1.0, 0.0], (2, 1))
    problem = Problem("shared", arms, Budget(np.ones(2), 2), start, np.ones((2, 2)), horizon=1)
    assert solve_exactly(problem).value == pytest.approx(1.0)
    assert relax(problem).bound.total == pytest.approx(1.0)


def test_unequal_weights_are_told_apart() -> None:
    """Doses of 1 and 2 from two columns: local patterns keep the marginals consistent."""
    doses = np.array([[0.0, 1.0, 2.0, 3.0]])
    arms = Arms.ladder([[0.0, 1.0]], [[0.0, 1.0, 0.0, 1.0]], doses)
    start, influence = np.array([[1.0, 0.0]]), np.array([[1.0, 2.0]])
    problem = Problem("weights", arms, Budget(np.ones(2), 2), start, influence, horizon=1)
    assert relax(problem).bound.total == pytest.approx(1.0)
    forced = problem.with_rules(Rules(never=["arm 0"]))
    assert relax(forced).bound.total == pytest.approx(0.0, abs=1e-9)


def test_arms_of_one_model_and_cost_are_one_class_however_many_loads_there_are() -> None:
    rng = np.random.default_rng(0)
    arms, models, sizes = 60, 3, 10
    model, cost = rng.integers(0, models, arms), 30 + 5 * rng.integers(0, sizes, arms)
    up = np.stack([rng.uniform(0, 0.3, models), rng.uniform(0.5, 0.9, models)], axis=1)
    rewards = np.tile(np.linspace(0, 1, 3), (models, 1))
    space = Assignment(cost.astype(float), [300.0, 240.0, 180.0])
    start = np.full((arms, 3), 1 / 3)
    problem = Problem("lengths", Arms.ladder(rewards, up, model=model), space, start, horizon=3)
    classes = relax(problem).prices.arm_classes
    assert classes.n_classes == len(set(zip(model.tolist(), cost.tolist(), strict=True))) <= 30
    pairs = replace(problem, space=_ByPairs(space.costs, space.capacities))
    assert relax(pairs).prices.arm_classes.n_classes == arms
    assert relax(problem).bound.total <= relax(pairs).bound.total + 1e-9


class _ByPairs(Assignment):
    """The same space, with a column for every worker and arm."""

    @property
    def compact(self) -> LinearSystem:
        return self.system


def test_an_interior_point_ends_where_the_simplex_method_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = FAMILIES["scheduling"](arms=6, seed=1)
    wanted = relax(problem).bound
    monkeypatch.setattr(occupancy_lp, "_MANY_OCCUPANCIES", 0)
    found = relax(problem).bound
    assert found.total == pytest.approx(wanted.total, rel=1e-9)
    assert found.stopped_by == "optimum"


def test_start_states_and_horizon() -> None:
    problem = random_problem("budget", 0, with_rules=False)
    state = np.zeros(problem.arms.n_arms, dtype=np.int64)
    start = np.zeros(problem.start.shape)
    start[:, 0] = 1.0
    assert relax(problem, start=state).bound.total == pytest.approx(
        relax(problem, start=start).bound.total
    )
    assert relax(problem, horizon=1).bound.total <= relax(problem).bound.total


def test_refusals() -> None:
    problem = random_problem("budget", 0, with_rules=False)
    with pytest.raises(ProblemError, match="lp"):
        relax(problem, "best")  # type: ignore[arg-type]
    with pytest.raises(ProblemError, match="at least 1 step"):
        relax(problem, horizon=0)
    with pytest.raises(ProblemError, match="states run"):
        relax(problem, start=np.full(problem.arms.n_arms, 99))
    with pytest.raises(ProblemError, match="shape"):
        relax(problem, start=np.zeros(99))
    names = list(problem.space.names)
    nothing = problem.with_rules(Rules(must=names[:1], never=names[:1]))
    with pytest.raises(InfeasibleSpace):
        relax(nothing)
    with pytest.raises(InfeasibleSpace):
        relax(nothing, "hull")


def test_prices_over_known_actions() -> None:
    problem = random_problem("path", 3)
    relaxation = relax(problem, "hull")
    assert relaxation.vertices is not None
    prices = prices_over(problem, relaxation.vertices)
    assert prices is not None
    assert prices.phi().shape == (problem.arms.n_arms, problem.arms.n_states, problem.arms.n_doses)
    assert np.isfinite(prices.table).all()


@pytest.mark.parametrize("arms", [10, 200])
def test_rules_that_contradict_are_named_for_few_arms_and_many(arms: int) -> None:
    problem = FAMILIES["standard"](arms=arms, horizon=2)
    with pytest.raises(InfeasibleSpace, match=r"must act on arm 0 \| never act on arm 0"):
        relax(problem.with_rules(Rules(must=["arm 0"], never=["arm 0"])))
