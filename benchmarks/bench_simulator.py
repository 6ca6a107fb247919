"""Arm-transitions per second on one core at J = 100: ``python benchmarks/bench_simulator.py``."""

import time

import numpy as np

from sequoia.problem.families import FAMILIES

ARMS = 100
EPISODES = 1000
REPEATS = 50
GOAL = 20e6


def measure(name: str) -> float:
    problem = FAMILIES[name](arms=ARMS)
    rng = np.random.default_rng(0)
    drawn = np.array([problem.space.sample(rng).action for _ in range(100)])
    actions = drawn[rng.integers(0, len(drawn), EPISODES)]
    states = rng.integers(0, problem.arms.n_states, (EPISODES, ARMS))
    noise = rng.random((EPISODES, ARMS))
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        states = problem.transition(states, actions, noise)
        times.append(time.perf_counter() - began)
    return EPISODES * ARMS / float(np.median(times))


def main() -> None:
    print(f"{ARMS} arms, {EPISODES} episodes at once; the goal is {GOAL / 1e6:g} million")
    for name in ("capacity", "interventions", "scheduling"):
        rate = measure(name)
        verdict = "reached" if rate >= GOAL else "missed"
        print(f"{name:14} {rate / 1e6:6.1f} million arm-transitions per second (goal {verdict})")


if __name__ == "__main__":
    main()
