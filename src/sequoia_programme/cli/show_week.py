"""``sequoia programme plan``: several days at once, shown, kept as proposals and written."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sequoia.cli.common import print_json
from sequoia.io import refuse_to_replace
from sequoia.problem.names import count
from sequoia_programme.cli.how_good import watching
from sequoia_programme.output import by_worker, long_date, require_endings, write_plan
from sequoia_programme.plans import PlannedTask
from sequoia_programme.settings import Programme
from sequoia_programme.week import KEEP, Week, WeekDay, plan_week

_WIDTH = 110


@dataclass(frozen=True)
class WeekOptions:
    """What was said on the command line; ``keep`` is ``None`` where nothing was."""

    keep: float | None
    policy: str | None
    seconds: float
    output: Sequence[Path]
    force: bool


def run_week(
    programme: Programme, days: Sequence[date], options: WeekOptions, as_json: bool
) -> None:
    """Plan, keep, write and show."""
    require_endings(options.output)
    refuse_to_replace(options.output, options.force)
    with watching() as watch:
        week = plan_week(
            programme,
            days,
            today=date.today(),
            keep_worth=KEEP if options.keep is None else options.keep,
            policy=options.policy,
            seconds=options.seconds,
            progress=lambda share: watch(share, "plan"),
        )
    for target in options.output:
        write_plan(programme, week.together, target)
    if as_json:
        print_json(_to_json(week))
        return
    _show(programme, week)
    for target in options.output:
        print(f"Wrote {target}.")


def _to_json(week: Week) -> dict[str, Any]:
    return {
        "policy": week.policy,
        "reason": week.reason,
        "worth": week.worth,
        "remarks": list(week.remarks),
        "days": [
            {
                "date": str(day.plan.date),
                "published": day.before is not None,
                "changes": list(day.changes),
                "reasons": list(day.reasons),
                "tasks": [{**vars(task), "date": str(task.date)} for task in day.plan.tasks],
            }
            for day in week.days
        ],
    }


def _show(programme: Programme, week: Week) -> None:
    console = Console(highlight=False, width=max(_WIDTH, Console().width))
    first, last = week.days[0].plan.date, week.days[-1].plan.date
    many = count(len(week.days), programme.calendar.step)
    head = f"{programme.name}, {long_date(first)} to {long_date(last)}: {week.policy} plan, {many}"
    console.print(Text(head), soft_wrap=True)
    console.print(_table(week))
    lines = [
        f"Against doing nothing: {week.worth:+.3g} in the long run.",
        f"Why {week.policy}: {week.reason}.",
        *week.remarks,
        *(line for day in week.days for line in _changes(day)),
        _standing(programme, week),
    ]
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _table(week: Week) -> Table:
    table = Table("day", "by", "visits, in this order", "minutes", "gain", box=None)
    for column in table.columns[3:]:
        column.justify = "right"
    for day in week.days:
        said = f"{day.plan.date:%a} {day.plan.date}"
        for by, tasks in by_worker(day.plan) or [("", [])]:
            table.add_row(said, *(Text(cell) for cell in _cells(by, tasks)))
            said = ""
    return table


def _cells(by: str, tasks: Sequence[PlannedTask]) -> tuple[str, str, str, str]:
    if not tasks:
        return "", "nothing to do", "", ""
    visits = ", ".join(f"{task.when} {task.who}".strip() for task in tasks)
    minutes = [task.minutes for task in tasks]
    total = "" if None in minutes else f"{sum(one or 0.0 for one in minutes):g}"
    return by, visits, total, f"{sum(task.gain for task in tasks):+.2f}"


def _changes(day: WeekDay) -> list[str]:
    """Say what changed of a published plan, and why."""
    if day.before is None:
        return []
    if not day.changes:
        return [f"{day.plan.date}: as published."]
    said = [
        f"{who}: {old} before" if not new else f"{who}: {new} now" + f", {old} before" * bool(old)
        for who, old, new in day.changes
    ]
    return [f"{day.plan.date}, changed: {'; '.join(said)}.", *(f"  {one}" for one in day.reasons)]


def _standing(programme: Programme, week: Week) -> str:
    first, last = week.days[0].plan.date, week.days[-1].plan.date
    if all(day.before is not None and not day.changes for day in week.days):
        return "These are the plans that are published."
    return (
        f"Proposed, not published; sequoia programme publish {programme.folder} --from {first} "
        f"--to {last} publishes them."
    )
