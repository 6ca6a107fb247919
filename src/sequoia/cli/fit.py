"""``sequoia fit``: transitions from a log of sightings and visits."""

import csv
import io
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from sequoia.cli.common import (
    AsJson,
    CalibrationPicture,
    EstimatesPicture,
    EstimatesTable,
    File,
    Force,
    HoldOut,
    print_json,
    print_pairs,
)
from sequoia.io import refuse_to_replace, write_text
from sequoia.problem import Arms, load, save
from sequoia.records import Structure, calibrate, fit, fit_rows, fit_words, with_kernels
from sequoia.records.calibration import Calibration
from sequoia.records.fit import FittedModel
from sequoia.records.fit_table import FitRow
from sequoia.records.log import read_log


def fit_command(
    file: File,
    sightings: Annotated[
        Path, typer.Option(metavar="CSV", help="Who was seen: the columns arm, step and state.")
    ],
    visits: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Who got what: the columns arm, step and dose."),
    ] = None,
    never_hurts: Annotated[
        bool, typer.Option("--never-hurts", help="A larger dose never makes things worse.")
    ] = False,
    same_moves: Annotated[
        bool, typer.Option("--same-moves", help="Moves up and down are the same from every state.")
    ] = False,
    same_zeros: Annotated[
        bool,
        typer.Option("--same-zeros", help="What never happens in FILE never happens."),
    ] = False,
    hold_out: HoldOut = False,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0)] = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to write the problem with its new transitions."),
    ] = None,
    table: EstimatesTable = None,
    picture: EstimatesPicture = None,
    calibration: CalibrationPicture = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Estimate transitions from a log.

    States need to be seen only now and then. FILE says who the arms are, their models, states and
    doses; its transitions are not used, except for --same-zeros.
    """
    written = [path for path in (output, table, picture, calibration) if path is not None]
    refuse_to_replace(written, force)
    problem = load(file)
    log = read_log(sightings, visits, problem)
    arms = problem.arms
    allowed = (arms.kernels > 0).any(axis=(0, 1)) if same_zeros else None
    known = Structure(allowed, never_hurts, same_moves)
    refit = partial(
        fit,
        n_states=arms.n_states,
        n_doses=arms.n_doses,
        n_groups=arms.n_models,
        structure=known,
        seed=seed,
    )
    fitted = refit(log)
    held = calibrate(log, arms.n_states, refit) if hold_out or calibration is not None else None
    rows = list(fit_rows(fitted, arms))
    if output is not None:
        save(with_kernels(problem, fitted.kernels), output)
    write_fit(fitted, arms, held, table, picture, calibration)
    if as_json:
        print_json(fit_content(fitted, rows, held))
        return
    typer.echo(problem.name)
    pairs = fit_words(fitted, arms)
    if held is not None:
        pairs.append(("held out", held.words))
    pairs += [("wrote", str(path)) for path in written]
    print_pairs(pairs)


def write_fit(
    fitted: FittedModel,
    arms: Arms,
    held: Calibration | None,
    table: Path | None,
    picture: Path | None,
    calibration: Path | None,
) -> None:
    """Write what was asked for: the table, and pictures."""
    if table is not None:
        write_text(table, _csv(list(fit_rows(fitted, arms))))
    if picture is not None or calibration is not None:
        # Pictures cost half a second of imports, which nobody else should pay.
        from sequoia.plots import plot_calibration, plot_fit, save_plot

        if picture is not None:
            save_plot(plot_fit(fitted, arms), picture)
        if calibration is not None and held is not None:
            save_plot(plot_calibration(held), calibration)


def fit_content(
    fitted: FittedModel, rows: list[FitRow], held: Calibration | None
) -> dict[str, Any]:
    """Return what was fitted as ``--json`` prints it."""
    content: dict[str, Any] = {"log_likelihood": fitted.log_likelihood}
    content["transitions"] = [row._asdict() for row in rows]
    if held is not None:
        content["held_out"] = {
            "since": held.since,
            "sightings": held.n_sightings,
            "log_score": held.log_score,
            "baseline": held.baseline,
            "is_calibrated": held.is_fine,
        }
    return content


def _csv(rows: list[FitRow]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FitRow._fields)
    for row in rows:
        writer.writerow(f"{cell:.6g}" if isinstance(cell, float) else cell for cell in row)
    return text.getvalue()
