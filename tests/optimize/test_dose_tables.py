"""The best doses of groups of arms, against all actions one by one."""

import numpy as np
import pytest

from sequoia.errors import InfeasibleSpace
from sequoia.optimize import encoding
from sequoia.optimize.dose_groups import DoseGroup
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.linear.dose_tables import DoseTableArgmax
from sequoia.problem import Arms, Assignment, Budget, Custom, Problem, Schedule, Walk

SPACES = {
    "equal costs": Budget(np.full(5, 0.7), 2.2),
    "whole costs": Budget([1, 2, 0, 3, 1], 4),
    "budget": Budget([1, 2, 1.5, 1, 1], 3.5),
    "assignment": Assignment([2, 3, 2, 2, 1], [4, 3]),
    "schedule": Schedule([[1, 1, 0], [0, 1, 1]], np.tri(5, 3, 1, dtype=np.int8), 3),
    "walk": Walk([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]], source=0, length=4, limit=3),
    "custom": Custom([[1, 1, -1, 0, 1]], [0], [1], ["a", "b", "c", "d", "e"]),
    "influence": Budget(np.ones(4), 2),
}


def problem_over(kind):
    rng = np.random.default_rng(3)
    influence = None
    levels = 2
    if kind == "influence":
        influence = rng.integers(0, 3, (5, 4)).astype(float)
        levels = 9
    doses = np.tile(np.arange(levels), (5, 1))
    kernels = rng.dirichlet(np.ones(2), (5, levels, 2))
    start = np.full((5, 2), 0.5)
    return Problem("p", Arms(rng.random((5, 2)), doses, kernels), SPACES[kind], start, influence)


@pytest.mark.parametrize("way", ["listed", "program"])
@pytest.mark.parametrize("kind", SPACES)
def test_best_of_all(kind, way, monkeypatch):
    if way == "program":
        monkeypatch.setattr(encoding, "MAX_COLUMNS", 0)
    problem = problem_over(kind)
    actions = problem.space.enumerate(10_000)
    levels = problem.levels(actions)
    rng = np.random.default_rng(1)
    members = [np.array([0, 1, 2]), np.array([2, 3]), np.array([4])]
    groups = [DoseGroup(arms, np.unique(levels[:, arms], axis=0)) for arms in members]
    tables = [rng.normal(100, 1, (4, len(group.doses))) for group in groups]
    found = DoseTableArgmax(ActionEncoding.of_problem(problem), groups).best(tables)
    for row in range(4):
        worth = [
            sum(
                table[row, np.flatnonzero((group.doses == level[group.arms]).all(axis=1))[0]]
                for group, table in zip(groups, tables, strict=True)
            )
            for level in levels
        ]
        assert found.values[row] == pytest.approx(max(worth))
        assert problem.space.contains(found.actions[[row]])[0]
    assert found.is_proven.all()


@pytest.mark.parametrize("way", ["listed", "program"])
def test_no_action_at_all(way, monkeypatch):
    if way == "program":
        monkeypatch.setattr(encoding, "MAX_COLUMNS", 0)
    space = Custom([[1, 1], [1, 1]], [2, 0], [2, 1], ["a", "b"])
    arms = Arms(np.ones((2, 1)), np.tile([0.0, 1.0], (2, 1)), np.ones((2, 2, 1, 1)))
    problem = Problem("p", arms, space, np.ones((2, 1)))
    groups = [DoseGroup(np.array([0, 1]), np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))]
    argmax = DoseTableArgmax(ActionEncoding.of_problem(problem), groups)
    with pytest.raises(InfeasibleSpace):
        argmax.best([np.zeros((1, 4))])


@pytest.mark.parametrize("kind", ["equal costs", "whole costs"])
@pytest.mark.parametrize("members", [[[4, 0, 2], [1]], [[1, 4], [0, 1], [2, 3, 0], [3, 4]]])
def test_a_budget_of_whole_amounts_takes_no_solver(kind, members, monkeypatch):
    """Groups apart, and groups in a ring."""
    monkeypatch.setattr(encoding, "MAX_COLUMNS", 0)
    problem = problem_over(kind)
    rng = np.random.default_rng(2)
    groups = [
        DoseGroup(np.array(arms), np.indices([2] * len(arms)).reshape(len(arms), -1).T)
        for arms in members
    ]
    argmax = DoseTableArgmax(ActionEncoding.of_problem(problem), groups)
    assert argmax.is_batched
    tables = [rng.normal(size=(30, len(group.doses))) for group in groups]
    found = argmax.best(tables)
    actions = problem.space.enumerate(100)
    for row in range(30):
        each = argmax.values([np.repeat(own[[row]], len(actions), 0) for own in tables], actions)
        assert found.values[row] == pytest.approx(each.max())
    assert problem.space.contains(found.actions).all()
