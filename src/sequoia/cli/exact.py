"""``sequoia exact``: the optimum of a tiny problem."""

from collections.abc import Sequence
from typing import Annotated

import typer

from sequoia.bounds import solve_exactly
from sequoia.cli.common import AsJson, print_json, print_pairs
from sequoia.cli.environments import AnyFile, Instance, load_environment
from sequoia.errors import ProblemError
from sequoia.problem import Environment, capabilities_of
from sequoia.problem.capabilities import component_names
from sequoia.problem.names import count
from sequoia.validation import IntArray


def exact(
    file: AnyFile,
    instance: Instance = None,
    discounted: Annotated[
        bool, typer.Option("--discounted", help="Discount, over an infinite horizon.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Solve a tiny problem exactly.

    The best value of all policies, and what to do first in the likeliest start.
    """
    problem = load_environment(file, instance)
    knowing = capabilities_of(problem).chances
    if knowing is None:
        raise ProblemError(
            f"{problem.name} does not say the chances of its next states; exact solving needs them."
        )
    best = solve_exactly(knowing, discounted)
    state = best.environment.start.argmax(axis=1)
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
                "state": dict(zip(_names(problem), state.tolist(), strict=True)),
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


def _names(environment: Environment) -> Sequence[str]:
    """Return the names of the components of a state."""
    problem = capabilities_of(environment).problem
    return component_names(environment) if problem is None else problem.arms.names


def _states(environment: Environment, states: IntArray) -> str:
    problem = capabilities_of(environment).problem
    if problem is None:
        pairs = zip(_names(environment), states.tolist(), strict=True)
        return ", ".join(f"{name} = {value}" for name, value in pairs if value) or "all 0"
    arms = problem.arms
    pairs = zip(arms.names, states.tolist(), strict=True)
    return ", ".join(f"{arm} in {arms.state_in_words(state)}" for arm, state in pairs)
