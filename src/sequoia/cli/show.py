"""``sequoia show``: what a problem is."""

from pathlib import Path
from typing import Annotated

import typer

from sequoia.cli.common import AsJson, Force, print_json, print_pairs
from sequoia.cli.environments import AnyFile, Instance, load_environment, require_problem_for
from sequoia.io import refuse_to_replace
from sequoia.problem import Assortment
from sequoia.problem.summary import lines, summary


def show(
    file: AnyFile,
    instance: Instance = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the problem to this picture.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Say what a problem is, and draw it.

    Sizes, rewards, rules, and how many columns and rows they make.
    """
    if plot is not None:
        refuse_to_replace([plot], force)
    problem = load_environment(file, instance)
    if plot is not None:
        # Pictures cost half a second of imports, which nobody else should pay.
        from sequoia.plots import plot_assortment, plot_problem, save_plot

        if isinstance(problem, Assortment):
            save_plot(plot_assortment(problem), plot)
        else:
            save_plot(plot_problem(require_problem_for(problem, "--plot")), plot)
    if as_json:
        print_json(summary(problem))
        return
    typer.echo(problem.name)
    print_pairs(lines(problem))
    if plot is not None:
        typer.echo(f"Drew {plot}.")
