"""Random problems small enough to solve exactly, over every kind of space, and to play exactly."""

from dataclasses import replace

import networkx as nx
import numpy as np
from scipy.sparse import csr_array

from sequoia.bounds.exact import joint_moves, joint_rewards, joint_states
from sequoia.errors import InfeasibleSpace, ProblemError
from sequoia.policies import Policy
from sequoia.problem import (
    Arms,
    Assignment,
    Budget,
    Contagion,
    Custom,
    Floor,
    Problem,
    Rules,
    Schedule,
    Walk,
)
from sequoia.problem.spaces import ActionSpace

KINDS = ("budget", "assignment", "schedule", "path", "custom", "interventions", "standard")


def random_space(kind: str, size: int, rng: np.random.Generator) -> ActionSpace:
    if kind in ("budget", "interventions"):
        costs = rng.integers(1, 4, size).astype(float)
        return Budget(costs, float(rng.integers(1, 2 + int(costs.sum()) // 2)))
    if kind == "standard":
        return Budget(np.ones(size), int(rng.integers(1, size)))
    if kind == "assignment":
        workers = int(rng.integers(1, 3))
        return Assignment(
            rng.integers(1, 4, size).astype(float), rng.integers(1, 5, workers).astype(float)
        )
    if kind == "schedule":
        slots = int(rng.integers(2, 4))
        return Schedule(
            worker_slots=rng.random((2, slots)) < 0.7,
            arm_slots=rng.random((size, slots)) < 0.7,
            limit=int(rng.integers(1, size + 1)),
            visits=int(rng.integers(1, 3)),
            distinct_workers=bool(rng.integers(2)),
        )
    if kind == "path":
        graph = nx.path_graph(size)
        graph.add_edge(0, size - 1)
        edges = np.array([e for e in graph.edges if rng.random() < 0.8 or e[1] == e[0] + 1])
        length, limit = int(rng.integers(2, 5)), int(rng.integers(1, size + 1))
        return Walk(edges=edges, source=int(rng.integers(size)), length=length, limit=limit)
    matrix = rng.integers(-1, 3, (2, size)).astype(float)
    names = [f"column {i}" for i in range(size)]
    return Custom(csr_array(matrix), np.full(2, -1.0), rng.integers(1, 4, 2).astype(float), names)


def random_rules(space: ActionSpace, rng: np.random.Generator) -> Rules:
    names = list(space.names)
    first, second = rng.choice(len(names), 2, replace=False)
    options = [
        Rules(),
        Rules(never=[names[first]]),
        Rules(at_most_one=[[names[first], names[second]]]),
        Rules(must=[names[first]]),
        Rules(groups={"some": [names[first]]}, floors=[Floor("some", share=0.5)]),
        Rules(groups={"some": [names[first], names[second]]}, floors=[Floor("some", count=1)]),
    ]
    return options[int(rng.integers(len(options)))]


def random_problem(kind: str, seed: int, with_rules: bool = True) -> Problem:
    """Return a random problem; rules that leave no action are drawn again."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    count, states = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    columns = int(rng.integers(2, 5)) if kind == "interventions" else count
    if kind == "path":
        count = columns = 3
    space = random_space(kind, columns, rng)
    influence = None
    doses = np.tile([0.0, 1.0], (count, 1))
    if kind == "interventions":
        weights = rng.integers(0, 3, (count, columns)).astype(float)
        if rng.random() < 0.5:
            weights[1] = weights[0]
        influence = csr_array(weights)
        doses = np.tile(np.arange(weights.sum(axis=1).max() + 2), (count, 1))
    levels = doses.shape[1]
    kernels = rng.dirichlet(np.full(states, 0.5), (count, levels, states))
    rewards = rng.random((count, states)) * rng.choice([1.0, 5.0], count)[:, None]
    start = rng.dirichlet(np.ones(states), count)
    horizon = int(rng.integers(2, 5))
    arms = Arms(rewards, doses, kernels)
    problem = Problem(f"{kind} {seed}", arms, space, start, influence, horizon, 0.8)
    for _ in range(20 if with_rules and kind != "standard" else 0):
        try:
            ruled = problem.with_rules(random_rules(space, rng))
            ruled.space.sample(rng)
        except (InfeasibleSpace, ProblemError):
            continue
        return ruled
    return problem


def is_feasible(problem: Problem) -> bool:
    return len(problem.space.enumerate(1000)) > 0


def infected(problem: Problem, seed: int) -> Problem:
    """Return ``problem`` with arms that press on each other at random, each in its own way."""
    rng = np.random.default_rng([seed, 77])
    arms = problem.arms
    count, states, own = arms.n_arms, arms.n_states, arms.n_models
    pressures = int(rng.integers(2, 5))
    weights = rng.integers(1, 3, (count, count)) * (rng.random((count, count)) < 0.7)
    # Every arm has models of its own for every pressure, with its own doses.
    doses = [arms.doses[arms.model[j]] for j in range(count) for _ in range(pressures - 1)]
    size = len(doses)
    kernels = rng.dirichlet(np.ones(states), (size, arms.n_doses, states))
    grown = Arms(
        np.concatenate([arms.rewards, rng.random((size, states))]),
        np.concatenate([arms.doses, np.reshape(doses, (size, -1))]),
        np.concatenate([arms.kernels, kernels]),
        arms.model,
        arms.names,
    )
    more = own + np.arange(size).reshape(count, pressures - 1)
    models = np.concatenate([arms.model[:, None], more], axis=1)
    contagion = Contagion(csr_array(weights), rng.integers(0, 3, states), models)
    return replace(problem, arms=grown, contagion=contagion)


def earned(problem: Problem, policy: Policy) -> float:
    """Return what a policy earns in expectation, by going through all joint states."""
    states = joint_states(problem)
    values = np.zeros(len(states))
    rngs = [np.random.default_rng(0)] * len(states)
    for step in range(problem.horizon - 1, -1, -1):
        actions = policy.act(states, step, rngs).actions
        assert problem.space.contains(actions).all()
        following = np.empty(len(states))
        for action in np.unique(actions, axis=0):
            rows = (actions == action).all(axis=1)
            moves = joint_moves(problem, states, action[None])[0]
            ahead = joint_rewards(problem, states, action[None])[0] + moves @ values
            following[rows] = ahead[rows]
        values = following
    chances = np.ones(1)
    for start in problem.start:
        chances = np.outer(chances, start).reshape(-1)
    return float(chances @ values)
