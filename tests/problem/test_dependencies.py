"""Who depends on whom: derived from problems, given by environments, and tried by sampling."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from sequoia import Budget
from sequoia.errors import ProblemError
from sequoia.problem import Dependencies
from sequoia.problem.capabilities import dependencies_of
from sequoia.problem.environment_checks import require_dependencies
from sequoia.problem.families import epidemic, interventions


class Row:
    """Machines in a row: each wears out faster behind a worn one."""

    name = "row"
    fingerprint = "row"
    space = Budget(np.ones(4), 1)
    horizon = 8
    discount = 1.0
    n_noise = 4

    def __init__(self, dependencies=None):
        self.dependencies = dependencies

    def draw_start(self, rng, count):
        return rng.integers(0, 3, (count, 4))

    def features(self, states):
        return states / 2

    def step(self, states, actions, noise):
        wear = np.where(actions == 1, 0, states)
        before = np.concatenate([np.zeros((len(wear), 1)), states[:, :-1]], axis=1)
        return -wear.sum(axis=1).astype(float), np.minimum(wear + (noise < 0.2 + 0.3 * before), 2)


CHAIN = np.eye(4, k=-1)


def test_a_problem_derives_them_from_contagion_and_influence():
    problem = epidemic(arms=10, seed=2)
    found = dependencies_of(problem)
    assert (found.components != csr_array(problem.contagion.neighbours)).nnz == 0
    assert (found.columns != problem.influence).nnz == 0
    require_dependencies(problem, found)


def test_arms_on_their_own_depend_on_columns_alone():
    problem = interventions(arms=6, seed=1)
    found = dependencies_of(problem)
    assert found.components.nnz == 0
    assert found.columns.nnz == problem.influence.nnz
    require_dependencies(problem, found)


def test_what_holds_is_accepted():
    require_dependencies(Row(), Dependencies(CHAIN, np.eye(4)))


@pytest.mark.parametrize(
    ("components", "columns", "said"),
    [
        (np.zeros((4, 4)), np.eye(4), "depend on component"),
        (CHAIN.T, np.eye(4), "depend on component"),
        (CHAIN, np.eye(4, k=1), "depend on column"),
    ],
)
def test_what_the_step_contradicts_is_one_clear_line(components, columns, said):
    with pytest.raises(ProblemError, match=said) as found:
        require_dependencies(Row(), Dependencies(components, columns))
    assert "\n" not in str(found.value)
    assert "under the same noise" in str(found.value)


def test_silence_is_allowed_and_a_wrong_size_is_not():
    assert dependencies_of(Row()) is None
    with pytest.raises(ProblemError, match="it has 4 and 4"):
        dependencies_of(Row(Dependencies(np.zeros((3, 3)), np.zeros((3, 4)))))


@pytest.mark.parametrize(
    ("components", "columns", "kinds", "said"),
    [
        (-CHAIN, np.eye(4), None, "at least 0"),
        (np.eye(4), np.eye(4), None, "goes without saying"),
        (np.zeros((4, 3)), np.eye(4), None, r"\(D, D\)"),
        (CHAIN, np.eye(3), None, r"\(D, N\)"),
        (CHAIN, np.eye(4), [0, 0], "kinds"),
        ("graph", np.eye(4), None, "matrix of numbers"),
    ],
)
def test_nonsense_is_refused(components, columns, kinds, said):
    with pytest.raises(ProblemError, match=said):
        Dependencies(components, columns, kinds)
