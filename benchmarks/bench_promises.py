"""Promises in simulated weeks of five days, with staff who are off at random, and what they cost.

Every arm is visited at least every so many days; some not more often than every third day. On each
day each worker is off with some probability, unforeseen. Whether promises were kept is judged from
the dates of visits alone.
"""

import argparse
import time

import numpy as np

import sequoia
from sequoia.bounds import relax
from sequoia.policies import make_policy
from sequoia.problem import Problem, Promise, Promises, Rules
from sequoia.rng import stream

DAYS = 5


def promised(family: str, arms: int, every: int, reserve: int) -> Problem:
    """Return a problem in which half of the arms are promised visits, and others rest."""
    plain = sequoia.make(family, arms=arms, seed=1)
    assert isinstance(plain, Problem)
    names = plain.arms.names
    half = arms // 2
    given = [
        Promise(names[: half // 2], every=every),
        Promise(names[half // 2 : half], every=every + 4, apart=3),
        Promise(names[half : half + 3], apart=3),
    ]
    return plain.with_promises(Promises.of(names, given, reserve))


def play(problem: Problem, policy: str, weeks: int, off: float) -> tuple[int, int, float]:
    """Return how many promises were broken, how many visits were made, and seconds of processor."""
    rng = stream(0, f"bench:promises:{policy}")
    keeper = problem.keeper
    assert keeper is not None
    state = problem.draw_start(rng, 1)
    workers = problem.space.worker_names
    acting = {}
    own, last = keeper.promises, -1 - keeper.first_clock()
    broken = visits = 0
    began = time.process_time()
    for day in range(DAYS * weeks):
        absent = tuple(w for w, u in zip(workers, rng.random(len(workers)), strict=True) if u < off)
        if absent not in acting:
            acting[absent] = make_policy(policy, problem.with_rules(Rules(absent=absent)))
            acting[absent].reset(1)
        action = acting[absent].act(state, day, [rng]).actions
        visited = problem.levels(action)[0] > 0
        gap = day - last
        broken += int(((own.every > 0) & ~visited & (gap >= own.every)).sum())
        broken += int((visited & (gap < own.apart)).sum())
        visits += int(visited.sum())
        last = np.where(visited, day, last)
        state = problem.transition(state, action, rng.random((1, problem.n_noise)))
    return broken, visits, time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--families", nargs="+", default=["capacity", "scheduling", "rota"])
    parser.add_argument("--policies", nargs="+", default=["myopic"])
    parser.add_argument("--arms", type=int, default=20)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--reserve", type=int, default=3)
    parser.add_argument("--weeks", type=int, default=10_000)
    parser.add_argument("--off", type=float, default=0.1)
    wanted = parser.parse_args()
    print(
        "| family | policy | weeks | visits a day | promises broken | bound, of that without | ms |"
    )
    print("|---|---|---|---|---|---|---|")
    for family in wanted.families:
        problem = promised(family, wanted.arms, wanted.every, wanted.reserve)
        plain = sequoia.make(family, arms=wanted.arms, seed=1)
        share = relax(problem).bound.total / relax(plain).bound.total
        for policy in wanted.policies:
            broken, visits, seconds = play(problem, policy, wanted.weeks, wanted.off)
            days = DAYS * wanted.weeks
            print(
                f"| {family} | {policy} | {wanted.weeks} | {visits / days:.2f} | {broken} "
                f"| {100 * share:.1f} % | {1e3 * seconds / days:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
