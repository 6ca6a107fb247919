"""``sequoia programme drift``: predictions and sightings, week by week."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sequoia.cli.common import print_json
from sequoia_programme.drift import Drift
from sequoia_programme.settings import Programme

_WIDTH = 110


def show_drift(programme: Programme, found: Drift, as_json: bool) -> None:
    """Show predicted and seen counts of each state, and what to do about them."""
    if as_json:
        print_json(
            {
                "is_drift": found.is_drift,
                "words": found.words,
                "weeks": [
                    {
                        "first": str(week.first),
                        "is_drift": week.is_drift,
                        "predicted": dict(zip(found.states, week.predicted.tolist(), strict=True)),
                        "seen": dict(zip(found.states, week.seen.tolist(), strict=True)),
                    }
                    for week in found.weeks
                ],
            }
        )
        return
    console = Console(highlight=False, width=max(_WIDTH, Console().width))
    if found.weeks:
        table = Table("week of", "sightings", *found.states, "", box=None)
        for column in table.columns[1:-1]:
            column.justify = "right"
        for week in found.weeks:
            pairs = zip(week.seen.tolist(), week.predicted.tolist(), strict=True)
            cells = [f"{seen} ({predicted:.1f})" for seen, predicted in pairs]
            mark = "drift" if week.is_drift else ""
            table.add_row(str(week.first), str(week.seen.sum()), *cells, mark)
        console.print(table)
        console.print("In brackets is what was predicted.")
    lines = [found.words, f"Transitions: {found.transitions}."]
    if found.is_drift:
        lines.append(f"sequoia programme fit {programme.folder} estimates them anew.")
    for line in lines:
        console.print(Text(line), soft_wrap=True)
