"""SEQUOIA on problems that nothing in it was tuned on: other graphs, dynamics, spaces and horizons.

    python benchmarks/bench_unseen.py              # all of them
    python benchmarks/bench_unseen.py star knapsack

Trained by the usual preset, then compared with random, myopic, `price` and rules of thumb, all with
the same luck: reward per step with 95 % intervals. `price` plays the first 12 episodes, as its
decisions may take a solver. Seconds are CPU seconds of training.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from bench_graph_control import Rule, exposed, fire_front, spreaders
from scipy.sparse import csr_array

from sequoia.evaluation.intervals import estimate
from sequoia.learn import train
from sequoia.policies import make_policy
from sequoia.problem import (
    Arms,
    Assignment,
    Budget,
    Contagion,
    Dependencies,
    Problem,
    Rules,
    Schedule,
)
from sequoia.problem.families import epidemic, wildfire
from sequoia.simulate import Scenarios, rollout

EPISODES, FEW, PRICE_EPISODES = 200, 60, 12


def on(graph: nx.Graph, weights: int = 1, **knobs: Any) -> Problem:
    """Return an epidemic on a graph that is written to a file, with random weights of edges."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.csv"
        rows = [
            f"n{a},n{b},{rng.integers(1, weights + 1) if weights > 1 else 1}"
            for a, b in graph.edges
        ]
        path.write_text("\n".join(["from,to,weight", *rows]) + "\n", encoding="utf-8")
        return epidemic(graph=str(path), **knobs)


def within(problem: Problem, space: Any) -> Problem:
    """Return a problem with another space."""
    return Problem(
        f"{problem.name}, {space.kind}",
        problem.arms,
        space,
        problem.start,
        None,
        problem.horizon,
        problem.discount,
        problem.contagion,
    )


