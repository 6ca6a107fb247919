"""``sequoia programme today``: the plan of the day, shown, kept and written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sequoia.cli.common import print_json
from sequoia.cli.plan import cost_in_words, cost_to_json, proof_in_words, to_json, why_in_words
from sequoia.io import refuse_to_replace
from sequoia.problem.names import count
from sequoia_programme.output import by_worker, long_date, require_endings, write_plan
from sequoia_programme.plans import StoredPlan, changes
from sequoia_programme.settings import Programme
from sequoia_programme.situation import find_situation
from sequoia_programme.today import TodaysPlan, plan_today
from sequoia_programme.trained import adopt, with_own_model

# Narrower, what is known of a state would take two lines.
_WIDTH = 110


@dataclass(frozen=True)
class TodayOptions:
    """What was said on the command line."""

    overrides: Mapping[str, Sequence[str]]
    why: Sequence[str]
    policy: str | None
    model: Path | None
    outlook: str
    seconds: float
    output: Sequence[Path]
    force: bool


def run_today(programme: Programme, day: date, options: TodayOptions, as_json: bool) -> None:
    """Plan, keep, write and show."""
    require_endings(options.output)
    refuse_to_replace(options.output, options.force)
    situation = find_situation(programme, day, options.outlook, date.today())
    if options.model is None:
        situation, q = with_own_model(situation)
    else:
        adopted = adopt(situation, options.model)
        q = adopted.model
        said = [f"{options.model}: {adopted.remark}."] if adopted.remark else []
        situation = replace(situation, remarks=[*situation.remarks, *said])
    made = plan_today(
        situation,
        options.overrides,
        policy=options.policy,
        q=q,
        why=options.why,
        seconds=options.seconds,
    )
    for target in options.output:
        write_plan(programme, made.stored, target)
    if as_json:
        print_json(_to_json(made))
        return
    _show(made)
    for target in options.output:
        typer.echo(f"Wrote {target}.")


def _to_json(made: TodaysPlan) -> dict[str, Any]:
    content = to_json(made.planner, made.found, made.why)
    return {
        **content,
        "date": str(made.stored.date),
        "reason": made.stored.reason,
        "overrides": made.stored.overrides,
        "wishes": [cost_to_json(one) for one in made.costs],
        "published": made.published is not None and made.published.digest == made.stored.digest,
        "changes": [] if made.published is None else changes(made.published, made.stored),
        "transitions": made.situation.estimates.words,
        "tasks": [{**vars(task), "date": str(task.date)} for task in made.stored.tasks],
    }


def _show(made: TodaysPlan) -> None:
    console = Console(highlight=False, width=max(_WIDTH, Console().width))
    plan, situation = made.stored, made.situation
    console.print(
        Text(f"{situation.programme.name}, {long_date(plan.date)}: {plan.policy} plan"),
        soft_wrap=True,
    )
    console.print(_table(made))
    gain = made.found.worth - made.found.idle
    long = "" if gain.long_run is None else f", {gain.long_run:+.3g} in the long run"
    lines = [
        f"Against doing nothing: {gain.next_step:+.3g} in the next step{long}.",
        *proof_in_words(made.found),
        f"Why {plan.policy}: {plan.reason}.",
        f"Transitions: {situation.estimates.words}.",
        *situation.remarks,
        *_away(made),
        *map(cost_in_words, made.costs),
        *map(why_in_words, made.why),
        *_standing(made),
    ]
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _standing(made: TodaysPlan) -> list[str]:
    """Say whether a plan is published for the date, and how this one differs."""
    plan, folder = made.stored, made.situation.programme.folder
    publishing = f"sequoia programme publish {folder} --date {plan.date} publishes it."
    if made.published is None:
        return [f"Proposed, not published; {publishing}"]
    if made.published.digest == plan.digest:
        return ["This is the plan that is published for the date."]
    return [
        f"Another plan is published for {plan.date}; {publishing}",
        *show_changes(made.published, plan),
    ]


def show_changes(before: StoredPlan | None, after: StoredPlan) -> list[str]:
    """Say how a plan differs from the one that was published; nothing where none was."""
    if before is None:
        return []
    found = [
        f"{who}: {old} before" if not new else f"{who}: {new} now" + (f", {old} before" * bool(old))
        for who, old, new in changes(before, after)
    ]
    return [f"Changed: {'; '.join(found)}."] if found else ["The visits are the same."]


def _table(made: TodaysPlan) -> Table:
    tasks = made.stored.tasks
    if not tasks:
        return Table("nothing to do", box=None)
    shown = ["by", "when", "who", "dose", "minutes", "state", "gain"]
    shown = [one for one in shown if any(getattr(task, one) not in ("", None) for task in tasks)]
    if len(made.situation.programme.doses) == 1:
        shown.remove("dose")
    table = Table("", *shown, box=None)
    for _, own in by_worker(made.stored):
        for order, task in enumerate(own, start=1):
            cells = []
            for name in shown:
                value = getattr(task, name)
                sign = "+" if name == "gain" else ""
                form = f"{sign}.2f" if name == "gain" else "g"
                cells.append(format(value, form) if isinstance(value, float) else str(value))
            table.add_row(str(order), *(Text(cell) for cell in cells))
    for column in table.columns:
        column.justify = "right" if column.header in ("minutes", "gain") else "left"
    return table


def _away(made: TodaysPlan) -> list[str]:
    rules = made.situation.absences
    away = [*rules.absent, *rules.never]
    return (
        [f"Absent today: {', '.join(away)} ({count(len(away), 'person', 'people')})."]
        if away
        else []
    )
