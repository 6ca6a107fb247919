"""``sequoia exact``: the optimum of a tiny problem."""

from typing import Annotated

import typer

from sequoia.bounds import solve_exactly
from sequoia.cli.common import AsJson, File, print_json, print_pairs
from sequoia.problem import Problem, load
from sequoia.problem.names import count
from sequoia.validation import IntArray


def exact(
    file: File,
    discounted: Annotated[
        bool, typer.Option("--discounted", help="Discount, over an infinite horizon.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Solve a tiny problem exactly.

    The best value of all policies, and what to do first in the likeliest start.
    """
    problem = load(file)
    best = solve_exactly(problem, discounted)
    state = problem.start.argmax(axis=1)
    decision = best.act(state)
    per_step = best.value * (1 - problem.discount) if discounted else best.value / problem.horizon
    words = problem.space.describe(decision)
    if as_json:
        print_json(
            {
                "problem": problem.name,
                "fingerprint": problem.fingerprint,
                "is_discounted": discounted,
                "value": best.value,
                "value_per_step": per_step,
                "state": dict(zip(problem.arms.names, state.tolist(), strict=True)),
                "action": problem.space.chosen(decision.action),
                "words": words,
            }
        )
        return
    over = "discounted, for ever" if discounted else f"over {count(problem.horizon, 'step')}"
    typer.echo(problem.name)
    print_pairs(
        [
            ("optimal value", f"{best.value:.6g} {over}; {per_step:.6g} per step"),
            ("likely start", _states(problem, state)),
            *(("do first" if i == 0 else "", line) for i, line in enumerate(words)),
        ]
    )


def _states(problem: Problem, states: IntArray) -> str:
    arms = problem.arms
    pairs = zip(arms.names, states.tolist(), strict=True)
    return ", ".join(f"{arm} in {arms.state_in_words(state)}" for arm, state in pairs)
