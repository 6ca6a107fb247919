"""A few turns of the differential fuzz, and every case that was wrong once."""

import fuzz_differential
import numpy as np
import pytest

from sequoia.optimize import ActionEncoding, ReluNet
from sequoia.optimize.result import ArgmaxResult
from sequoia.problem import Budget


@pytest.mark.parametrize(("check", "seed"), fuzz_differential.kept())
def test_what_was_wrong_once_is_right(check, seed):
    assert fuzz_differential.run(check, seed) == []


@pytest.mark.parametrize("check", sorted({*fuzz_differential.CHECKS} - {"rddl", "threads"}))
def test_a_few_cases(check):
    for seed in range(4):
        assert fuzz_differential.run(check, seed) == []


def test_untrue_results_are_noticed():
    columns = ActionEncoding.of_space(Budget(np.ones(3), 1))
    net = ReluNet.of_linear([[1.0, 2.0, 3.0]])

    def said(action, value, bound, is_proven):
        found = ArgmaxResult.of_one(np.array(action, np.int8), value, bound, is_proven)
        return list(fuzz_differential.judged("it", columns, net, found))

    assert said([0, 0, 1], 3.0, 3.0, True) == []
    assert "not allowed" in said([1, 1, 0], 3.0, 3.0, True)[0]
    assert "worth 2.0" in said([0, 1, 0], 3.0, 3.0, True)[0]
    assert "proven" in said([0, 1, 0], 2.0, 3.0, True)[0]
    assert "bound" in said([0, 1, 0], 2.0, 2.5, False)[0]
