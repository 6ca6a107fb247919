"""Where arms interact: how tight the bounds are, what `price` earns, and how long both take.

Run on one thread: ``OMP_NUM_THREADS=1 python benchmarks/bench_factored.py --help``.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from sequoia.bounds import clairvoyant_bound, relax_factored, solve_exactly
from sequoia.evaluation.intervals import estimate
from sequoia.policies import Myopic
from sequoia.policies.price import ClusterPricePolicy
from sequoia.problem.families import epidemic
from sequoia.simulate import Scenarios, rollout

# The random problems of the tests.
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from tiny_problems import KINDS, earned, infected, random_problem

TABLES = (1, 1_100, 5_000, 10_000)


def main() -> None:
    """Print the tables of the documentation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("order", "tiny", "large"), required=True)
    parser.add_argument("--arms", type=int, nargs="+", default=[20])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--tables", type=int, nargs="+", default=list(TABLES))
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--scenarios", type=int, default=20, help="0 leaves the clairvoyant out")
    parser.add_argument("--rounds", type=int, default=60, help="of the clairvoyant")
    given = parser.parse_args()
    if given.part == "order":
        order(given.seeds, given.scenarios)
    elif given.part == "tiny":
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


def order(seeds: list[int], scenarios: int) -> None:
    """Check policy ≤ optimum ≤ bound on tiny problems of every kind of space, with contagion."""
    print("| space | problems | price / optimum | factored / optimum | clairvoyant / optimum |")
    print("|---|---|---|---|---|")
    for kind in KINDS:
        rows = np.array([ordered(kind, seed, scenarios) for seed in seeds])
        cells = [f"{one.mean():.4f} ({one.min():.4f}–{one.max():.4f})" for one in rows.T]
        print(f"| {kind} | {len(rows)} | {' | '.join(cells)} |", flush=True)


def ordered(kind: str, seed: int, scenarios: int) -> list[float]:
    """Return price, both bounds over the optimum; end here if they are out of order."""
    problem = infected(random_problem(kind, seed), seed)
    best = solve_exactly(problem).value
    slack = 1e-6 * max(1.0, abs(best))
    # Arms one by one, small clusters, and one table for all.
    found = relax_factored(problem, table=[1, 30, 10_000][seed % 3], rounds=60)
    share = earned(problem, ClusterPricePolicy(problem, found.value))
    luck = clairvoyant_bound(problem, found, scenarios=scenarios, rounds=30, seed=seed)
    if not share <= best + slack:
        raise SystemExit(f"{problem.name}: price earns {share}, the optimum is {best}")
    if not found.bound.total >= best - slack:
        raise SystemExit(f"{problem.name}: the bound is {found.bound.total}, the optimum {best}")
    # An estimate: of some hundred, none may be four margins, eight standard errors, too low.
    if not luck.total + 4 * luck.margin >= best - slack:
        raise SystemExit(f"{problem.name}: clairvoyant {luck.total} ± {luck.margin}, not {best}")
    return [share / best, found.bound.total / best, luck.total / best]


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
