"""How much a round looks at follows from the problem, and from nothing else."""

import pytest

from sequoia.learn.sizes import Sizes
from sequoia.optimize.auto import RolloutAuto
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem.families import capacity, epidemic, scheduling


def sizes_of(problem):
    return Sizes.of(problem, RolloutAuto(ActionEncoding.of(problem)))


@pytest.mark.parametrize("family", [capacity, epidemic, scheduling])
def test_larger_problems_are_looked_at_no_closer(family):
    small, large = sizes_of(family(arms=10)), sizes_of(family(arms=200))
    for name in ("episodes", "states", "guard"):
        assert getattr(small, name) >= getattr(large, name) >= 10
    assert sizes_of(family(arms=10)) == small


@pytest.mark.parametrize("arms", [10, 200])
def test_the_deeper_the_fewer_until_none_teaches_anything(arms):
    sizes = sizes_of(epidemic(arms=arms))
    counts = [sizes.states_at(depth) for depth in (1, 2, 4, 12, 100, 100_000)]
    assert counts[0] == sizes.states
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 0
