"""How tight the bounds are, how close the price policies come, and how time grows with arms.

Run on one thread: ``OPENBLAS_NUM_THREADS=1 python benchmarks/bench_bounds.py --help``.
"""

import argparse
import resource
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sequoia.bounds import Prices, relax
from sequoia.io import write_text
from sequoia.optimize import ActionEncoding, LinearArgmax
from sequoia.plots import Gap, plot_gaps, plot_times, save_plot
from sequoia.policies import PricePolicy, PriceUpdatePolicy, WhittlePolicy
from sequoia.problem import Arms, Assignment, Budget, Problem
from sequoia.problem.families import FAMILIES, base
from sequoia.simulate import Scenarios, rollout
from sequoia.simulate.rollout import Actor

PICTURES = Path(__file__).parents[1] / "docs" / "benchmarks"
EPISODES = 10_000
SETTINGS = ("interventions", "scheduling", "capacity", "routing")


@dataclass(frozen=True)
class Line:
    """What one problem gave."""

    lp: float
    hull: float
    gap: float
    lp_seconds: float
    hull_seconds: float
    shares: tuple[float, float]
    half_widths: tuple[float, float]
    step_ms: tuple[float, float]


def measure(problem: Problem, seed: int, options: argparse.Namespace) -> Line:
    began = time.process_time()
    lp = relax(problem)
    middle = time.process_time()
    work = {"rounds": options.rounds, "seconds": options.seconds}
    hull = relax(problem, "hull", gap=options.gap, **work)
    end = time.process_time()
    scenarios = Scenarios.sample(problem, options.episodes, seed)
    policies = (
        PricePolicy(problem, hull.prices),
        PriceUpdatePolicy(problem, options.every, vertices=hull.vertices),
    )
    shares, half_widths, step_ms = [], [], []
    for policy in policies:
        now = time.process_time()
        mean, half_width = steadily(problem, policy, scenarios, hull.prices)
        spent = time.process_time() - now
        shares.append(100 * mean / hull.bound.per_step)
        half_widths.append(100 * half_width / hull.bound.per_step)
        step_ms.append(1000 * spent / (scenarios.n_episodes * problem.horizon))
    return Line(
        lp.bound.per_step,
        hull.bound.per_step,
        hull.bound.gap,
        middle - began,
        end - middle,
        (shares[0], shares[1]),
        (half_widths[0], half_widths[1]),
        (step_ms[0], step_ms[1]),
    )


def steadily(
    problem: Problem, policy: Actor, scenarios: Scenarios, prices: Prices
) -> tuple[float, float]:
    """Return the mean reward per step and its 95 % half-width, with most of the luck taken out.

    What prices expect of a state, less what they expected a step before, is zero on average. Taken
    off the rewards, it leaves in each step what an action is worth less what its state was.
    """
    played = rollout(problem, policy, scenarios)
    arms, members = np.arange(problem.arms.n_arms), prices.arm_class
    total = np.full(scenarios.n_episodes, (problem.start * prices.values[0][members]).sum())
    for step in range(problem.horizon):
        state, level = played.states[:, step], problem.levels(played.actions[:, step])
        total += prices.q_values(step)[arms, state, level].sum(axis=1)
        total -= prices.values[step][members, state].sum(axis=1)
    half_width = 1.96 * total.std(ddof=1) / np.sqrt(len(total))
    return float(total.mean()) / problem.horizon, float(half_width) / problem.horizon


