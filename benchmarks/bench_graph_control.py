"""Rules of thumb, baselines and SEQUOIA where arms interact on a graph.

    python benchmarks/bench_graph_control.py fire     # a forest fire on a lattice
    python benchmarks/bench_graph_control.py sir      # a small world with immunity
    python benchmarks/bench_graph_control.py vaccine  # the same, where only vaccination helps
    python benchmarks/bench_graph_control.py small    # both, so small that the optimum is known
    python benchmarks/bench_graph_control.py route    # treatments along a walk

Options: ``--seeds 3 --episodes 100 --no-training``. Reward per step with 95 % intervals, all
policies with the same luck; seconds are CPU seconds of one process.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from sequoia.evaluation import evaluate
from sequoia.learn import make_config, train
from sequoia.policies import make_policy
from sequoia.policies.policy import LinearPolicy
from sequoia.problem import Problem
from sequoia.problem.families import epidemic, wildfire
from sequoia.problem.families.wildfire import BURNING, TREE

Score = Callable[[Problem, np.ndarray], np.ndarray]
INFECTED, HEALTHY = 0, 1


class Rule(LinearPolicy):
    """Treats the arms with the highest scores, a function of problem and state, ``(J,)``."""

    name = "rule"

    def __init__(self, problem: Problem, score: Score) -> None:
        super().__init__(problem)
        self._score = score

    def table(self, state: np.ndarray, step: int, episode: int) -> np.ndarray:
        """Return the score as the worth of treatment, ``(J, 2)``."""
        score = self._score(self._problem, state)
        return np.stack([np.zeros(len(score)), score], axis=1)


def near(problem: Problem, state: np.ndarray, kind: int) -> np.ndarray:
    """Return how many neighbours in a state each arm has, ``(J,)``."""
    return problem.contagion.neighbours @ (state == kind)


def any_fire(problem, state):  # noqa: ARG001
    """Treat burning trees, whichever."""
    return 1.0 * (state == BURNING)


def fire_front(problem, state):
    """Treat burning trees with the most standing neighbours first."""
    return (state == BURNING) * (0.001 + near(problem, state, TREE))


def exposed(problem, state):
    """Vaccinate healthy nodes with the most infected neighbours first."""
    return (state == HEALTHY) * (0.001 + near(problem, state, INFECTED))


def hubs(problem, state):
    """Vaccinate healthy nodes with the most neighbours first."""
    return (state == HEALTHY) * (0.001 + problem.contagion.neighbours.sum(axis=1))


def spreaders(problem, state):
    """Treat infected nodes with the most healthy neighbours first."""
    return (state == INFECTED) * (0.001 + near(problem, state, HEALTHY))


FIRE_RULES = {"any fire": any_fire, "fire front": fire_front}
VACCINE_RULES = {"exposed": exposed, "hubs": hubs}
SIR_RULES = {**VACCINE_RULES, "spreaders": spreaders}


def lattice_fire(seed: int, **knobs) -> Problem:
    """Return 10 by 10 trees, of which 8 burn; 4 treatments a step."""
    return wildfire(seed=seed, **knobs)


def small_world_sir(seed: int, **knobs) -> Problem:
    """Return 62 nodes, one in ten infected at first; 3 cures or vaccinations a step."""
    knobs = {"arms": 62, "budget": 3, "graph": "small-world", "sick_share": 0.1, **knobs}
    return epidemic(disease="sir", importance=1, arrive=0.0, seed=seed, **knobs)


def compare(problem: Problem, rules: dict[str, Score], names: list[str], options) -> None:
    """Play baselines, rules and what is trained, all with the same luck."""
    print(problem.name, flush=True)
    makers = {name: partial(make_policy, name) for name in names}
    makers |= {name: partial(Rule, score=score) for name, score in rules.items()}
    if not options.no_training:
        began = time.process_time()
        q = train(problem, make_config("default"), seed=1).model
        print(f"  training took {time.process_time() - began:.0f} s", flush=True)
        makers["sequoia"] = partial(make_policy, "sequoia", model=q)
    found = evaluate(problem, makers, options.episodes, seed=5, bound="none")
    for name in found.names:
        mean, gap = found.mean(name), found.paired(name, "myopic")
        print(
            f"  {name:12s}{mean.mean:8.3f} ± {mean.half:.3f}"
            f"   minus myopic {gap.mean:+.3f} ± {gap.half:.3f}"
            f"   {found.ms_per_decision(name):.1f} ms a decision",
            flush=True,
        )


def fire(options) -> None:
    for seed in range(1, options.seeds + 1):
        compare(lattice_fire(seed), FIRE_RULES, ["idle", "random", "myopic"], options)


def sir(options) -> None:
    for seed in range(1, options.seeds + 1):
        compare(small_world_sir(seed), SIR_RULES, ["idle", "random", "myopic"], options)


def vaccine(options) -> None:
    for seed in range(1, options.seeds + 1):
        problem = small_world_sir(seed, treat="healthy")
        compare(problem, VACCINE_RULES, ["idle", "random", "myopic"], options)


def small(options) -> None:
    names = ["idle", "random", "myopic", "exact"]
    for seed in range(1, options.seeds + 1):
        compare(lattice_fire(seed, arms=7, budget=1, burning=2), FIRE_RULES, names, options)
        compare(small_world_sir(seed, arms=7, budget=1, sick_share=0.3), SIR_RULES, names, options)


def route(options) -> None:
    for seed in range(1, options.seeds + 1):
        problem = epidemic(arms=20, route=True, seed=seed)
        compare(problem, {}, ["random", "sampling", "myopic"], options)


PARTS = {part.__name__: part for part in (fire, sir, vaccine, small, route)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--no-training", action="store_true")
    given = parser.parse_args()
    for name in given.parts or PARTS:
        print(f"# {name}", flush=True)
        PARTS[name](given)