def four_states(arms: int, seed: int, horizon: int) -> Problem:
    """Return a disease in four stages on a scale-free graph: very ill, ill, exposed, healthy."""
    rng = np.random.default_rng(seed)
    pressures = 8
    kernels, rewards = [], []
    for kind in range(2):
        for pressure in range(pressures):
            catch = 1 - 0.99 * 0.85**pressure
            moves = np.zeros((2, 4, 4))
            for dose in range(2):
                caught = catch * (0.3 if dose else 1)
                up, down = (0.6, 0.02) if dose else (0.05, 0.3)
                moves[dose, 3] = [0, 0, caught, 1 - caught]
                moves[dose, 2] = [0, down, 1 - up - down, up]
                moves[dose, 1] = [down, 1 - up - down, up, 0]
                moves[dose, 0] = [0.6, 0.4, 0, 0] if dose else [1, 0, 0, 0]
            kernels.append(moves)
            rewards.append(np.array([0, 0.3, 0.8, 1.0]) * (1 + 2 * kind))
    people = Arms(
        np.array(rewards),
        np.tile([0.0, 1.0], (2 * pressures, 1)),
        np.array(kernels),
        rng.integers(0, 2, arms) * pressures,
    )
    graph = nx.to_numpy_array(nx.barabasi_albert_graph(arms, 2, seed=seed)).astype(int)
    models = people.model[:, None] + np.arange(pressures)
    contagion = Contagion(csr_array(graph), [2, 1, 0, 0], models)
    start = np.tile([0.1, 0.1, 0.1, 0.7], (arms, 1))
    space = Budget(np.ones(arms), arms // 5)
    return Problem("four states", people, space, start, horizon=horizon, contagion=contagion)


class Computers:
    """Twenty computers that fail more often beside failed ones; two can be started anew a step."""

    name = fingerprint = "computers"
    space, horizon, discount, n_noise = Budget(np.ones(20), 2), 30, 1.0, 20
    wires = nx.to_numpy_array(nx.random_regular_graph(3, 20, seed=1))

    def __init__(self, says: bool) -> None:
        self.dependencies = Dependencies(self.wires, np.eye(20)) if says else None

    def draw_start(self, rng: np.random.Generator, count: int) -> Any:
        """All run at first."""
        return np.ones((count, 20), dtype=np.int64)

    def features(self, states: Any) -> Any:
        """Return which run."""
        return states.astype(float)

    def step(self, states: Any, actions: Any, noise: Any) -> Any:
        """Return what they earn, and which run next."""
        share = (1 + states @ self.wires) / (1 + self.wires.sum(axis=0))
        runs = np.where(states == 1, 0.45 + 0.5 * share, 0.05 * share)
        after = (noise < np.where(actions == 1, 1.0, runs)).astype(np.int64)
        return states.sum(axis=1) - 0.75 * actions.sum(axis=1), after


def cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield each problem by name."""
    free, rng = nx.barabasi_albert_graph, np.random.default_rng(0)
    yield "star", lambda: on(nx.star_graph(24), seed=1)
    yield "ring", lambda: on(nx.cycle_graph(40), seed=1)
    yield "tree", lambda: on(nx.balanced_tree(2, 4), seed=3)
    yield "scale-free", lambda: on(free(50, 2, seed=2), seed=1)
    yield "weights", lambda: on(free(40, 2, seed=3), weights=3, infect=0.15, seed=2)
    yield "dense", lambda: on(nx.gnp_random_graph(40, 0.25, seed=4), infect=0.08, seed=3)
    yield "60 steps", lambda: epidemic(arms=24, horizon=60, seed=4)
    yield "5 steps", lambda: epidemic(arms=40, horizon=5, seed=4)
    yield "discount 0.8", lambda: epidemic(arms=30, discount=0.8, horizon=15, seed=5)
    yield "cure only", lambda: epidemic(arms=40, treat="infected", seed=6)
    yield "protect only", lambda: epidemic(arms=40, treat="healthy", seed=6)
    yield (
        "slow",
        lambda: epidemic(
            arms=40, infect=0.05, arrive=0.01, recover=0.02, cure=0.5, horizon=40, seed=9
        ),
    )
    yield "rich", lambda: epidemic(arms=30, budget=15, seed=8)
    yield "poor", lambda: epidemic(arms=60, budget=2, seed=8)
    waning = {"disease": "sir", "wane": 0.1, "graph": "lattice", "arrive": 0.05}
    yield "immunity wanes", lambda: epidemic(arms=40, seed=7, **waning)
    rare = {"disease": "sir", "arrive": 0.0, "sick_share": 0.05, "importance": 1, "budget": 3}
    yield "rare", lambda: on(free(80, 2, seed=5), seed=2, **rare)
    yield "fire, 36", lambda: wildfire(arms=36, burning=3, budget=2, seed=4)
    yield "fire, 196", lambda: wildfire(arms=196, burning=10, budget=5, horizon=30, seed=5)
    yield "fire, small world", lambda: wildfire(arms=80, graph="small-world", seed=6)
    yield "four states", lambda: four_states(30, 3, 20)
    yield "four states, 50", lambda: four_states(50, 7, 40)
    costs = np.random.default_rng(0).integers(1, 6, 30).astype(float)
    yield "knapsack", lambda: within(epidemic(arms=30, seed=14), Budget(costs, 15.0))
    rules = Rules(must=["node 3"], never=["node 5"])
    yield "must and never", lambda: epidemic(arms=30, seed=13).with_rules(rules)
    visits = np.random.default_rng(0).integers(1, 4, 20).astype(float)
    yield "capacity", lambda: within(epidemic(arms=20, seed=10), Assignment(visits, [4.0, 4.0]))
    slots = rng.random((3, 4)) < 0.6, rng.random((20, 4)) < 0.5
    yield "schedule", lambda: within(epidemic(arms=20, seed=11), Schedule(*slots, 6, visits=1))
    yield "route", lambda: epidemic(arms=25, route=True, graph="lattice", seed=12)
    yield "computers", lambda: Computers(says=True)
    yield "computers, no graph", lambda: Computers(says=False)


def rules_for(name: str, problem: Any) -> dict[str, Any]:
    """Return rules of thumb for a problem."""
    if not isinstance(problem, Problem):
        return {}
    if "fire" in name:
        return {"fire front": Rule(problem, fire_front)}
    return {rule.__name__: Rule(problem, rule) for rule in (spreaders, exposed)}


def row(name: str, problem: Any) -> str:
    """Train, play, and return a row of the table."""
    began = time.process_time()
    q = train(problem, seed=1).model
    seconds = time.process_time() - began
    names = ["sequoia", "random", *(["myopic"] if isinstance(problem, Problem) else [])]
    policies = {one: make_policy(one, problem, model=q) for one in names} | rules_for(name, problem)
    episodes = EPISODES if problem.space.base.kind == "budget" else FEW

    def played(policy: Any, count: int) -> Any:
        found = rollout(problem, policy, Scenarios.sample(problem, count, seed=5))
        return found.rewards.mean(axis=1)

    earned = {one: played(policy, episodes) for one, policy in policies.items()}
    own = earned.pop("sequoia")
    rule = max(earned.keys() - {"random", "myopic"}, key=lambda one: earned[one].mean(), default="")
    gaps = [own - earned[one] if one in earned else None for one in ("random", "myopic", rule)]
    priced = None
    if isinstance(problem, Problem):
        priced = own[:PRICE_EPISODES] - played(make_policy("price", problem), PRICE_EPISODES)
    cut = " | ".join("–" if gap is None else said(gap) for gap in (own, *gaps, priced))
    return f"| {name} | {cut} | {rule} | {seconds:.0f} |"


def said(values: Any) -> str:
    """Return a mean and its interval."""
    found = estimate(values)
    return f"{found.mean:.2f} ± {found.half:.2f}"


if __name__ == "__main__":
    print("| problem | SEQUOIA | minus random | myopic | best rule | price | that rule | s |")
    print("|---|---|---|---|---|---|---|---|")
    for case, make in cases():
        if case in sys.argv[1:] or not sys.argv[1:]:
            print(row(case, make()), flush=True)