def settings(options: argparse.Namespace) -> None:
    print("| setting | J | seed | LP | hull | gap | LP s | hull s | price % | update % | ms |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for family in options.settings:
        for arms in options.arms:
            lines = []
            for seed in range(options.seeds):
                problem = FAMILIES[family](arms=arms, seed=seed)
                line = measure(problem, seed, options)
                lines.append(line)
                show(f"{family} | {arms} | {seed}", line)
            summarise(family, arms, lines)


def show(head: str, line: Line) -> None:
    earned = " | ".join(
        f"{share:.2f} ± {width:.2f}"
        for share, width in zip(line.shares, line.half_widths, strict=True)
    )
    print(
        f"| {head} | {line.lp:.3f} | {line.hull:.3f} | {line.gap:.0e} | {line.lp_seconds:.2f} | "
        f"{line.hull_seconds:.1f} | {earned} | {line.step_ms[0]:.1f} / {line.step_ms[1]:.0f} |",
        flush=True,
    )


def summarise(family: str, arms: int, lines: list[Line]) -> None:
    """Average over seeds; widths of independent seeds add in squares."""
    shares = np.array([line.shares for line in lines])
    widths = np.sqrt((np.array([line.half_widths for line in lines]) ** 2).sum(axis=0)) / len(lines)
    better = shares.max(axis=1).mean()
    print(
        f"| **{family}** | **{arms}** | all | {np.mean([line.lp for line in lines]):.3f} | "
        f"{np.mean([line.hull for line in lines]):.3f} | | "
        f"{np.mean([line.lp_seconds for line in lines]):.2f} | "
        f"{np.mean([line.hull_seconds for line in lines]):.1f} | "
        f"{shares[:, 0].mean():.2f} ± {widths[0]:.2f} | {shares[:, 1].mean():.2f} ± {widths[1]:.2f}"
        f" | better of two: {better:.2f} |",
        flush=True,
    )


def many(kind: str, arms: int, models: int, seed: int = 0) -> Problem:
    """Return a bandit with a budget of 1 %, arms sharing models."""
    rng = np.random.default_rng(seed)
    models = min(models, arms)
    limit = max(1, arms // 100)
    rewards = base.ladder_rewards(models, 4, None, max(1, models // 100), rng)
    up = np.stack([rng.uniform(0, 0.2, models), rng.uniform(0.7, 0.9, models)], axis=1)
    model = np.arange(arms) if models == arms else rng.integers(0, models, arms)
    space: Budget | Assignment = Budget(np.ones(arms), limit)
    if kind == "capacity":
        costs = rng.integers(2, 7, arms).astype(np.float64)
        space = Assignment(costs, rng.integers(2, 8, limit).astype(np.float64))
    start = base.bernoulli_start(arms, 4, 0.2)
    return Problem(f"{kind} {arms}", Arms.ladder(rewards, up, model=model), space, start)


def scaling(options: argparse.Namespace) -> None:
    print("| kind | J | models | bound | bound s | prices s | decision s | proven | MiB |")
    print("|---|---|---|---|---|---|---|---|---|")
    seconds: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for kind in ("standard", "capacity"):
        for arms in options.sizes:
            models = arms if options.models is None else options.models
            problem = many(kind, arms, models)
            moments = [time.process_time()]
            relaxation = relax(problem)
            moments.append(time.process_time())
            state = np.random.default_rng(1).integers(0, 2, arms)
            weights = relaxation.prices.weights(state, 0)
            moments.append(time.process_time())
            best = LinearArgmax(ActionEncoding.of_problem(problem)).best_doses(weights[None])
            moments.append(time.process_time())
            proven = "yes" if best.is_proven.all() else "no"
            spent = np.diff(moments)
            for what, part in zip(("bound", "prices of a step", "decision"), spent, strict=True):
                seconds[kind, what][arms] = float(part)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(
                f"| {kind} | {arms} | {min(models, arms)} | {relaxation.bound.per_step:.3f} | "
                f"{' | '.join(f'{s:.2f}' for s in spent)} | {proven} | "
                f"{memory} |",
                flush=True,
            )
    rows = [(*names, arms, s) for names, by_size in seconds.items() for arms, s in by_size.items()]
    keep("bound-times", "kind,what,arms,seconds", rows, options)
    save_plot(plot_times(seconds), options.output / "bound-times.png")


def agreement(options: argparse.Namespace) -> None:
    """Whittle, price and bound on standard bandits with a budget of a fifth of the arms."""
    print("| J | bound | whittle % | price % |")
    print("|---|---|---|---|")
    gaps: dict[str, list[Gap]] = defaultdict(list)
    for arms in (10, 20, 50, 100, 200, 500, 1000):
        problem = FAMILIES["standard"](arms=arms, budget=arms // 5, dynamics="random")
        relaxation = relax(problem)
        # Small problems vary more, and their episodes take less time.
        scenarios = Scenarios.sample(problem, max(EPISODES // arms, 50), 0)
        policies = (WhittlePolicy(problem), PricePolicy(problem, relaxation.prices))
        cells = []
        for policy in policies:
            mean, half_width = steadily(problem, policy, scenarios, relaxation.prices)
            limit = relaxation.bound.per_step
            gaps[policy.name].append(Gap(arms, 1 - mean / limit, half_width / limit))
            cells.append(f"{100 * mean / limit:.3f} ± {100 * half_width / limit:.3f}")
        print(f"| {arms} | {relaxation.bound.per_step:.3f} | {' | '.join(cells)} |", flush=True)
    rows = [(name, *gap) for name, listed in gaps.items() for gap in listed]
    keep("bound-gaps", "policy,arms,missed,half_width", rows, options)
    save_plot(plot_gaps(gaps), options.output / "bound-gaps.png")


def keep(name: str, head: str, rows: list[tuple[object, ...]], options: argparse.Namespace) -> None:
    """Write numbers as a table beside their picture."""
    options.output.mkdir(parents=True, exist_ok=True)
    lines = [head, *(",".join(str(cell) for cell in row) for row in rows)]
    write_text(options.output / f"{name}.csv", "\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=("settings", "scaling", "agreement"))
    parser.add_argument("--settings", nargs="+", default=SETTINGS, choices=SETTINGS)
    parser.add_argument("--arms", nargs="+", type=int, default=[20, 40, 100])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--every", type=int, default=5, help="steps between price updates")
    parser.add_argument("--rounds", type=int, default=200, help="work of the hull bound")
    parser.add_argument("--seconds", type=float, default=3600.0, help="its last resort")
    parser.add_argument("--gap", type=float, default=5e-4, help="gap of the hull bound")
    parser.add_argument(
        "--sizes", nargs="+", type=int, default=[20, 100, 1000, 10_000, 100_000, 1_000_000]
    )
    parser.add_argument("--models", type=int, help="number of models; one per arm unless given")
    parser.add_argument("--output", type=Path, default=PICTURES, help="folder for pictures")
    options = parser.parse_args()
    parts = {"settings": settings, "scaling": scaling, "agreement": agreement}
    for part in [options.part] if options.part else parts:
        parts[part](options)


if __name__ == "__main__":
    main()
