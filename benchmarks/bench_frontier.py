"""How large the sweep over a routing graph is, how fast it answers, and whether it is right.

Run on one thread: ``OPENBLAS_NUM_THREADS=1 python benchmarks/bench_frontier.py --help``.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from sequoia.bounds import relax
from sequoia.problem import Problem
from sequoia.problem.families import routing
from sequoia.problem.spaces.walk.frontier_dp import Frontier
from sequoia.problem.spaces.walk.frontier_dp.states import edge_order, explore
from sequoia.solvers import Highs, Limits
from sequoia.validation import FloatArray

Draw = Callable[[np.random.Generator], FloatArray]


def build(problem: Problem) -> tuple[Frontier, str]:
    """Return the sweep, and its sizes as cells of a table."""
    space = problem.space
    form = space._euler
    began = time.process_time()
    frontier = space._frontier
    seconds = time.process_time() - began
    states = explore(form.edges, form.lengths, edge_order(form.edges), space.source, space.length)[
        1
    ]
    cells = sum(layer.n_before for layer in frontier.layers)
    moves = sum(len(layer.before) for layer in frontier.layers)
    sizes = (
        f"{len(form.edges)} | {space.length} | {space.limit} | {max(map(len, states))} | "
        f"{sum(map(len, states))} | {cells} | {moves} | {seconds:.2f}"
    )
    return frontier, sizes


def draws(problem: Problem) -> dict[str, Draw]:
    """Ways to draw weights: three at random, and those of the price policy in random states."""
    prices = relax(problem).prices
    arms = problem.arms.n_arms

    def priced(rng: np.random.Generator) -> FloatArray:
        weights = prices.weights(rng.integers(0, problem.arms.n_states, arms), 0)
        difference: FloatArray = weights[:, 1] - weights[:, 0]
        return difference

    return {
        "uniform": lambda rng: rng.random(arms),
        "normal": lambda rng: rng.standard_normal(arms),
        "exponential": lambda rng: rng.standard_exponential(arms),
        "price": priced,
    }


def sizes(options: argparse.Namespace) -> None:
    print("| J | edges | T | B | most states | states | cells | moves | set-up s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for arms in options.arms:
        print(f"| {arms} | {build(routing(arms=arms))[1]} |", flush=True)


def times(options: argparse.Namespace) -> None:
    print("| J | weights | median ms | largest ms |")
    print("|---|---|---|---|")
    for arms in options.arms:
        problem = routing(arms=arms)
        build(problem)
        for name, draw in draws(problem).items():
            rng = np.random.default_rng(0)
            spent = []
            for _ in range(options.draws):
                weights = draw(rng)
                began = time.process_time()
                problem.space.argmax_linear(weights)
                spent.append(1000 * (time.process_time() - began))
            print(f"| {arms} | {name} | {np.median(spent):.1f} | {max(spent):.1f} |", flush=True)


def check(options: argparse.Namespace) -> None:
    """Compare with the solver: its best point is no better, its bound no lower."""
    print("| J | weights | value | solver | bound | solver s | agrees |")
    print("|---|---|---|---|---|---|---|")
    for arms in options.arms:
        problem = routing(arms=arms)
        space = problem.space
        for name, draw in draws(problem).items():
            rng = np.random.default_rng(1)
            for _ in range(options.draws):
                weights = draw(rng)
                action = space.argmax_linear(weights)
                space.certify(action)
                value = float(weights @ action)
                program = space.compact.program(weights)
                found = Highs().solve(program, Limits(seconds=options.seconds))
                slack = 1e-5 * max(1.0, value)
                agrees = found.objective - slack <= value <= found.bound + slack
                print(
                    f"| {arms} | {name} | {value:.5f} | {found.objective:.5f} | {found.bound:.5f} "
                    f"| {found.seconds:.1f} | {'yes' if agrees else 'NO'} |",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("sizes", "times", "check"))
    parser.add_argument("--arms", nargs="+", type=int, default=[20, 40, 60, 80, 100])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20.0, help="limit of the solver")
    options = parser.parse_args()
    {"sizes": sizes, "times": times, "check": check}[options.part](options)


if __name__ == "__main__":
    main()
