"""Begin a programme: its settings, as text that a person edits, and its empty database."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from sequoia.errors import FileError
from sequoia.io import make_folder, refuse_to_replace, write_text
from sequoia_programme.calendar import WEEKDAYS
from sequoia_programme.settings import FILE, FORMAT, Programme, read_programme
from sequoia_programme.store import FILE as DATABASE
from sequoia_programme.store import Store

# What each kind of space needs to know besides the roster and the staff.
KINDS: Mapping[str, Sequence[str]] = {
    "assignment": (),
    "budget": ("limit",),
    "schedule": ("limit", "slots"),
    "rota": ("slots",),
    "walk": ("source", "length", "limit"),
    "team": (),
}


@dataclass(frozen=True)
class Beginning:
    """What is known when a programme begins.

    Attributes
    ----------
    states
        Names of the states and what a step in each is worth.
    kind, limit, slots
        The space; how much or how many in a step; the slots of a schedule or a rota.
    source, length
        Where a walk begins and ends, and how long it may be.
    reported
        How often a state is known without a visit.
    never_hurts
        Whether a visit never makes things worse.
    """

    name: str
    start: date
    states: Mapping[str, float]
    step: str = "day"
    days: Sequence[str] = WEEKDAYS
    kind: str = "assignment"
    limit: float | None = None
    slots: Sequence[str] = ()
    source: str = ""
    length: int | None = None
    reported: float = 0.0
    never_hurts: bool = False
    database: str = ""


def create(folder: Path, beginning: Beginning) -> Programme:
    """Make the database in ``folder``, and write the settings.

    The settings come last: without them there is no programme, and the next try begins again.
    """
    refuse_to_replace([folder / FILE])
    there = [path for path in (folder, folder / DATABASE) if path.exists()]
    make_folder(folder)
    try:
        Store.of_folder(folder, beginning.database).make()
        write_text(folder / FILE, settings_text(beginning))
        return read_programme(folder)
    except FileError:
        # What cannot be used is not left behind.
        (folder / FILE).unlink(missing_ok=True)
        if folder / DATABASE not in there:
            (folder / DATABASE).unlink(missing_ok=True)
        if folder not in there:
            folder.rmdir()
        raise


def settings_text(beginning: Beginning) -> str:
    """Return ``programme.toml``, with a word on each setting."""
    states = "\n".join(f"{_quoted(name)} = {value:g}" for name, value in beginning.states.items())
    lines = [
        f"format = {FORMAT}",
        f"name = {_quoted(beginning.name)}",
        "horizon = 20          # how many steps a plan looks ahead",
        "discount = 0.99       # what the next step counts against this one",
    ]
    if beginning.database:
        lines.append(f"database = {_quoted(beginning.database)}")
    days = ", ".join(map(_quoted, beginning.days))
    lines += [
        "",
        "[calendar]",
        f'step = "{beginning.step}"          # a decision every day, or every week',
        f"start = {beginning.start}    # a date of the first step",
        f"days = [{days}]",
        "holidays = []         # dates that are no steps, such as [2026-12-25]",
        "",
        "[states]              # what a step in each is worth",
        states,
        "",
        "[doses]               # what a visit can be; doing nothing is 0",
        "visit = 1",
        "",
        "[seen]",
        f"before = {beginning.reported:<12g}# how often a state is known without a visit",
        "at_visit = 1.0        # how often a visit shows it",
        "",
        "[space]",
        f"kind = {_quoted(beginning.kind)}",
    ]
    if beginning.limit is not None:
        lines.append(f"limit = {beginning.limit:g}")
    if beginning.slots:
        lines.append(f"slots = [{', '.join(map(_quoted, beginning.slots))}]")
    if beginning.source:
        lines.append(f"source = {_quoted(beginning.source)}")
    if beginning.length is not None:
        lines.append(f"length = {beginning.length}")
    if beginning.kind == "schedule":
        lines.append("visits = 1            # how many an arm needs")
    if beginning.never_hurts:
        lines += ["", "[known]", "never_hurts = true    # a visit never makes things worse"]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Return a text as TOML writes it; JSON does the same."""
    return json.dumps(text, ensure_ascii=False)
