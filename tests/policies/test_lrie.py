"""The published rule for contagion cures whoever removes most infectious edges."""

import numpy as np
import pytest

import sequoia
from sequoia.errors import ProblemError
from sequoia.policies import Lrie


def test_it_cures_the_ill_with_most_healthy_and_fewest_ill_neighbours():
    problem = sequoia.make("epidemic", arms=12, budget=3, graph="lattice", seed=1)
    neighbours = problem.contagion.neighbours.toarray()
    policy, rng = Lrie(problem), np.random.default_rng(0)
    for state in rng.integers(0, 2, (20, 12)):
        ill = state == 0
        edges = [neighbours[arm] @ ~ill - neighbours[arm] @ ill for arm in range(12)]
        chosen = policy.decide(state, 0, rng, 0).decision.action == 1
        assert chosen.sum() == min(3, ill.sum())
        assert not (chosen & ~ill).any()
        left = [edges[arm] for arm in np.flatnonzero(ill & ~chosen)]
        assert min(np.array(edges)[chosen], default=0) >= max(left, default=-99)


def test_it_needs_contagion():
    with pytest.raises(ProblemError, match="infect each other"):
        Lrie(sequoia.make("trap"))
