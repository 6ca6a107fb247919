"""``sequoia show``, ``check`` and ``exact``: questions about one problem."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from sequoia.bounds import solve_exactly
from sequoia.cli.errors import MENDABLE
from sequoia.problem import load
from sequoia.problem.diagnose import Mark, diagnose
from sequoia.problem.summary import lines, summary

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A problem: FILE.npz, or a folder of TOML and CSV.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_COLOURS = {Mark.OK: "green", Mark.NOTE: "yellow", Mark.PROBLEM: "bold red"}


def show(
    file: File,
    plot: Annotated[Path | None, typer.Option(help="Draw the problem to this picture.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a problem is, and draw it.

    Sizes, rewards, rules, and how many columns and rows they make.
    """
    problem = load(file)
    if plot is not None:
        # Pictures cost half a second of imports, which nobody else should pay.
        from sequoia.plots import plot_problem, save_plot

        save_plot(plot_problem(problem), plot)
    if as_json:
        print_json(summary(problem))
        return
    typer.echo(problem.name)
    print_pairs(lines(problem))
    if plot is not None:
        typer.echo(f"Drew {plot}.")


def check(file: File) -> None:
    """Say whether a problem can be planned.

    One line per finding: ok, a note, or a problem. The exit code is 2 when it cannot be planned.
    """
    console = Console(highlight=False)
    problem = load(file)
    found = []
    for finding in diagnose(problem, file):
        found.append(finding)
        mark = Text(f"{finding.mark.value:<8}", style=_COLOURS[finding.mark])
        console.print(mark + finding.text, soft_wrap=True)
    if any(finding.mark is Mark.PROBLEM for finding in found):
        raise typer.Exit(MENDABLE)


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
    over = "discounted, for ever" if discounted else f"over {problem.horizon} steps"
    typer.echo(problem.name)
    print_pairs(
        [
            ("optimal value", f"{best.value:.6g} {over}; {per_step:.6g} per step"),
            ("likely start", ", ".join(map(_state, problem.arms.names, state.tolist()))),
            *(("do first" if i == 0 else "", line) for i, line in enumerate(words)),
        ]
    )


def _state(arm: str, state: int) -> str:
    return f"{arm} in state {state}"


def print_json(content: dict[str, Any]) -> None:
    """Print JSON."""
    typer.echo(json.dumps(content, indent=2, ensure_ascii=False))


def print_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Print labels and texts in two columns."""
    pairs = list(pairs)
    width = max(len(label) for label, _ in pairs)
    for label, text in pairs:
        typer.echo(f"  {label:<{width}}  {text}")
