"""``sequoia programme history``: what became of plans."""

from datetime import date

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sequoia.cli.common import print_json
from sequoia.problem.names import count
from sequoia_programme.history import (
    Event,
    Outcome,
    PlanHistory,
    find_events,
    find_history,
    find_journal,
)
from sequoia_programme.settings import Programme

_JOURNAL = 5
_WIDTH = 110


def show_history(programme: Programme, first: date, last: date, as_json: bool) -> None:
    """Show the plans of some days, the last in full."""
    found = find_history(programme, first, last)
    lines = find_journal(programme, _JOURNAL)
    if as_json:
        print_json({"plans": [_to_json(one) for one in found], "journal": lines})
        return
    console = Console(highlight=False, width=max(_WIDTH, Console().width))
    if not found:
        console.print(f"No plan from {first} to {last}.")
    else:
        _show_all(console, found)
        _show_last(console, found[0])
    if lines:
        console.print("Last in the journal:")
    for line in lines:
        console.print(Text(f"  {line}"), soft_wrap=True)


def show_events(programme: Programme, who: str, first: date, last: date, as_json: bool) -> None:
    """Show everything that happened with somebody."""
    name, found = find_events(programme, who, first, last)
    if as_json:
        print_json({"who": name, "events": [_event(one) for one in found]})
        return
    if not found:
        typer.echo(f"Nothing is recorded of {name} from {first} to {last}.")
        return
    more = [name for name in ("time", "note") if any(getattr(one, name) for one in found)]
    table = Table("date", "state", "dose", "by", *more, box=None)
    for one in found:
        cells = (one.state or one.kind, one.dose, one.by, *(getattr(one, name) for name in more))
        table.add_row(str(one.date), *map(Text, cells))
    console = Console(highlight=False)
    console.print(Text(name))
    console.print(table)


def _show_all(console: Console, found: list[PlanHistory]) -> None:
    table = Table("plan of", "policy", "tasks", "done", "besides", "asked for", box=None)
    for one in found:
        table.add_row(
            str(one.plan.date),
            one.plan.policy,
            str(len(one.outcomes)),
            str(one.done),
            str(len(one.besides)),
            Text(_asked(one)),
        )
    for column in table.columns[2:5]:
        column.justify = "right"
    console.print(table)


def _show_last(console: Console, one: PlanHistory) -> None:
    console.print(f"The plan of {one.plan.date} in full:")
    table = Table("who", "planned", "by", "became of it", box=None)
    for outcome in one.outcomes:
        task, visit = outcome.task, outcome.visit
        table.add_row(
            *(Text(text) for text in (task.who, task.state, task.by)),
            Text(_instead(outcome) if visit is None else _became(visit, task.by)),
        )
    for visit in one.besides:
        table.add_row(
            Text(visit.who), "not planned", Text(visit.by), Text(_became(visit, visit.by))
        )
    console.print(table)
    done = f"{one.done} of {count(len(one.outcomes), 'task')} done"
    console.print(f"{done}, {count(len(one.besides), 'visit')} besides.")


def _instead(outcome: Outcome) -> str:
    return "not done" if outcome.instead is None else outcome.instead.kind


def _became(visit: Event, planned: str) -> str:
    seen = f"{visit.dose}, seen {visit.state}" if visit.state else visit.dose
    return seen if visit.by in ("", planned) else f"{seen}, by {visit.by}"


def _asked(one: PlanHistory) -> str:
    return "; ".join(f"{key} {', '.join(texts)}" for key, texts in one.plan.overrides.items())


def _event(one: Event) -> dict[str, str]:
    return {key: str(value) for key, value in vars(one).items()}


def _to_json(one: PlanHistory) -> dict[str, object]:
    return {
        "date": str(one.plan.date),
        "policy": one.plan.policy,
        "reason": one.plan.reason,
        "overrides": one.plan.overrides,
        "tasks": [
            {
                **{key: str(v) if key == "date" else v for key, v in vars(o.task).items()},
                "visit": None if o.visit is None else _event(o.visit),
                "instead": None if o.instead is None else _event(o.instead),
            }
            for o in one.outcomes
        ],
        "besides": [_event(visit) for visit in one.besides],
    }
