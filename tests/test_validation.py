"""Numbers that a caller gives."""

from fractions import Fraction

import numpy as np
import pytest

from sequoia.errors import ProblemError
from sequoia.validation import real, whole

HUGE = 10**400


@pytest.mark.parametrize("value", [3, 3.0, np.int64(3), np.float64(3.0), Fraction(3)])
def test_a_whole_number_of_any_type(value):
    assert whole("here", value, 1, 5) == 3
    assert real("here", value, 1, 5) == 3.0


@pytest.mark.parametrize("value", [HUGE, -HUGE, float("inf"), float("nan"), 3.5, "3", None])
def test_what_is_none_is_refused_in_one_line(value):
    with pytest.raises(ProblemError, match=r"here is .*; a whole number from 1 to 5 is wanted"):
        whole("here", value, 1, 5)


@pytest.mark.parametrize("value", [HUGE, -HUGE, float("inf"), float("nan"), "3", None])
def test_a_number_that_is_not_finite_is_refused(value):
    with pytest.raises(ProblemError, match=r"here is .*; a number of at least -5 is wanted"):
        real("here", value, -5)
