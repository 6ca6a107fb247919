"""Tiny problems of every kind, and the exact value of any policy on them."""

from functools import cache, reduce
from itertools import product

import numpy as np

from sequoia import (
    Arms,
    Assignment,
    Budget,
    Custom,
    Decision,
    Floor,
    Problem,
    Rules,
    Schedule,
    Walk,
)

KINDS = ("budget", "assignment", "schedule", "path", "custom", "doses", "ruled")


def tiny(kind: str, seed: int, arms: int = 3, states: int = 2, horizon: int = 3) -> Problem:
    """Return a random problem with ``states ** arms`` joint states."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    levels = 3 if kind == "doses" else 2
    kernels = rng.dirichlet(np.ones(states), (arms, levels, states))
    doses = np.tile(np.arange(levels), (arms, 1))
    chains = Arms(rng.random((arms, states)).round(3), doses, kernels)
    influence = None
    if kind == "budget":
        space = Budget(rng.integers(1, 4, arms), int(rng.integers(2, 5)))
    elif kind == "doses":
        influence = np.stack([rng.permutation([1.0, 1.0, 0.0]) for _ in range(arms)])
        space = Budget(np.ones(3), 2)
    elif kind == "schedule":
        space = Schedule(rng.random((2, 3)) < 0.7, rng.random((arms, 3)) < 0.7, 2, visits=2)
    elif kind == "path":
        space = Walk([(0, 1), (1, 2), (2, 0)][:arms], 0, int(rng.integers(2, 4)), 2)
    elif kind == "custom":
        names = [f"arm {j}" for j in range(arms)]
        space = Custom(rng.integers(-1, 3, (2, arms)), [-np.inf] * 2, [2, 2], names)
    else:
        space = Assignment(rng.integers(1, 4, arms), rng.integers(1, 5, 2))
    start = rng.dirichlet(np.ones(states), arms)
    problem = Problem(f"tiny {kind} {seed}", chains, space, start, influence, horizon)
    if kind == "ruled":
        floor = Rules(groups={"north": ["arm 0"]}, floors=[Floor("north", share=0.3)])
        problem = problem.with_rules(floor)
    return problem


@cache
def joint_states(problem: Problem) -> np.ndarray:
    arms = problem.arms
    return np.array(list(product(range(arms.n_states), repeat=arms.n_arms)))


def decide(policy, state, step=0, rng=None) -> Decision:
    """Ask a policy about one state."""
    rng = np.random.default_rng(0) if rng is None else rng
    return policy.act(np.asarray(state)[None], step, [rng])[0]


def value_of(problem: Problem, policy) -> float:
    """Return the expected total reward of a policy, by going through every joint state.

    A policy that draws gets the same generator in the same situation, which makes it one of the
    policies that the optimum is at least as good as.
    """
    arms, states = problem.arms, joint_states(problem)
    following = np.zeros(len(states))
    for step in reversed(range(problem.horizon)):
        here = np.empty(len(states))
        for row, state in enumerate(states):
            decision = decide(policy, state, step, np.random.default_rng([step, row]))
            assert not problem.space.system.violations(decision)
            levels = problem.levels(decision.action[None])[0]
            moves = reduce(
                np.kron,
                [arms.kernels[arms.model[j], levels[j], state[j]] for j in range(len(state))],
            )
            now = problem.expected_reward(state[None], decision.action[None])[0]
            here[row] = now + moves @ following
        following = here
    return float(reduce(np.kron, problem.start) @ following)
