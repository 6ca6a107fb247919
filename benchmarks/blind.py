"""The one learner, blind: trained from `step` and the rules alone, against what is known.

    python benchmarks/blind.py                         every row, ten seeds each
    python benchmarks/blind.py --rows capacity --seeds 3
    python benchmarks/blind.py --quick                 two rows with wide margins, under two minutes

Each line of CSV is one training: problem, seed, what it earned, what it is compared with, half of
the 95 % interval of the paired difference, and CPU seconds. The last lines are means over seeds.
Every environment is wrapped in `experiments.blind.Blind`; policies of a row play the same episodes.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from experiments.blind import Blind
from experiments.field import cascade, maintenance
from experiments.field.cascade_baselines import by_index, mean_field, whittle
from experiments.field.maintenance_baselines import best_heuristic, discounted_cost
from experiments.play import returns
from sequoia.learn import make_config, train
from sequoia.optimize.auto import RolloutAuto
from sequoia.policies import make_policy
from sequoia.problem import Environment
from sequoia.problem.families import make
from sequoia.simulate import Scenarios, rollout

SETTINGS = ("capacity", "scheduling", "interventions", "routing")
SHARE = {20: 99.0, 40: 98.5, 100: 98.0}
SECONDS = {20: 15, 40: 60, 100: 200}
# Solvers make decisions of `price` slow on long routes; the others are quick.
EPISODES = {"routing": 40}


class Result(NamedTuple):
    """What a training earned beside what it is compared with."""

    row: str
    seed: int
    earned: float
    other: float
    half: float
    seconds: float
    said: str


def trained(environment: Environment, seed: int = 0, **changes: int):
    """Return a policy of states and steps, learned blind, and the CPU seconds that took."""
    torch.set_num_threads(1)
    began = time.process_time()
    found = train(Blind(environment), make_config("default", **changes), seed)
    spent = time.process_time() - began
    argmax = RolloutAuto(found.model.encoding)

    def act(states, step, rng):  # noqa: ARG001
        return argmax.best_of(found.model.fold(states, np.full(len(states), step)))

    return found.model, act, spent


def against(name: str, environment: Environment, row: str, seed: int, episodes: int) -> Result:
    """Compare with a policy of the declared problem, per step, in the same episodes."""
    q, _, spent = trained(environment)
    scenarios = Scenarios.sample(environment, episodes, 1_000 + seed)
    ours, theirs = (
        rollout(environment, policy, scenarios).rewards.mean(axis=1)
        for policy in (make_policy("sequoia", environment, q), make_policy(name, environment))
    )
    half = 1.96 * (ours - theirs).std() / np.sqrt(episodes)
    share = 100 * ours.mean() / theirs.mean()
    said = f"{share:.2f} % of {name}"
    return Result(row, seed, ours.mean(), theirs.mean(), half, spent, said)


def setting(family: str, arms: int, seed: int) -> Result:
    """One of the paper's settings, against `price`."""
    problem = make(family, arms=arms, seed=100 + seed)
    return against("price", problem, f"{family} {arms}", seed, EPISODES.get(family, 100))


def epidemic(arms: int, seed: int) -> Result:
    """An epidemic, against `myopic`."""
    problem = make("epidemic", arms=arms, seed=seed)
    found = against("myopic", problem, f"epidemic {arms}", seed, 100 if arms < 100 else 30)
    if arms > 100:
        return found
    scenarios = Scenarios.sample(problem, 100, 1_000 + seed)
    price = rollout(problem, make_policy("price", problem), scenarios).rewards.mean()
    return found._replace(said=f"{found.said}; price {price:.2f}")


def system(k: int, seed: int) -> Result:
    """The k-out-of-4 system; costs, against its best heuristic."""
    environment = maintenance.make(k=k)
    _, act, spent = trained(environment, seed)
    cost, half = discounted_cost(environment, act, 4_000, 5)
    heuristic, _ = discounted_cost(environment, best_heuristic(environment), 4_000, 5)
    return Result(f"{k}-of-4, cost", seed, cost, heuristic, half, spent, "heuristic beside")


