"""Options and printing that several commands share."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A problem: FILE.npz, or a folder of TOML and CSV.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]
HoldOut = Annotated[
    bool, typer.Option("--hold-out", help="Also foresee the last fifth of the log from the rest.")
]
EstimatesTable = Annotated[
    Path | None, typer.Option(metavar="FILE.csv", help="Where to write all estimates.")
]
EstimatesPicture = Annotated[
    Path | None,
    typer.Option(metavar="FILE.png", help="Where to draw estimates and their intervals."),
]
CalibrationPicture = Annotated[
    Path | None,
    typer.Option(metavar="FILE.png", help="Where to draw what is held out; see --hold-out."),
]


Locks = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WORKER=ARM@SLOT",
        help="A visit that is settled: by whom, or when, or both, such as Anna=Ada.",
    ),
]
Orders = Annotated[
    list[str] | None,
    typer.Option(metavar="'ARM > ARM'", help="Arms that follow each other on a team's route."),
]
Hours = Annotated[
    list[str] | None,
    typer.Option(metavar="WORKER=HOURS", help="What a worker has today, from the first slot on."),
]


def _use_solver(context: typer.Context, name: str) -> str:
    """Give programs to a solver until the command ends, or say that it is not here."""
    # Here, because commands that solve nothing start faster without it.
    from sequoia.solvers.registry import using_solver

    if not context.resilient_parsing:
        context.with_resource(using_solver(name))
    return name


Solver = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Who solves the programs: highs, gurobi or scip. sequoia solvers lists what is here.",
        callback=_use_solver,
    ),
]


def print_json(content: dict[str, Any]) -> None:
    """Print JSON."""
    typer.echo(json.dumps(content, indent=2, ensure_ascii=False))


def print_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Print labels and texts in two columns."""
    pairs = list(pairs)
    width = max(len(label) for label, _ in pairs)
    for label, text in pairs:
        typer.echo(f"  {label:<{width}}  {text}")
