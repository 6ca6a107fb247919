"""What passes through the programming interface, checked by its types (pydantic)."""

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Annotated, Generic, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)

from sequoia.planning.overrides import OVERRIDES
from sequoia_programme.rules import KINDS

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]


def _one_of(names: Sequence[str]) -> Callable[[str], str]:
    def check(text: str) -> str:
        if text not in names:
            raise ValueError(f"one of {', '.join(names)} is wanted")
        return text

    return check


def _names(names: Sequence[str]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": [*names]})


Option = Annotated[str, AfterValidator(_one_of(OVERRIDES)), _names(OVERRIDES)]
RuleKind = Annotated[str, AfterValidator(_one_of(KINDS)), _names(KINDS)]
Item = TypeVar("Item", bound=BaseModel)


class Shape(BaseModel):
    """What is not in a shape is refused, not left aside."""

    model_config = ConfigDict(extra="forbid")


class Nothing(Shape):
    """No parameters."""


class Range(Shape):
    """From a date to a date, both included."""

    first: dt.date
    last: dt.date


class Paged(Shape):
    """Which part of a list: so many, after so many."""

    limit: int = Field(50, ge=1, le=500)
    after: int = Field(0, ge=0, le=10**9)


class PeopleQuery(Paged):
    """Which people."""

    search: str = Field("", max_length=200)
    group: str = Field("", max_length=200)
    standing: Literal["", "here", "away", "gone"] = ""
    state: str = Field("", max_length=200)


class Who(Shape):
    """Somebody, by name."""

    who: Name


class Page(Shape, Generic[Item]):
    """A part of a list; ``next`` is where the next part begins, if there is one."""

    items: list[Item]
    total: int
    next: int | None


class Programme(Shape):
    """What the programme is: its states with what a step in each is worth, and in which unit."""

    name: str
    unit: str
    step: str
    today: dt.date
    states: dict[str, float]
    doses: dict[str, float]
    other_outcomes: list[str]


class PersonLine(Shape):
    """Somebody in a list."""

    name: str
    group: str
    standing: str
    seen: str
    seen_on: dt.date | None
    visited_on: dt.date | None


class Absence(Shape):
    """When somebody is away; the last day is the first unless given."""

    first: dt.date
    last: dt.date | None = None


class Note(Shape):
    """What somebody noted."""

    words: str
    by: str
    at: dt.datetime


class Event(Shape):
    """A visit, a sighting, or another outcome."""

    date: dt.date
    who: str
    state: str
    by: str
    dose: str
    outcome: str
    time: str
    note: str


class Person(Shape):
    """Somebody, and all that is known of them."""

    name: str
    group: str
    standing: str
    joined: dt.date | None
    left: dt.date | None
    facts: dict[str, str]
    absences: list[Absence]
    notes: list[Note]
    events: list[Event]


class PersonIn(Shape):
    """Somebody to be added, or what changes of them; facts that are left out stay."""

    name: Name
    group: str = Field("", max_length=200)
    joined: dt.date | None = None
    facts: dict[Name, Annotated[str, StringConstraints(max_length=1000)]] = {}


class AbsenceIn(Absence):
    """Somebody who is away."""

    who: Name


class LeaveIn(Shape):
    """The first day without somebody; none brings them back."""

    who: Name
    left: dt.date | None


class NoteIn(Shape):
    """A note about somebody."""

    who: Name
    words: str = Field(min_length=1, max_length=2000)


class Worker(Shape):
    """Somebody of the staff."""

    name: str
    joined: dt.date | None
    left: dt.date | None
    facts: dict[str, str]
    absences: list[Absence]


class WorkerIn(Shape):
    """Somebody of the staff to be added, or what changes of them."""

    name: Name
    facts: dict[Name, Annotated[str, StringConstraints(max_length=1000)]] = {}


class Wish(Shape):
    """What is special on a day, such as ``must`` and ``Ada``."""

    option: Option
    text: str = Field(min_length=1, max_length=1000)


class Visit(Shape):
    """A visit of a plan, and what became of it."""

    date: dt.date
    by: str
    when: str
    begins: dt.datetime | None
    who: str
    dose: str
    minutes: float | None
    state: str
    gain: float
    became: str


class Plan(Shape):
    """The plan of a day: the published one, or else the proposed one."""

    date: dt.date
    is_published: bool
    digest: str
    policy: str
    reason: str
    unit: str
    gain: float | None
    gap: float | None
    wishes: list[Wish]
    visits: list[Visit]


class Digest(Shape):
    """Which plan was looked at: another one is not published, or taken back."""

    digest: Name


class Why(Shape):
    """What it would cost to leave somebody out who is in the plan, or to add somebody."""

    who: str
    is_planned: bool
    cost: float | None
    unit: str
    reason: str


class RecordIn(Shape):
    """What came of a visit: a state that was seen, or another outcome."""

    who: Name
    state: Name
    date: dt.date | None = None
    by: str = Field("", max_length=200)
    time: str = Field("", max_length=10)
    note: str = Field("", max_length=2000)
    correct: bool = False
    only_seen: bool = False


class Recorded(Shape):
    """What was recorded, in words, and what is worth a look."""

    words: str
    remarks: list[str]


class Rule(Shape):
    """A rule of the programme; a floor has a number of people, or a share from 0 to 1."""

    kind: RuleKind
    names: list[Name] = Field(min_length=1, max_length=1000)
    count: int = Field(0, ge=0, le=10**6)
    share: float = Field(0.0, ge=0, le=1)


class Rules(Shape):
    """All rules of the programme."""

    items: list[Rule]


class JobIn(Shape):
    """Long work."""

    kind: Literal["quality", "fit", "train"]


class Job(Shape):
    """Long work that is done, or was done last; ``wrong`` says why it ended without a result."""

    kind: str
    share: float
    part: str
    is_running: bool
    is_stopped: bool
    wrong: str


class JournalLine(Shape):
    """What happened, when, in UTC, and who did it."""

    at: dt.datetime
    by: str
    words: str


class Calendar(Shape):
    """The secret path of somebody's calendar; it is told this once."""

    path: str


class Said(Shape):
    """What was done, in words."""

    words: str


class Problem(BaseModel):
    """Why something was not done (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    errors: list[str]
