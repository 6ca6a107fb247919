import numpy as np
import pytest
from tiny_problems import KINDS, is_feasible, random_problem

from sequoia.bounds import Step
from sequoia.bounds import step as step_module
from sequoia.bounds.choices import Choices
from sequoia.bounds.oracle import Oracle
from sequoia.errors import InfeasibleSpace
from sequoia.problem import Arms, Assignment, Budget, Problem, Rules
from sequoia.problem.families import FAMILIES


def bandit(space: Assignment | Budget) -> Problem:
    count = space.n_actions
    arms = Arms.ladder([[0.0, 1.0]], [[0.1, 0.9]], model=np.zeros(count, dtype=np.int64))
    return Problem("bandit", arms, space, np.tile([1.0, 0.0], (count, 1)))


@pytest.mark.parametrize("kind", KINDS)
def test_program_agrees_with_listing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(10):
        problem = random_problem(kind, seed)
        if not is_feasible(problem):
            continue
        rng = np.random.default_rng(seed)
        weights = rng.normal(size=(3, problem.arms.n_arms, problem.arms.n_doses))
        listed = [Step(problem).best(w) for w in weights]
        with monkeypatch.context() as patch:
            patch.setattr(step_module, "_MAX_COLUMNS_TO_LIST", 0)
            solved = [Step(problem).best(w) for w in weights]
        for w, one, other in zip(weights, listed, solved, strict=True):
            assert one.action is not None
            assert other.action is not None
            assert one.value == pytest.approx(other.value, abs=1e-6)
            assert one.is_proven
            assert other.is_proven
            levels = problem.levels(other.action[None])[0]
            total = w[np.arange(len(levels)), levels].sum()
            assert total == pytest.approx(other.value, abs=1e-6)
            problem.space.certify(other.action)


@pytest.mark.parametrize("rules", [Rules(), Rules(at_most_one=[[f"arm {i}" for i in range(40)]])])
def test_sifting_agrees_with_the_program(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    count = 1500
    spaces = [
        Assignment(rng.integers(2, 7, count).astype(float), rng.integers(2, 8, 30).astype(float)),
        Budget(rng.integers(1, 5, count).astype(float), 40.0),
    ]
    for space in spaces:
        problem = bandit(space).with_rules(rules)
        values = rng.random((2, count))
        values[1] = np.round(values[1], 1)  # many ties
        for extra in values:
            weights = np.stack([np.zeros(count), extra], axis=1)
            sifted = Step(problem).best(weights)
            with monkeypatch.context() as patch:
                patch.setattr(step_module, "_LEAST_TO_SIFT", 10**9)
                solved = Step(problem).best(weights)
            assert sifted.value == pytest.approx(solved.value, rel=1e-6)
            assert sifted.is_proven
            assert sifted.action is not None
            problem.space.certify(sifted.action)


def test_top_few() -> None:
    problem = bandit(Budget(np.full(50, 2.0), 7.0))
    extra = np.random.default_rng(0).normal(size=50)
    best = Step(problem).best(np.stack([np.zeros(50), extra], axis=1))
    assert best.value == pytest.approx(np.sort(extra)[-3:].sum())
    nothing = Step(problem).best(np.stack([np.zeros(50), -np.abs(extra)], axis=1))
    assert nothing.action is not None
    assert not nothing.action.any()


def test_no_action_at_all() -> None:
    problem = FAMILIES["capacity"](arms=30)
    impossible = problem.with_rules(Rules(must=["arm 0"], never=["arm 0"]))
    with pytest.raises(InfeasibleSpace):
        Step(impossible).best(np.zeros((30, 2)))


def test_oracle_bounds_are_valid_and_spare_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = FAMILIES["routing"](arms=20)
    choices = Choices.of(problem)
    rng = np.random.default_rng(0)
    base = rng.random(20)
    weights = base + 0.01 * rng.random((30, 20))
    best = [Step(problem, choices).best_channels(w).value for w in weights]
    monkeypatch.setattr(step_module, "_MAX_COLUMNS_TO_LIST", 0)
    oracle = Oracle(problem, choices)
    bounds, is_new = oracle.ask(weights, allowance=0.05, deadline=np.inf)
    assert is_new
    assert (bounds >= np.array(best) - 1e-6).all()
    assert (bounds <= np.array(best) + 0.05 + 1e-6).all()
    assert len(oracle._asked) < 10
