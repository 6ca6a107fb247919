"""Packing many states at once: feasible, and close to the best."""

import numpy as np
import pytest
from argmax_cases import SPACES, feasible_actions

from sequoia.optimize.linear.packing import Packing
from sequoia.problem import ActionLimits

ROWS = [name for name, space in SPACES.items() if Packing.applies_to(space)]


@pytest.mark.parametrize("name", ROWS)
def test_what_is_packed_is_feasible_and_good(name):
    space, every = SPACES[name], feasible_actions(name)
    rng = np.random.default_rng(len(name))
    size, count = space.n_actions, 40
    upper = (rng.random((count, size)) < 0.8).astype(np.int8)
    most = rng.integers(1, 4, (count, 1)).astype(float)
    limits = ActionLimits(0 * upper, upper, np.ones((1, size)), None, most)
    allowed = limits.allowed(every)
    weights = rng.normal(size=(count, size))
    actions, is_feasible = Packing(space, limits).best(weights, limits)
    assert (is_feasible == (space.contains(actions) & limits.holds(actions))).all()
    assert allowed[is_feasible].any(axis=1).all()
    best = np.where(allowed, weights @ every.T, -np.inf).max(axis=1)[is_feasible]
    found = (actions * weights).sum(axis=1)[is_feasible]
    assert (found <= best + 1e-9).all()
    # Columns that must go together are not found together.
    assert found.sum() > (0.75 if name == "bound together" else 0.95) * best.sum()
    assert is_feasible.sum() > 0.9 * allowed.any(axis=1).sum()


def test_rows_that_ask_for_something_get_it():
    """All weights are negative, one row asks for two columns: the two cheapest."""
    space = SPACES["budget, equal arms"]
    limits = ActionLimits(
        np.zeros((1, 8)), np.ones((1, 8)), np.ones((1, 8)), np.array([[2.0]]), np.array([[9.0]])
    )
    weights = -np.arange(1.0, 9.0)[None]
    actions, is_feasible = Packing(space, limits).best(weights, limits)
    assert is_feasible.all()
    assert actions[0].tolist() == [1, 1, 0, 0, 0, 0, 0, 0]
