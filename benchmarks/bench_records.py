"""Fitting, beliefs and learning: ``python benchmarks/bench_records.py [PART…]``."""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from sequoia.bounds.lagrangian.relax import relax
from sequoia.evaluation.intervals import estimate
from sequoia.policies import PricePolicy, make_policy
from sequoia.problem import Arms, Budget, Problem
from sequoia.problem.families import make
from sequoia.records import (
    FittedModel,
    Log,
    Seen,
    Structure,
    belief_problem,
    fit,
    regret,
    simulate_log,
    with_kernels,
)
from sequoia.records.shrinkage import normal
from sequoia.rng import stream
from sequoia.simulate import Scenarios, rollout

STATES, STEPS = 4, 30
A_TENTH = Seen(0.1, 0.0)
# Rows that were met less often rest on others: `fit` says so, too.
FEW = 5
SETTINGS = ("standard", "interventions", "scheduling", "capacity", "routing")


def programme(kernels: np.ndarray, arms: int) -> Problem:
    groups, states = len(kernels), kernels.shape[-1]
    return Problem(
        "a programme",
        Arms(
            np.tile(np.arange(states), (groups, 1)),
            np.tile([0.0, 1.0], (groups, 1)),
            kernels,
            np.arange(arms) % groups,
        ),
        Budget(np.ones(arms), arms // 5),
        np.full((arms, states), 1 / states),
    )


def truth(kind: str, groups: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "random":
        return rng.dirichlet(np.ones(STATES), (groups, 2, STATES))
    up = np.stack([rng.uniform(0.0, 0.2, groups), rng.uniform(0.7, 0.9, groups)], axis=1)
    kernels = Arms.ladder(np.zeros((groups, STATES)), up).kernels
    # Nearly: as likely from every state up to what 30 observations would show.
    return normal(rng.gamma(30 * kernels), kernels > 0) if kind == "nearly" else kernels


def fitted(kind: str, groups: int, arms: int, seed: int) -> tuple[np.ndarray, FittedModel]:
    """Return the true transitions and those fitted; which moves can happen is said."""
    rng, steps = stream(seed, "bench:records"), STEPS
    if kind == "routing":
        # The Underground has a hundred stations around a source: fewer arms, for longer.
        steps, arms = STEPS * arms // 100, 100
    if kind in ("random", "ladder", "nearly"):
        problem = programme(truth(kind, groups, rng), arms)
    else:
        problem = grouped(make(kind, arms=arms, seed=seed), groups)
    log = simulate_log(problem, make_policy("random", problem), steps, A_TENTH, rng)
    kernels = problem.arms.kernels
    structure = Structure((kernels > 0).any(axis=(0, 1)))
    doses, states = kernels.shape[1:3]
    return kernels, fit(log, states, doses, structure=structure, seed=seed)


def coverage(seeds: range) -> None:
    print("500 arms x 30 steps, a tenth of the states seen: 90 % intervals")
    for kind, groups in given.kinds:
        covered, width, errors, rare, independent = [], [], [], [], []
        for seed in seeds:
            kernels, found = fitted(kind, groups, 500, seed)
            low, high = found.interval
            # Every probability counts the same, whether its row was met or not.
            is_free = high > 0
            is_covered = (low <= kernels) & (kernels <= high)
            is_rare = is_free & (found.counts.sum(axis=-1, keepdims=True) < FEW)
            covered.append(is_covered[is_free].mean())
            rare.append((is_covered[is_rare].sum(), is_rare.sum(), is_free.sum()))
            width.append((high - low)[is_free].mean())
            independent.append(found.independent)
            errors.append(np.sqrt(((found.kernels - kernels)[is_free] ** 2).mean()))
        share = estimate(100 * np.array(covered))
        inside, seldom, free = np.sum(rare, axis=0)
        told = f", {100 * inside / seldom:.0f} % of them covered" if seldom else ""
        print(
            f"  {kind}, {groups} groups: {share} % of true probabilities covered; "
            f"{np.mean(width):.3f} wide; root mean square error {np.mean(errors):.3f}; "
            f"{100 * seldom / free:.0f} % in rows met less than {FEW} times{told}; "
            f"{np.mean(independent):.0f} independent draws",
            flush=True,
        )


def error(seeds: range) -> None:
    print("Root mean square error, 2 groups, 30 steps, a tenth of the states seen")
    sizes, means = (250, 1_000, 4_000), []
    for arms in sizes:
        squares = []
        for seed in seeds:
            kernels, found = fitted("random", 2, arms, seed)
            squares.append(((found.kernels - kernels) ** 2).mean())
        means.append(np.sqrt(np.mean(squares)))
        print(f"  {arms} arms: {means[-1]:.4f}", flush=True)
    slope = np.polyfit(np.log(sizes), np.log(means), 1)[0]
    print(f"  error ~ n^{slope:.2f}")


def speed(seeds: range) -> None:  # noqa: ARG001
    for arms in given.arms:
        rng = stream(0, "bench:records:speed")
        problem = programme(truth("random", 5, rng), arms)
        log = simulate_log(problem, make_policy("random", problem), STEPS, A_TENTH, rng)
        # In a process of its own, whose peak of memory is set back before the fit.
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            spent, memory, draws = pool.submit(fit_measured, log).result()
        print(
            f"{log.n_rows} rows: {spent:.1f} s of processor time, {memory:.1f} MiB more memory at "
            f"its peak, {draws} draws",
            flush=True,
        )


def fit_measured(log: Log) -> tuple[float, float, int]:
    fit(Log([0], 1, [], []), STATES, 2)
    # Linux: 5 sets the peak back to what is held now (proc(5)).
    Path("/proc/self/clear_refs").write_text("5")
    before, began = peak(), time.process_time()
    found = fit(log, STATES, 2)
    return time.process_time() - began, peak() - before, len(found.draws)


def peak() -> float:
    """Return the most memory that was held, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def planning(seeds: range) -> None:
    print("What planning with fitted models earns, of what planning with the true ones does")
    print(
        f"  {given.steps} steps of log by a random policy, all states seen; then 20 episodes of 20 "
        "steps"
    )
    for setting in given.settings:
        for arms, groups in given.sizes:
            shares: dict[str, list[float]] = {}
            for seed in seeds:
                problem = grouped(make(setting, arms=arms, seed=seed), groups)
                rng = stream(seed, "bench:records:planning")
                policy = make_policy("random", problem)
                log = simulate_log(problem, policy, given.steps, Seen(1.0), rng)
                scenarios = Scenarios.sample(problem, 20, seed)
                best = earned(problem, problem, scenarios)
                for name, structure in structures(problem).items():
                    found = fit(log, STATES, problem.arms.n_doses, structure=structure, seed=seed)
                    own = earned(problem, with_kernels(problem, found.kernels), scenarios)
                    shares.setdefault(name, []).append(100 * own / best)
            said = "; ".join(
                f"{name} {estimate(np.array(all_))} %" for name, all_ in shares.items()
            )
            print(f"  {setting}, {arms} arms in {groups} groups: {said}", flush=True)
            print(f"    by seed: {np.round(shares['nothing said'], 1).tolist()}", flush=True)


def grouped(problem: Problem, groups: int) -> Problem:
    """Return the problem with the models of its first arms only, which the others share."""
    arms = problem.arms
    if groups == arms.n_models:
        return problem
    few = Arms(
        arms.rewards[:groups],
        arms.doses[:groups],
        arms.kernels[:groups],
        np.arange(arms.n_arms) % groups,
        arms.names,
    )
    return replace(problem, arms=few)


def structures(problem: Problem) -> dict[str, Structure]:
    allowed = (problem.arms.kernels > 0).any(axis=(0, 1))
    return {
        "nothing said": Structure(),
        "doses never hurt": Structure(never_hurts=True),
        "all said": Structure(allowed, never_hurts=True, same_moves=True),
    }


def earned(problem: Problem, believed: Problem, scenarios: Scenarios) -> float:
    policy = PricePolicy(problem, relax(believed).prices)
    return float(rollout(problem, policy, scenarios).rewards.sum(axis=1).mean())


def beliefs(seeds: range) -> None:
    print("States seen at visits only: 10 episodes x 40 steps, same luck")
    for setting in ("clinic", *given.settings):
        for slow in (False, True) if setting != "clinic" else (False,):
            lead, losses = [], []
            for seed in seeds:
                made = clinic(seed) if setting == "clinic" else make(setting, arms=20, seed=seed)
                problem = replace(slowed(made, seed) if slow else made, horizon=40)
                belief = belief_problem(problem)
                own, plain, all_seen = (
                    hidden_rewards(problem, belief, mode, seed)
                    for mode in ("belief", "last", "all")
                )
                lead.append(100 * (own / plain - 1))
                losses.append(100 * (1 - own / all_seen))
            print(
                f"  {setting}{', patients' if slow else ''}: beliefs earn "
                f"{estimate(np.array(lead))} % more than the last seen states taken for true, "
                f"{estimate(np.array(losses))} % less than all states seen",
                flush=True,
            )


def patients(seed: int) -> np.ndarray:
    """Return transitions of three groups who get worse by themselves and well by a visit."""
    rng = stream(seed, "bench:records:clinic")
    kernels = np.zeros((3, 2, 3, 3))
    for group, worse in enumerate(rng.uniform([0.03, 0.08, 0.15], [0.08, 0.15, 0.3])):
        kernels[group, 0] = [[1, 0, 0], [worse, 1 - worse, 0], [0, worse, 1 - worse]]
        kernels[group, 1] = [[0.2, 0.2, 0.6], [0.05, 0.15, 0.8], [0, 0.1, 0.9]]
    return kernels


def clinic(seed: int) -> Problem:
    """Return 60 patients in three groups, of whom six can be visited."""
    arms = Arms(
        np.tile([0.0, 0.6, 1.0], (3, 1)),
        np.tile([0.0, 1.0], (3, 1)),
        patients(seed),
        np.arange(60) % 3,
    )
    return Problem("clinic", arms, Budget(np.ones(60), 6), np.tile([0.2, 0.3, 0.5], (60, 1)))


def slowed(problem: Problem, seed: int) -> Problem:
    """Return the problem with the patients of the clinic for arms; any dose is a visit to them."""
    own, size = problem.arms, problem.arms.n_arms
    level = np.minimum(np.arange(own.n_doses), 1)
    arms = Arms(
        np.tile([0.0, 0.6, 1.0], (3, 1)),
        np.tile(own.doses[0], (3, 1)),
        patients(seed)[:, level],
        np.arange(size) % 3,
        own.names,
    )
    return replace(problem, arms=arms, start=np.tile([0.2, 0.3, 0.5], (size, 1)))


def hidden_rewards(problem: Problem, belief, mode: str, seed: int, episodes: int = 10) -> float:
    """Return the mean reward of planning on beliefs, on states last seen, or on all states."""
    planned = belief.problem if mode == "belief" else problem
    policy = PricePolicy(planned, relax(planned, horizon=0, discounted=True).prices)
    scenarios = Scenarios.sample(problem, episodes, seed)
    total = 0.0
    for start, noise in zip(scenarios.start, scenarios.noise, strict=True):
        state, about = start[None].copy(), problem.start
        last = problem.start.argmax(axis=1)
        rngs = [stream(seed, "bench:records:hidden")]
        for step, luck in enumerate(noise):
            view = {"belief": belief.nodes(about), "last": last, "all": state[0]}[mode]
            action = policy.act(view[None], step, rngs).actions
            level = problem.levels(action)[0]
            seen = np.where(level > 0, state[0], -1)
            about, last = belief.track(about, level, seen), np.where(seen >= 0, seen, last)
            reward, state = problem.step(state, action, luck[None])
            total += float(reward[0])
    return total / (episodes * problem.horizon)


def learning(seeds: range) -> None:
    print("Regret against who knows the truth, states seen in every step")
    for dynamics in ("ladder", "random"):
        problem = make("standard", arms=20, dynamics=dynamics, seed=1)
        found = regret(problem, steps=200, episodes=len(seeds), seed=0)
        for name in found.names:
            print(
                f"  {dynamics}, {name}: {found.at(name, 50)} after 50 steps, {found.at(name, 200)} "
                f"after 200 ({100 * found.share(name, 200).mean:.1f} % of the truth's reward)",
                flush=True,
            )


PARTS = {
    "coverage": coverage,
    "error": error,
    "speed": speed,
    "planning": planning,
    "beliefs": beliefs,
    "regret": learning,
}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
parser.add_argument("--seeds", type=int, nargs=2, default=(0, 5), metavar=("FIRST", "END"))
parser.add_argument("--settings", nargs="+", default=SETTINGS)
parser.add_argument("--steps", type=int, default=STEPS, help="of the log that plans are made from")
parser.add_argument("--arms", type=int, nargs="+", default=(1_100, 11_000, 110_000))
parser.add_argument(
    "--kinds",
    type=lambda text: (text.split("/")[0], int(text.split("/")[1])),
    nargs="+",
    default=(
        ("random", 1),
        ("random", 5),
        ("ladder", 5),
        ("ladder", 20),
        ("nearly", 5),
        *((setting, 5) for setting in SETTINGS),
    ),
    metavar="KIND/GROUPS",
)
parser.add_argument(
    "--sizes",
    type=lambda text: tuple(int(part) for part in text.split("/")),
    nargs="+",
    default=((20, 20), (100, 10)),
    metavar="ARMS/GROUPS",
)
given = parser.parse_args()
if __name__ == "__main__":
    for part in given.parts or PARTS:
        PARTS[part](range(*given.seeds))
