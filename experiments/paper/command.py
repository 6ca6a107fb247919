"""``python -m experiments.paper``: every figure and table of the paper."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from experiments.paper.experiment import PARTS, paper_plan
from sequoia.cli.common import Force
from sequoia.cli.sweep import SOME_FAILED, Jobs, OnRay, Output, sweep_to
from sequoia.errors import ProblemError
from sequoia.io import refuse_to_replace
from sequoia.problem.names import count, roughly
from sequoia.sweep import Plan, ResultsFolder

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
def reproduce(
    output: Output,
    quick: Annotated[
        bool, typer.Option("--quick", help="20 arms, 2 seeds, 10 episodes: a few minutes.")
    ] = False,
    arms: Annotated[
        str, typer.Option(metavar="NUMBERS", help="Numbers of arms, such as 20,40.")
    ] = "",
    seeds: Annotated[
        str,
        typer.Option(metavar="NUMBERS", help="Number of seeds; or one for each size: 10,10,3."),
    ] = "",
    episodes: Annotated[
        int | None, typer.Option(min=1, help="Episodes of each policy; 50, or 10 if quick.")
    ] = None,
    parts: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help=f"Some of {', '.join(PARTS)}; all of them, or main and ablations if quick.",
        ),
    ] = "",
    jobs: Jobs = None,
    ray: OnRay = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it would cost.")
    ] = False,
    draw: Annotated[
        bool, typer.Option("--draw", help="Only draw what is in the folder already.")
    ] = False,
    force: Force = False,
) -> None:
    """Run the paper's experiment and draw its figures and tables.

    Four settings, 20, 40 and 100 arms, 10 seeds, 50 episodes of 20 steps; rivals, epidemics and
    the assortment beside them. Interrupted, the same command goes on where it stopped.
    """
    has_failed = False
    sizes, counts = _numbers("--arms", arms), _numbers("--seeds", seeds)
    wanted = [part.strip() for part in parts.split(",") if part.strip()]
    if dry_run:
        _print_costs(paper_plan(quick, sizes, counts, episodes, wanted), output, jobs)
        return
    if not (output / "cells").is_dir() and not draw:
        refuse_to_replace([output / name for name in ("figures", "tables", "report.html")], force)
    if not draw:
        plan = paper_plan(quick, sizes, counts, episodes, wanted)
        has_failed = bool(sweep_to(plan, output, jobs, ray, force).failed)
    # Pictures cost half a second of imports, which nobody else should pay.
    from experiments.paper.report import write_report

    target = write_report(output)
    typer.echo(f"Wrote {target}, {output / 'figures'} and {output / 'tables'}.")
    if has_failed:
        raise typer.Exit(SOME_FAILED)


def _print_costs(plan: Plan, output: Path, jobs: int | None) -> None:
    """Say how many cells are left to compute, and how long they are expected to take."""
    from experiments.paper.costs import expected_costs

    cells, folder = plan.cells(), ResultsFolder(output)
    left = [cell for cell in cells if folder.result(cell) is None]
    if len(left) < len(cells):
        typer.echo(f"{output} has {len(cells) - len(left)} of {count(len(cells), 'cell')} already.")
    if not left:
        return
    costs = expected_costs(left)
    table = Table("what", "cells", "core time", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for cost in costs:
        table.add_row(cost.what, str(cost.cells), roughly(cost.seconds))
    Console(highlight=False).print(table)
    cores = jobs or os.cpu_count() or 1
    total = sum(cost.seconds for cost in costs)
    typer.echo(
        f"{count(sum(cost.cells for cost in costs), 'cell')}: {roughly(total)} of core time, "
        f"{roughly(total / cores)} on {count(cores, 'core')}. By one core of our machine; "
        "yours may take a quarter or four times as long."
    )


def _numbers(option: str, text: str) -> list[int]:
    """Read ``"20,40"``."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() and int(part) for part in parts):
        raise ProblemError(f"{option} is {text!r}; whole numbers such as 20,40 are wanted.")
    return [int(part) for part in parts]
