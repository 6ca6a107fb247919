"""How often intervals hold what they are about: ``python benchmarks/coverage_of_intervals.py``.

2,000 repetitions each; nominal 95 % within 94 to 96 % is asked for (two standard errors of such a
share are 1 %). ``--only NAME …`` chooses, ``--repetitions`` and ``--seed`` as well.

===========  ======================================================================================
evaluation   the mean of a policy's episodes, about its exact worth
paired       the difference of two policies under the same luck, about the exact one
size         two policies of exactly the same worth: how often they are not told apart
pooled       the mean over instances of different size and spread
clairvoyant  the margin of a clairvoyant bound, about the mean of all of them
regret       the regret of a learner, about that of all its episodes, drawn again and again
guard        a policy that is worse: how often it is not kept, by how much it is worse
fits         transitions of groups, 90 % intervals: a repetition is a probability
===========  ======================================================================================
"""

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from sys import path

import numpy as np

from sequoia.bounds import clairvoyant_bound, relax_factored
from sequoia.bounds.exact import joint_states
from sequoia.evaluation.intervals import Estimate, estimate, pooled
from sequoia.learn.guard import Guard
from sequoia.policies import FunctionPolicy, Policy, make_policy
from sequoia.problem import Arms, Budget, Problem
from sequoia.problem.families import make
from sequoia.records import Seen, Structure, fit, regret, simulate_log
from sequoia.rng import stream

path.insert(0, str(Path(__file__).parent.parent / "tests"))
from tiny_problems import earned, random_problem

# Episodes of an evaluation: few, where Student's t matters, and the usual number.
EPISODES = (10, 50)
Share = tuple[str, int, int, float]


def hits(intervals: list[Estimate], truth: float) -> int:
    """Return how many intervals hold the truth, up to rounding."""
    slack = 1e-9 * max(abs(truth), 1.0)
    return sum(one.low - slack <= truth <= one.high + slack for one in intervals)


def played(problem: Problem, policy: Policy, episodes: int, rng: np.random.Generator) -> np.ndarray:
    """Return what a policy earns in each of many episodes; its decisions are looked up."""
    states = joint_states(problem)
    size = problem.arms.n_states ** np.arange(problem.arms.n_arms)[::-1]
    state = problem.draw_start(rng, episodes)
    total = np.zeros(episodes)
    rngs = [np.random.default_rng(0)] * len(states)
    for step in range(problem.horizon):
        actions = policy.act(states, step, rngs).actions[state @ size]
        reward, state = problem.step(state, actions, rng.random((episodes, problem.n_noise)))
        total += reward
    return total