def village(seed: int) -> Result:
    """Cascades in a village, against the Whittle index, paired."""
    environment = cascade.make(seed=seed)
    _, act, spent = trained(environment)
    ours = returns(environment, act, 400, 5)
    index = returns(environment, by_index(environment, whittle(environment)), 400, 5)
    field = returns(environment, by_index(environment, mean_field(environment)), 400, 5)
    half = 1.96 * (ours - index).std() / 20
    said = (
        f"minus Whittle {(ours - index).mean():.2f}, minus mean field {(ours - field).mean():.2f}"
    )
    return Result("village", seed, ours.mean(), index.mean(), half, spent, said)


def rows() -> dict[str, Callable[[int], Result]]:
    """Return every row by name: a function of the seed."""
    found: dict[str, Callable[[int], Result]] = {}
    for arms in (20, 40, 100):
        for family in SETTINGS:
            found[f"{family} {arms}"] = _Row(setting, (family, arms))
    found["epidemic 30"] = _Row(epidemic, (30,))
    found["epidemic 1000"] = _Row(epidemic, (1_000,))
    for k in (1, 2):
        found[f"{k}-of-4"] = _Row(system, (k,))
    found["village"] = _Row(village, ())
    return found


class _Row(NamedTuple):
    """A row that other processes can call."""

    of: Callable[..., Result]
    knobs: tuple

    def __call__(self, seed: int) -> Result:
        return self.of(*self.knobs, seed)


def results(names: list[str], seeds: list[int], jobs: int) -> Iterator[Result]:
    """Yield results as they are there."""
    chosen = [(row, seed) for name, row in rows().items() if name in names for seed in seeds]
    if jobs == 1:
        yield from (row(seed) for row, seed in chosen)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from (one.result() for one in [pool.submit(row, seed) for row, seed in chosen])


def quick() -> None:
    """Assert with wide margins what must not be lost; for tests."""
    problem = make("capacity", arms=40, seed=101)
    found = against("myopic", problem, "capacity 40", 1, 20)
    show(found)
    assert found.earned > 1.3 * found.other, "blind learning is not well above myopic"
    environment = maintenance.make(k=2)
    _, act, spent = trained(environment, rounds=8)
    cost, half = discounted_cost(environment, act, 1_000, 5)
    heuristic, _ = discounted_cost(environment, best_heuristic(environment), 1_000, 5)
    show(Result("2-of-4, cost", 0, cost, heuristic, half, spent, "heuristic beside"))
    assert cost < 1.05 * heuristic, "blind learning is worse than the best heuristic"


def show(one: Result) -> None:
    """Print a result as a line of CSV."""
    print(
        f"{one.row},{one.seed},{one.earned:.3f},{one.other:.3f},{one.half:.3f},"
        f"{one.seconds:.1f},{one.said}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="", help="Names of rows begin so; all by default.")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    print("row,seed,earned,other,± of the difference,CPU s,said")
    if options.quick:
        quick()
        return
    wanted = options.rows.split(",")
    names = [name for name in rows() if any(name.startswith(one) for one in wanted)]
    found: dict[str, list[Result]] = {}
    for one in results(names, list(range(1, options.seeds + 1)), options.jobs):
        show(one)
        found.setdefault(one.row, []).append(one)
    print("\nrow,seeds,earned / other in %,± over seeds,CPU s")
    for name, own in found.items():
        share = np.array([100 * one.earned / one.other for one in own])
        half = 1.96 * share.std(ddof=1) / np.sqrt(len(own)) if len(own) > 1 else float("nan")
        spent = np.mean([one.seconds for one in own])
        print(f"{name},{len(own)},{share.mean():.2f},{half:.2f},{spent:.0f}")


if __name__ == "__main__":
    main()
