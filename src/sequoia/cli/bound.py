"""``sequoia bound``: a number that no policy can beat."""

from typing import Annotated, Literal

import typer

from sequoia.bounds import relax, solve_exactly
from sequoia.cli.common import AsJson, File, print_json, print_pairs
from sequoia.errors import TooLarge
from sequoia.evaluation.evaluation import bound_to_json
from sequoia.problem import Problem, load

_WORDS = {
    "lp": "rules hold on average and in fractions",
    "hull": "rules hold on average, over whole actions",
}


def bound(
    file: File,
    kind: Annotated[
        Literal["lp", "hull"], typer.Option(help="lp is fast; hull is tighter and slower.")
    ] = "lp",
    horizon: Annotated[
        int | None, typer.Option(help="Steps to look at; the problem's unless given.", min=1)
    ] = None,
    discounted: Annotated[
        bool, typer.Option("--discounted", help="Discount, over an infinite horizon.")
    ] = False,
    seconds: Annotated[
        float, typer.Option(help="Stop improving after so long; the bound stays valid.", min=0)
    ] = float("inf"),
    as_json: AsJson = False,
) -> None:
    """Bound what any policy can earn.

    No policy, however clever, earns more in expectation. Tiny problems show the optimum beside it.
    """
    problem = load(file)
    steps = None if discounted and horizon is None else horizon
    found = relax(problem, kind, horizon=steps, discounted=discounted, seconds=seconds).bound
    if as_json:
        print_json(bound_to_json(found))
        return
    typer.echo(problem.name)
    over = "discounted, for ever" if discounted else f"over {horizon or problem.horizon} steps"
    pairs = [
        ("no policy earns more than", f"{found.per_step:.6g} per step; {found.total:.6g} {over}"),
        ("kind", f"{kind}: {_WORDS[kind]}"),
        ("time", f"{found.seconds:.2f} s"),
    ]
    if horizon is None:
        pairs += _optimum(problem, discounted)
    print_pairs(pairs)


def _optimum(problem: Problem, discounted: bool) -> list[tuple[str, str]]:
    """Return the exact optimum of a tiny problem, or nothing."""
    try:
        best = solve_exactly(problem, discounted)
    except TooLarge:
        return []
    per_step = best.value * (1 - problem.discount) if discounted else best.value / problem.horizon
    return [("the best policy earns", f"{per_step:.6g} per step; {best.value:.6g} in all")]
