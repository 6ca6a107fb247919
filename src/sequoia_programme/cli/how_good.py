"""``sequoia programme quality``, ``train`` and ``rules``: how good it is, and what it keeps to."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from sequoia.cli.common import AsJson, print_json, print_pairs
from sequoia.errors import ProblemError
from sequoia_programme.cli.options import Day, Folder, read_day
from sequoia_programme.settings import read_programme

Several = list[str] | None


def quality(folder: Folder, day: Day = None, as_json: AsJson = False) -> None:
    """Say how good plans are against what is possible, for whom, and what staff is worth."""
    from sequoia_programme.quality import find_quality, quality_content, write_quality
    from sequoia_programme.situation import find_situation

    programme = read_programme(folder)
    situation = find_situation(programme, read_day(day, programme.calendar))
    with watching() as watch:
        found = find_quality(situation, watch)
    write_quality(programme, found)
    if as_json:
        print_json(quality_content(found))
        return
    print_pairs(_quality_lines(found))


def drift(
    folder: Folder,
    weeks: Annotated[int, typer.Option(help="How many weeks back.", min=1, max=104)] = 8,
    day: Day = None,
    as_json: AsJson = False,
) -> None:
    """Compare what was predicted with what was seen, week by week; say where it drifts."""
    from sequoia_programme.cli.show_drift import show_drift
    from sequoia_programme.drift import find_drift

    programme = read_programme(folder)
    found = find_drift(programme, read_day(day, programme.calendar), weeks)
    show_drift(programme, found, as_json)


def train(folder: Folder, day: Day = None) -> None:
    """Train a model for the programme as it is now; plans consider it from then on."""
    from sequoia_programme.situation import find_situation
    from sequoia_programme.trained import train_own_model

    programme = read_programme(folder)
    situation = find_situation(programme, read_day(day, programme.calendar))
    with watching() as watch:
        trained = train_own_model(situation, lambda share: watch(share, "train"))
    bound = "" if trained.bound is None else f"; no policy earns more than {trained.bound:.4g}"
    typer.echo(f"Trained: {trained.reward:.4g} a step{bound}.")


def rules(
    folder: Folder,
    must: Annotated[Several, typer.Option(metavar="ARM", help="Visited in every step.")] = None,
    never: Annotated[Several, typer.Option(metavar="ARM", help="Never visited.")] = None,
    at_most_one: Annotated[
        Several, typer.Option(metavar="ARM;ARM", help="At most one of them in a step.")
    ] = None,
    at_least: Annotated[
        Several, typer.Option(metavar="GROUP=N", help="Of a group: so many, or such as 30 %.")
    ] = None,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove the rules that are named, not add them.")
    ] = False,
    day: Day = None,
) -> None:
    """List the extra rules of a programme and what they cost; add some, or remove them."""
    from sequoia_programme import rules as written
    from sequoia_programme.quality import read_quality

    programme = read_programme(folder)
    asked = [written.WrittenRule(written.MUST, (name,)) for name in must or []]
    asked += [written.WrittenRule(written.NEVER, (name,)) for name in never or []]
    for text in at_most_one or []:
        names = tuple(name.strip() for name in text.split(";"))
        asked.append(written.WrittenRule(written.AT_MOST_ONE, names))
    for text in at_least or []:
        group, equals, number = text.rpartition("=")
        if not equals:
            raise ProblemError(f"--at-least is {text!r}; such as north=2 or north=30% is wanted.")
        floor = written.read_number(number.strip())
        asked.append(written.WrittenRule(written.FLOORS, (group.strip(),), *floor))
    if remove and not asked:
        raise ProblemError("--remove needs the rules that are to go, such as --never NAME.")
    today = read_day(day, programme.calendar)
    for rule in asked:
        (written.remove_rule if remove else written.add_rule)(programme, rule, today)
    quality = read_quality(programme)
    costs = {} if quality is None else {one.rule: one.month for one in quality.rules}
    listed = written.written_rules(read_programme(folder))
    for rule in listed:
        cost = f"  ({costs[rule]:.3g} a month)" if rule in costs else ""
        typer.echo(f"{rule.words}{cost}")
    if not listed:
        typer.echo("There are no extra rules.")


def _quality_lines(found: Any) -> Iterator[tuple[str, str]]:
    yield "date", str(found.date)
    yield "bound", f"{found.bound:.4g} a step; no policy exceeds it"
    for name, (mean, half) in found.rewards.items():
        share = f", {100 * mean / found.bound:.0f} % of the bound" if found.bound > 0 else ""
        yield name, f"{mean:.4g} ± {half:.2g}{share}"
    yield "now", f"{found.now:.4g}, by what was done"
    for one in found.groups:
        ahead = ", ".join(f"{name} {mean:.3g}" for name, mean in one.rewards.items())
        yield (
            one.group,
            f"{one.people} people, each {one.now:.3g} now ({ahead}), "
            f"{one.visits:.1f} visits in four weeks",
        )
    for staff in found.staff:
        again = "" if staff.again is None else f", one more like them {staff.again:+.3g}"
        yield (
            staff.worker,
            f"worth {staff.whole:.3g} in all, {staff.more:+.3g} for one {found.unit} more{again}",
        )
    for rule in found.rules:
        yield "rule", f"{rule.rule.words}: {rule.month:.3g} a month"
    if found.foresight is not None:
        yield "foreseen", found.foresight.words


@contextmanager
def watching() -> Iterator[Callable[[float, str], None]]:
    """Yield what shows on stderr, where that is a terminal, how much is done."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    is_silent = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=is_silent) as shown:
        task = shown.add_task("", total=1.0)
        yield lambda share, part: shown.update(task, completed=share, description=part)
