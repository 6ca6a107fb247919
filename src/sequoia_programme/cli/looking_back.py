"""``sequoia programme replay`` and ``shadow``: whether other plans would have helped."""

from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from sequoia.cli.common import AsJson, print_json, print_pairs
from sequoia.problem.names import count
from sequoia_programme.calendar import days_of
from sequoia_programme.cli.options import First, Folder, Last, read_day
from sequoia_programme.settings import Programme, read_programme

if TYPE_CHECKING:
    from sequoia.planning.planner import Worth

Policy = Annotated[str, typer.Option(help="The policy to compare with.")]
# Unless somebody says when to begin.
_MONTHS, _WEEK = timedelta(days=91), timedelta(days=7)


def replay(
    folder: Folder,
    first: First = None,
    last: Last = None,
    policy: Policy = "price",
    as_json: AsJson = False,
) -> None:
    """Play the past again: by the visits that were made, and by a policy; the last three months."""
    from sequoia_programme.replay import WHAT_CANNOT_BE_KNOWN
    from sequoia_programme.replay import replay as play_again

    programme = read_programme(folder)
    begin, end = _range(programme, first, last, _MONTHS)
    found = play_again(programme, begin, end, policy)
    if as_json:
        content = {
            key: {"mean": one.mean, "half_width": one.half}
            for key, one in (("done", found.done), ("other", found.other), ("gain", found.gain))
        }
        print_json(
            {
                **content,
                "policy": policy,
                "first": str(found.first),
                "last": str(found.last),
                "believed": found.believed,
                "steps": found.steps,
                "visits": list(found.visits),
            }
        )
        return
    sure = "more or less, not known" if found.gain.includes_zero else "beyond chance"
    print_pairs(
        [
            ("played", f"{count(found.steps, 'step')}, {found.first} to {found.last}"),
            ("done", f"{found.done} a step, with {found.visits[0]:.1f} visits"),
            (policy, f"{found.other} a step, with {found.visits[1]:.1f} visits"),
            ("difference", f"{found.gain} a step: {sure}; of the fit and of luck, 95 %"),
            ("believed", f"{found.believed:.4g} a step, by what was done and seen"),
        ]
    )
    typer.echo(WHAT_CANNOT_BE_KNOWN)


def shadow(
    folder: Folder,
    first: First = None,
    last: Last = None,
    policy: Policy = "price",
    as_json: AsJson = False,
) -> None:
    """Propose plans for days that were worked, and compare; nothing is kept. The last week."""
    from sequoia_programme.cli.how_good import watching
    from sequoia_programme.shadow import find_shadow

    programme = read_programme(folder)
    begin, end = _range(programme, first, last, _WEEK)
    with watching() as watch:
        days = days_of(programme.calendar, begin, end)
        found = find_shadow(programme, days, policy, lambda share: watch(share, "shadow"))
    if as_json:
        days_found = [
            {
                "date": str(one.date),
                "planned": list(one.planned),
                "done": list(one.done),
                "gain": vars(one.gain),
                "gain_done": vars(one.gain_done),
            }
            for one in found
        ]
        print_json({"days": days_found})
        return
    for one in found:
        typer.echo(
            f"{one.date}: {len(one.planned)} planned, {len(one.done)} made, {len(one.both)} in "
            f"common; the plan gains {_value(one.gain):+.2f}, what was made "
            f"{_value(one.gain_done):+.2f}."
        )
        missed = [who for who in one.planned if who not in one.both]
        if missed:
            typer.echo(f"  planned and not made: {', '.join(missed)}")
    plans = sum(_value(one.gain) for one in found)
    made = sum(_value(one.gain_done) for one in found)
    typer.echo(f"In all: plans gain {plans:+.3g}, what was made {made:+.3g}. Nothing was kept.")


def _value(worth: "Worth") -> float:
    return worth.next_step if worth.long_run is None else worth.long_run


def _range(
    programme: Programme, first: str | None, last: str | None, usual: timedelta
) -> tuple[date, date]:
    end = read_day(last, programme.calendar)
    begin = end - usual if first is None else read_day(first, programme.calendar)
    return begin, end