def groups(values: np.ndarray, size: int) -> np.ndarray:
    return values[: len(values) // size * size].reshape(-1, size)


def evaluation(repetitions: int, seed: int) -> Iterator[Share]:
    for episodes in EPISODES:
        held = count = 0
        for problem_seed in range(10):
            problem = random_problem("standard", problem_seed)
            policy = make_policy("myopic", problem)
            rng = stream(seed, f"coverage:{problem_seed}")
            totals = played(problem, policy, repetitions // 10 * episodes, rng)
            found = [estimate(own) for own in groups(totals, episodes)]
            held, count = held + hits(found, earned(problem, policy)), count + len(found)
        yield f"evaluation, {episodes} episodes", held, count, 95.0


def paired(repetitions: int, seed: int) -> Iterator[Share]:
    for episodes in EPISODES:
        held = count = 0
        for problem_seed in range(10):
            problem = random_problem("standard", problem_seed)
            two = [make_policy("myopic", problem), make_policy("idle", problem)]
            totals = [
                played(problem, own, repetitions // 10 * episodes, stream(seed, str(problem_seed)))
                for own in two
            ]
            truth = earned(problem, two[0]) - earned(problem, two[1])
            found = [estimate(own) for own in groups(totals[0] - totals[1], episodes)]
            held, count = held + hits(found, truth), count + len(found)
        yield f"paired, {episodes} episodes", held, count, 95.0


def size(repetitions: int, seed: int) -> Iterator[Share]:
    """Four arms that are alike, a budget of two: who takes the first is as good as the last."""
    up = [[[0.1, 0.4], [0.6, 0.9]]]
    arms = Arms.ladder([[0.0, 1.0]], up, model=np.zeros(4, dtype=int))
    start = np.full((4, 2), 0.5)
    problem = Problem("alike", arms, Budget(np.ones(4), 2), start, horizon=6)

    def taking(columns: list[int]) -> Policy:
        action = np.zeros(4, dtype=np.int8)
        action[columns] = 1
        decide = lambda state, step, rng: problem.space.certify(action)  # noqa: E731, ARG005
        return FunctionPolicy(f"{columns}", decide)

    for episodes in EPISODES:
        many = repetitions * episodes
        one, two = (
            played(problem, taking(columns), many, stream(seed, f"size:{episodes}"))
            for columns in ([0, 1], [2, 3])
        )
        found = [estimate(own) for own in groups(one - two, episodes)]
        same = sum(own.includes_zero for own in found)
        yield f"size of the paired test, {episodes} episodes", same, len(found), 95.0


def pooling(repetitions: int, seed: int) -> Iterator[Share]:
    rng = np.random.default_rng(seed)
    means, spreads, sizes = [1.0, 2.0, 5.0, 0.0], [1.0, 5.0, 0.2, 2.0], [5, 12, 30, 8]
    found = [
        pooled([rng.normal(m, s, n) for m, s, n in zip(means, spreads, sizes, strict=True)])
        for _ in range(repetitions)
    ]
    yield "pooled, four instances", hits(found, float(np.mean(means))), len(found), 95.0


def clairvoyant(repetitions: int, seed: int) -> Iterator[Share]:
    problem = make("epidemic", arms=10, horizon=6)
    relaxation = relax_factored(problem)
    for scenarios, many in ((10, repetitions), (40, repetitions // 4)):
        found = []
        for repetition in range(many):
            bound = clairvoyant_bound(
                problem, relaxation, scenarios=scenarios, rounds=3, seed=seed + repetition
            )
            found.append(
                Estimate(bound.total, bound.total - bound.margin, bound.total + bound.margin)
            )
        truth = float(np.mean([one.mean for one in found]))
        yield f"clairvoyant, {scenarios} scenarios", hits(found, truth), len(found), 95.0


def regrets(repetitions: int, seed: int) -> Iterator[Share]:
    problem = make("standard", arms=6, horizon=8)
    episodes, each = 200, 10
    learned = regret(problem, ["refit"], steps=8, episodes=episodes, every=4, seed=seed)
    lost = learned.cumulative[0, :, -1]
    rng = np.random.default_rng(seed)
    drawn = [estimate(rng.choice(lost, each)) for _ in range(repetitions)]
    yield "regret, 10 episodes", hits(drawn, float(lost.mean())), len(drawn), 95.0


class _Gains(Guard):
    """A guard that plays episodes of given gains: the challenger's first, then the holder's 0."""

    def __init__(self, draw: Callable[[int], np.ndarray], episodes: int) -> None:
        super().__init__(None, episodes, 1.0)
        object.__setattr__(self, "draw", draw)

    def earned(self, act: str, rng: np.random.Generator) -> np.ndarray:
        return self.draw(self.episodes) if act == "challenger" else np.zeros(self.episodes)


def guard(repetitions: int, seed: int) -> Iterator[Share]:
    rng = np.random.default_rng(seed)
    laws = {
        "normal": lambda n: rng.standard_normal(n),
        "rare losses": lambda n: (0.1 - (rng.random(n) < 0.1)) / 0.3,
        "rare wins": lambda n: ((rng.random(n) < 0.1) - 0.1) / 0.3,
    }
    for episodes in (16, 64, 256):
        for law, draw in laws.items():
            for worse in (0.0, 0.05):
                game = _Gains(lambda n, own=draw, by=worse: own(n) - by, episodes)
                kept = sum(
                    game.test("challenger", "holder", lambda _: rng)[0] for _ in range(repetitions)
                )
                text = f"guard, {episodes} episodes, {law}, worse by {worse:g} sd: not kept"
                yield text, repetitions - kept, repetitions, 99.0


def fits(repetitions: int, seed: int) -> Iterator[Share]:
    """Ladders and rows of any kind; how many groups and logs the repetitions ask for."""
    for kind, n_groups, is_seen in (("ladder", 5, 1.0), ("ladder", 20, 0.3), ("any", 5, 1.0)):
        held = count = log_number = 0
        while count < repetitions:
            rng = stream(seed, f"fits:{kind}:{n_groups}:{log_number}")
            log_number += 1
            up = rng.uniform([0.0, 0.6], [0.3, 0.95], (n_groups, 2))
            kernels = Arms.ladder(np.zeros((n_groups, 4)), up).kernels
            if kind == "any":
                kernels = rng.dirichlet(np.ones(4), (n_groups, 2, 4))
            arms = Arms(
                np.tile(np.arange(4.0), (n_groups, 1)),
                np.tile([0.0, 1.0], (n_groups, 1)),
                kernels,
                np.arange(10 * n_groups) % n_groups,
            )
            start = np.full((arms.n_arms, 4), 0.25)
            problem = Problem("fits", arms, Budget(np.ones(arms.n_arms), arms.n_arms // 3), start)
            log = simulate_log(problem, make_policy("random", problem), 20, Seen(is_seen, 0.0), rng)
            known = Structure((kernels > 0).any(axis=(0, 1)))
            found = fit(log, 4, 2, structure=known, seed=log_number)
            low, high = found.interval
            is_free = high > 0
            held += int(((low <= kernels) & (kernels <= high))[is_free].sum())
            count += int(is_free.sum())
        share = f"{100 * is_seen:.0f} % of states seen"
        text = f"fits, {kind}, {n_groups} groups, {share}, {log_number} logs"
        yield text, held, count, 90.0


PARTS = {
    "evaluation": evaluation, "paired": paired, "size": size, "pooled": pooling,
    "clairvoyant": clairvoyant, "regret": regrets, "guard": guard, "fits": fits,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Count how often intervals hold the truth.")
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repetitions", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    for name in chosen.only:
        began = time.perf_counter()
        for text, held, count, nominal in PARTS[name](chosen.repetitions, chosen.seed):
            error = 100 * np.sqrt(held / count * (1 - held / count) / count)
            share = 100 * held / count
            print(
                f"{text}: {share:.1f} ± {error:.1f} % of {count}, nominal {nominal:g} %", flush=True
            )
        print(f"  {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
