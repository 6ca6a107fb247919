import numpy as np
import pytest
from scipy import stats

from experiments.paper.results import Record, Results, standard_error
from sequoia.evaluation.intervals import pooled
from sequoia.sweep.run_cell import PolicyTimes

TIMES = PolicyTimes(decisions=10, at_limit=1, mean=0.1, median=0.1, slow=0.2, slowest=0.3)


def record(family, arms, seed, policy, mean, bound=10.0):
    return Record(family, arms, seed, policy, mean, 2.0, bound, TIMES)


RESULTS = Results(
    (
        record("capacity", 20, 1, "myopic", 4.0),
        record("capacity", 20, 2, "myopic", 5.0),
        record("capacity", 20, 1, "sampling", 3.0),
        record("capacity", 20, 2, "sampling", 8.0),
        record("capacity", 20, 1, "sequoia", 6.0),
        record("capacity", 20, 2, "sequoia", 10.0),
        record("capacity", 20, 3, "sequoia", 9.0, None),
        record("routing", 40, 1, "sequoia", 9.0),
    )
)


def test_what_was_done_where():
    assert RESULTS.sizes("capacity") == [20]
    assert RESULTS.sizes("scheduling") == []
    assert RESULTS.policies("capacity", 20) == ["myopic", "sampling", "sequoia"]
    assert RESULTS.relative("capacity", 20, "sequoia").tolist() == [3.0, 5.0, 4.5]
    assert RESULTS.bounds("capacity", 20, "sequoia").tolist() == [5.0, 5.0]
    assert RESULTS.percent_of_bound("capacity", 20, "sequoia").tolist() == [60.0, 100.0]


def test_policies_are_compared_on_seeds_that_they_share():
    over = RESULTS.percent_over("capacity", 20, "sequoia", "myopic")
    assert over == pytest.approx([50.0, 100.0])
    best = RESULTS.percent_over("capacity", 20, "sequoia", "myopic", "sampling", "iterative-myopic")
    assert best == pytest.approx([50.0, 25.0])
    assert not len(RESULTS.percent_over("routing", 40, "sequoia", "iterative-dqn"))


def test_standard_errors():
    values = np.array([1.0, 2.0, 4.0])
    assert standard_error(values) == pytest.approx(stats.sem(values))
    assert np.isnan(standard_error(values[:1]))


def test_pooled_means_count_every_group_the_same():
    first, second = np.array([1.0, 3.0, 2.0]), np.array([10.0, 14.0])
    one = pooled([first, second])
    assert one.mean == pytest.approx(7.0)
    # The difference of two means has the same spread as their sum: Welch's t-test knows it.
    test = stats.ttest_ind(first, -second, equal_var=False).confidence_interval(0.95)
    assert (one.low, one.high) == pytest.approx((test.low / 2, test.high / 2))
    alone = pooled([first])
    low, high = stats.t.interval(0.95, 2, first.mean(), stats.sem(first))
    assert (alone.low, alone.high) == pytest.approx((low, high))
    assert np.isnan(pooled([first, second[:1]]).low)
    constant = pooled([np.ones(3)])
    assert (constant.low, constant.high) == (1.0, 1.0)
