"""Where arms interact: how tight the bounds are, what `price` earns, and how long both take.

Run on one thread: ``OMP_NUM_THREADS=1 python benchmarks/bench_factored.py --help``.
"""

import argparse
import time

import numpy as np

from sequoia.bounds import clairvoyant_bound, relax_factored, solve_exactly
from sequoia.bounds.exact import joint_moves, joint_rewards, joint_states
from sequoia.evaluation.intervals import estimate
from sequoia.policies import Myopic, Policy
from sequoia.policies.cluster_price import ClusterPricePolicy
from sequoia.problem import Problem
from sequoia.problem.families import epidemic
from sequoia.simulate import Scenarios, rollout

TABLES = (1, 1_100, 5_000, 10_000)


def main() -> None:
    """Print the tables of the documentation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("tiny", "large"), required=True)
    parser.add_argument("--arms", type=int, nargs="+", default=[20])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--tables", type=int, nargs="+", default=list(TABLES))
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--scenarios", type=int, default=20, help="0 leaves the clairvoyant out")
    parser.add_argument("--rounds", type=int, default=60, help="of the clairvoyant")
    given = parser.parse_args()
    if given.part == "tiny":
        tiny(given.seeds, given.tables, given.scenarios, given.rounds)
    else:
        large(given)


def tiny(seeds: list[int], tables: list[int], scenarios: int, rounds: int) -> None:
    """Compare bounds and `price` with the optimum of 8 nodes."""
    print("| table | factored / optimum | clairvoyant / optimum | price / optimum | seconds |")
    print("|---|---|---|---|---|")
    problems = [epidemic(arms=8, seed=seed) for seed in seeds]
    best = [solve_exactly(problem).value for problem in problems]
    for table in tables:
        rows = []
        for problem, optimum in zip(problems, best, strict=True):
            began = time.process_time()
            found = relax_factored(problem, table=table)
            spent = time.process_time() - began
            luck = np.nan
            if scenarios:
                luck = clairvoyant_bound(problem, found, scenarios=scenarios, rounds=rounds).total
            share = earned(problem, ClusterPricePolicy(problem, found.value))
            rows.append([found.bound.total / optimum, luck / optimum, share / optimum, spent])
        columns = np.array(rows).T
        cells = [
            f"{column.mean():.3f} ({column.min():.3f}–{column.max():.3f})" for column in columns
        ]
        print(f"| {table} | {' | '.join(cells)} |", flush=True)


def earned(problem: Problem, policy: Policy) -> float:
    """Return what a policy earns in expectation, by going through all joint states."""
    states = joint_states(problem)
    values = np.zeros(len(states))
    rngs = [np.random.default_rng(0)] * len(states)
    for step in range(problem.horizon - 1, -1, -1):
        actions = policy.act(states, step, rngs).actions
        following = np.empty(len(states))
        for action in np.unique(actions, axis=0):
            rows = (actions == action).all(axis=1)
            moves = joint_moves(problem, states, problem.levels(action[None]))[0]
            following[rows] = (joint_rewards(problem, states, action[None])[0] + moves @ values)[
                rows
            ]
        values = following
    chances = np.ones(1)
    for start in problem.start:
        chances = np.outer(chances, start).reshape(-1)
    return float(chances @ values)


def large(given: argparse.Namespace) -> None:
    """Bound larger epidemics, and play them."""
    print("| arms | seed | table | factored | s | clairvoyant | s | myopic | price | ms | share |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for arms in given.arms:
        for seed in given.seeds:
            for table in given.tables:
                print(row(arms, seed, table, given), flush=True)


def row(arms: int, seed: int, table: int, given: argparse.Namespace) -> str:
    """Return one line: bounds with seconds, totals of the policies, and price over the bound."""
    problem = epidemic(arms=arms, seed=seed)
    began = time.process_time()
    found = relax_factored(problem, table=table)
    seconds = time.process_time() - began
    least, luck, extra = found.bound.total, "–", 0.0
    if given.scenarios:
        began = time.process_time()
        sure = clairvoyant_bound(problem, found, scenarios=given.scenarios, rounds=given.rounds)
        extra = time.process_time() - began
        least, luck = min(least, sure.total), f"{sure.total:.1f} ± {sure.margin:.1f}"
    scenarios = Scenarios.sample(problem, given.episodes, seed=0)
    totals = []
    for policy in (Myopic(problem), ClusterPricePolicy(problem, found.value)):
        began = time.process_time()
        played = rollout(problem, policy, scenarios)
        spent = time.process_time() - began
        totals.append(estimate(played.rewards.sum(axis=1)))
    each = 1e3 * spent / (given.episodes * problem.horizon)
    myopic, price = (f"{one.mean:.0f} ± {one.half:.0f}" for one in totals)
    share = f"{totals[1].mean / least:.3f}"
    return (
        f"| {arms} | {seed} | {table} | {found.bound.total:.1f} | {seconds:.0f} | {luck} "
        f"| {extra:.0f} | {myopic} | {price} | {each:.1f} | {share} |"
    )


if __name__ == "__main__":
    main()
