import numpy as np
import pytest

from sequoia.bounds.certificate import Deadline
from sequoia.bounds.lagrangian.pricing_problem import PricingProblem
from sequoia.optimize import ActionEncoding, LinearArgmax, encoding
from sequoia.problem.families import FAMILIES


def test_oracle_bounds_are_valid_and_spare_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ActionEncoding.of_problem(FAMILIES["capacity"](arms=20))
    rng = np.random.default_rng(0)
    base = rng.random(20)
    weights = base + 0.01 * rng.random((30, 20))
    best = LinearArgmax(columns).maximise(weights).values
    monkeypatch.setattr(encoding, "MAX_COLUMNS", 0)
    oracle = PricingProblem(columns, Deadline(np.inf))
    bounds, is_new, is_cut = oracle.ask(weights, allowance=0.05, nodes=10_000)
    assert is_new
    assert not is_cut
    assert (bounds >= np.array(best) - 1e-6).all()
    assert (bounds <= np.array(best) + 0.05 + 1e-6).all()
    assert len(oracle._asked) < 10
