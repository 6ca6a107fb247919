"""``sequoia programme fit``: transitions from the log, and how sure they are."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sequoia.cli.common import print_json, print_pairs
from sequoia.cli.fit import fit_content, write_fit
from sequoia.errors import FileError
from sequoia.io import refuse_to_replace
from sequoia.problem import Arms
from sequoia.records import fit_rows, fit_words
from sequoia.records.fit import FittedModel
from sequoia_programme.estimates import as_arms, estimate, hold_out
from sequoia_programme.given import FILE, NO_DOSE
from sequoia_programme.settings import Programme

_WIDTH = 110


@dataclass(frozen=True)
class FitOptions:
    """What was said on the command line."""

    hold_out: bool
    table: Path | None
    picture: Path | None
    calibration: Path | None
    force: bool


def run_fit(programme: Programme, day: date, options: FitOptions, as_json: bool) -> None:
    """Estimate, keep, write and show."""
    targets = (options.table, options.picture, options.calibration)
    written = [path for path in targets if path is not None]
    refuse_to_replace(written, options.force)
    if (programme.folder / FILE).exists():
        raise FileError(
            f"{programme.folder / FILE} says the transitions; nothing is estimated unless it goes."
        )
    found = estimate(programme, day)
    assert found.fitted is not None
    arms = as_arms(programme, found.groups, found.kernels)
    is_held_out = options.hold_out or options.calibration is not None
    held = hold_out(programme, day) if is_held_out else None
    write_fit(found.fitted, arms, held, *targets)
    if as_json:
        print_json(fit_content(found.fitted, list(fit_rows(found.fitted, arms)), held))
        return
    _show_table(programme, found.fitted, arms)
    pairs = fit_words(found.fitted, arms)
    if held is not None:
        pairs.append(("held out", held.words))
    print_pairs([*pairs, *(("wrote", str(path)) for path in written)])
    if found.remark:
        typer.echo(found.remark)


def _show_table(programme: Programme, fitted: FittedModel, arms: Arms) -> None:
    """Show how often each state follows, and in which range with 90 %."""
    console = Console(highlight=False, width=max(_WIDTH, Console().width))
    table = Table("group", "dose", "from", *(f"to {s}" for s in programme.states), box=None)
    for column in table.columns[3:]:
        column.justify = "right"
    (low, high), mean = fitted.interval, fitted.kernels
    for group, name in enumerate(arms.model_names):
        for dose, called in enumerate([NO_DOSE, *programme.doses]):
            for state, begin in enumerate(programme.states):
                own = (group, dose, state)
                numbers = zip(mean[own], low[own], high[own], strict=True)
                table.add_row(
                    Text(name if dose == state == 0 else ""),
                    Text(called if state == 0 else ""),
                    Text(begin),
                    *(f"{m:.2f} ({a:.2f}–{b:.2f})" for m, a, b in numbers),
                )
    console.print(table)
