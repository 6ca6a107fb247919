"""``sequoia report``: an evaluation as one page."""

from pathlib import Path
from typing import Annotated

import typer

from sequoia.cli.common import Force
from sequoia.errors import FileError
from sequoia.evaluation import Evaluation, load_evaluation
from sequoia.io import refuse_to_replace, write_text
from sequoia.problem import Problem, load
from sequoia.problem.summary import lines


def report(
    file: Annotated[
        Path, typer.Argument(metavar="EVAL.json", help="What sequoia evaluate -o wrote.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write: FILE.html.")],
    problem: Annotated[
        Path | None, typer.Option(help="The problem, if it is not where it was.")
    ] = None,
    force: Force = False,
) -> None:
    """Make one page with pictures from an evaluation.

    Everything is inside the page: it can be mailed, and opens without a network.
    """
    if output.suffix not in (".html", ".htm"):
        raise FileError(f"{output} ends in {output.suffix!r}; .html is wanted.")
    if not output.parent.is_dir():
        raise FileError(f"{output.parent} is not a folder; make it first.")
    refuse_to_replace([output], force)
    evaluation = load_evaluation(file)
    evaluated = _find(evaluation, file, problem)
    # Pictures cost half a second of imports, which nobody else should pay.
    from sequoia.report.report import report as page

    write_text(output, page(evaluation, evaluated, lines(evaluated)))
    typer.echo(f"Wrote {output}.")


def _find(evaluation: Evaluation, file: Path, problem: Path | None) -> Problem:
    """Return the problem that was evaluated."""
    if problem is not None:
        return load(problem)
    if evaluation.source is None:
        raise FileError(f"{file} does not say where its problem is; give it with --problem.")
    place = file.parent / evaluation.source
    if not place.exists():
        raise FileError(f"{place}, which was evaluated, is not there; give it with --problem.")
    return load(place)
