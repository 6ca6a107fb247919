"""What the programming interface does: each operation, its scope and its shapes, in one list."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from pydantic import BaseModel
from starlette.exceptions import HTTPException

from sequoia_programme import people as of_people
from sequoia_programme.absences import set_absent, set_back
from sequoia_programme.drafts import undo_wish, wishes_for
from sequoia_programme.history import Event, Outcome, events, find_history, read_journal
from sequoia_programme.members import Member, members
from sequoia_programme.outcomes import KINDS
from sequoia_programme.output import by_worker, times_of
from sequoia_programme.plans import StoredPlan, plans_between
from sequoia_programme.proposal import Proposal
from sequoia_programme.recording import record as record_outcome
from sequoia_programme.rules import WrittenRule, add_rule, remove_rule, written_rules
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.settings import Programme
from sequoia_programme.standing import standing
from sequoia_programme.today import publish as publish_plan
from sequoia_programme.today import withdraw as withdraw_plan
from sequoia_programme.tokens import MANAGE, PLAN, READ, RECORD, close_feed, open_feed
from sequoia_programme.web import shapes
from sequoia_programme.web.call import Site
from sequoia_programme.wishes import wish as make_wish

# How long a plan is waited for: other systems ask once.
_PATIENCE = 60.0


@dataclass(frozen=True)
class Asked:
    """A request that was let in.

    Attributes
    ----------
    programme
        Whose actor is the token.
    path
        The parts of the path that are filled in.
    query, body
        As their shapes say.
    key
        What the request is known by, where it is sent again; empty where nobody said.
    """

    site: Site
    programme: Programme
    path: dict[str, Any]
    query: Any
    body: Any
    key: str = ""

    @property
    def day(self) -> date:
        """The first date of the step that the path names."""
        calendar = self.programme.calendar
        return calendar.date_of(calendar.step_of(self.path["date"]))

    @property
    def today(self) -> date:
        """What day it is."""
        return self.site.today()


@dataclass(frozen=True)
class Operation:
    """One thing that can be asked for.

    Attributes
    ----------
    scope
        What a token must be for.
    run
        Does it; its docstring is what the description says.
    answer, query, body
        The shapes of what is answered, of the parameters, and of what is sent.
    is_once
        Whether what it does is done once for a key, whatever happens to the server meanwhile.
    """

    method: str
    path: str
    scope: str
    run: Callable[[Asked], BaseModel]
    answer: type[BaseModel]
    query: type[BaseModel] = shapes.Nothing
    body: type[BaseModel] | None = None
    is_once: bool = False


def programme(asked: Asked) -> shapes.Programme:
    """What the programme is."""
    one = asked.programme
    return shapes.Programme(
        name=one.name,
        unit=one.unit,
        step=one.calendar.step,
        today=asked.today,
        states=dict(one.rewards),
        doses=dict(one.doses),
        other_outcomes=list(KINDS),
    )


def list_people(asked: Asked) -> shapes.Page[shapes.PersonLine]:
    """People, by name."""
    query = asked.query
    found = of_people.find_people(
        asked.programme,
        asked.today,
        search=query.search,
        group=query.group,
        standing=query.standing,
        state=query.state,
        first=query.after,
        most=query.limit,
    )
    items = [
        shapes.PersonLine(
            name=one.name,
            group=one.group,
            standing=one.standing,
            seen=one.seen,
            seen_on=one.seen_on,
            visited_on=one.visited_on,
        )
        for one in found.people
    ]
    return shapes.Page(items=items, total=found.total, next=_next(query, found.total))


def _next(query: shapes.Paged, total: int) -> int | None:
    after = query.after + query.limit
    return after if after < total else None


def one_person(asked: Asked) -> shapes.Person:
    """All that is known of somebody."""
    found = of_people.find_person(asked.programme, asked.query.who, asked.today)
    one = found.member
    return shapes.Person(
        name=one.name,
        group=one.group,
        standing=found.standing,
        joined=one.joined,
        left=one.left,
        facts=dict(one.facts),
        absences=_absences(one),
        notes=[shapes.Note(words=note.words, by=note.by, at=note.at) for note in found.notes],
        events=[_event(event) for event in found.events],
    )


def _absences(one: Member) -> list[shapes.Absence]:
    return [shapes.Absence(first=first, last=last) for first, last in one.away]


def _event(one: Event) -> shapes.Event:
    return shapes.Event(
        date=one.date,
        who=one.who,
        state=one.state,
        by=one.by,
        dose=one.dose,
        outcome=one.kind,
        time=one.time,
        note=one.note,
    )


def put_person(asked: Asked) -> shapes.Said:
    """Add somebody to be visited, or change what is known of them."""
    body = asked.body
    values = {"group": body.group, **({"joined": body.joined} if body.joined else {})}
    of_people.add_person(asked.programme, body.name, ARM, dict(body.facts), **values)
    return shapes.Said(words=f"{body.name} is on the roster.")


def put_absence(asked: Asked) -> shapes.Said:
    """Note that somebody, visited or visiting, is away."""
    body = asked.body
    last = body.first if body.last is None else body.last
    who = set_absent(asked.programme, body.who, body.first, last)
    return shapes.Said(words=f"{who} is away from {body.first} to {last}.")


def end_absence(asked: Asked) -> shapes.Said:
    """Note that somebody is back today."""
    who = set_back(asked.programme, asked.query.who, asked.today)
    return shapes.Said(words=f"{who} is back.")


def put_leave(asked: Asked) -> shapes.Said:
    """Note that somebody leaves, or is there again."""
    left = asked.body.left
    who = of_people.set_left(asked.programme, asked.body.who, left)
    return shapes.Said(words=f"{who} {'is there again' if left is None else f'leaves on {left}'}.")


def add_note(asked: Asked) -> shapes.Said:
    """Note something about somebody."""
    who = of_people.add_note(asked.programme, asked.body.who, asked.body.words)
    return shapes.Said(words=f"Noted something about {who}.")


def list_staff(asked: Asked) -> shapes.Page[shapes.Worker]:
    """The staff, in the order in which they came."""
    with asked.programme.store.open().reading() as connection:
        staff = members(connection, WORKER)
    query = asked.query
    items = [
        shapes.Worker(
            name=one.name,
            joined=one.joined,
            left=one.left,
            facts=dict(one.facts),
            absences=_absences(one),
        )
        for one in staff[query.after : query.after + query.limit]
    ]
    return shapes.Page(items=items, total=len(staff), next=_next(query, len(staff)))


def put_worker(asked: Asked) -> shapes.Said:
    """Add somebody to the staff, or change their hours."""
    of_people.add_person(asked.programme, asked.body.name, WORKER, dict(asked.body.facts))
    return shapes.Said(words=f"{asked.body.name} is on the staff.")


def open_calendar(asked: Asked) -> shapes.Calendar:
    """Give the calendar of somebody of the staff a new secret address; the old one is void."""
    return shapes.Calendar(path=f"/calendar/{open_feed(asked.programme, asked.body.who)}.ics")


def close_calendar(asked: Asked) -> shapes.Said:
    """Void the address of somebody's calendar."""
    done = close_feed(asked.programme, asked.query.who)
    return shapes.Said(words="The address is void." if done else "There was no address.")


def show_plan(asked: Asked) -> shapes.Plan:
    """The plan of a day: the published one or, where none is or wishes changed, the proposed."""
    history = find_history(asked.programme, asked.day, asked.day)
    with asked.programme.store.reading() as connection:
        wishes = wishes_for(connection, asked.day)
    if history and dict(history[0].plan.overrides) == dict(wishes):
        return _plan(asked, history[0].plan, history[0].outcomes, None)
    proposal = _proposal(asked)
    outcomes = [Outcome(task, None) for task in proposal.plan.tasks]
    return _plan(asked, proposal.plan, outcomes, proposal)


def _proposal(asked: Asked) -> Proposal:
    with asked.programme.store.open().reading() as connection:
        wishes = wishes_for(connection, asked.day)
    version = standing(asked.programme)
    return asked.site.planner.proposal(asked.day, version, wishes, _PATIENCE, asked.programme.actor)


def _plan(
    asked: Asked, plan: StoredPlan, outcomes: list[Outcome] | Any, proposal: Proposal | None
) -> shapes.Plan:
    begins = {
        id(task): span and span[0]
        for _, own in by_worker(plan)
        for task, span in zip(own, times_of(asked.programme, own), strict=True)
    }
    return shapes.Plan(
        date=plan.date,
        is_published=proposal is None,
        digest=plan.digest,
        policy=plan.policy,
        reason=plan.reason,
        unit=asked.programme.unit,
        gain=None if proposal is None else proposal.gain.long_run,
        gap=None if proposal is None else proposal.gap,
        wishes=_wishes(plan.overrides),
        visits=[
            shapes.Visit(
                date=one.task.date,
                by=one.task.by,
                when=one.task.when,
                begins=begins[id(one.task)],
                who=one.task.who,
                dose=one.task.dose,
                minutes=one.task.minutes,
                state=one.task.state,
                gain=one.task.gain,
                became=_became(one),
            )
            for one in outcomes
        ],
    )


def _became(one: Outcome) -> str:
    if one.visit is not None:
        return one.visit.state or one.visit.dose
    return one.instead.kind if one.instead is not None else ""


def _wishes(overrides: Any) -> list[shapes.Wish]:
    return [
        shapes.Wish(option=option, text=text)
        for option, texts in overrides.items()
        for text in texts
    ]


def publish(asked: Asked) -> shapes.Said:
    """Publish the plan that was looked at; where it is another one by now, nothing is done."""
    proposal = _proposal(asked)
    if proposal.plan.digest != asked.body.digest or not publish_plan(
        asked.programme, proposal.plan
    ):
        raise HTTPException(409, "the plan changed meanwhile; look at it again")
    return shapes.Said(words=f"The plan of {asked.day} is published.")


def withdraw(asked: Asked) -> shapes.Said:
    """Take back the published plan that was looked at."""
    if not withdraw_plan(asked.programme, asked.day, asked.query.digest):
        raise HTTPException(409, "another plan holds by now; look at it again")
    return shapes.Said(words=f"The plan of {asked.day} is taken back.")


def add_wish(asked: Asked) -> shapes.Said:
    """Wish something for a day."""
    make_wish(asked.programme, asked.day, asked.body.option, asked.body.text)
    return shapes.Said(words=f"Wished for {asked.day}.")


def remove_wish(asked: Asked) -> shapes.Said:
    """No longer wish something for a day."""
    option, text = asked.query.option, asked.query.text
    make_wish(asked.programme, asked.day, option, text, wanted=False)
    return shapes.Said(words=f"No longer wished for {asked.day}.")


def undo(asked: Asked) -> shapes.Said:
    """Take back the last change of the wishes for a day."""
    done = undo_wish(asked.programme, asked.day)
    return shapes.Said(words="The last change is taken back." if done else "There was no change.")


def why(asked: Asked) -> shapes.Why:
    """What it would cost to leave somebody out of the plan of a day, or to add somebody."""
    with asked.programme.store.open().reading() as connection:
        wishes = wishes_for(connection, asked.day)
    found = asked.site.planner.why(
        asked.day,
        standing(asked.programme),
        wishes,
        f"arm:{asked.query.who}",
        _PATIENCE,
        asked.programme.actor,
    )
    cost = found.cost
    return shapes.Why(
        who=found.name,
        is_planned=found.is_chosen,
        cost=None if cost is None else cost.next_step if cost.long_run is None else cost.long_run,
        unit=asked.programme.unit,
        reason=found.reason,
    )


def list_records(asked: Asked) -> shapes.Page[shapes.Event]:
    """What happened in a range of at most a year: visits, sightings and other outcomes."""
    first, last = asked.query.first, asked.query.last
    if not timedelta(0) <= last - first <= timedelta(days=366):
        raise HTTPException(422, "from first to last, a year at most, is wanted")
    with asked.programme.store.open().reading() as connection:
        items = [_event(one) for one in events(connection, first, last)]
    return shapes.Page(items=items, total=len(items), next=None)


def record(asked: Asked) -> shapes.Recorded:
    """Record what came of a visit; sent again with the same key, it is recorded once."""
    body = asked.body
    done = record_outcome(
        asked.programme,
        [f"{body.who}={body.state}"],
        asked.today if body.date is None else body.date,
        by=body.by,
        dose="" if body.only_seen else None,
        time=body.time,
        remark=body.note,
        correct=body.correct,
        key=asked.key,
        today=asked.today,
    )
    return shapes.Recorded(words=done.words, remarks=list(done.remarks))


def list_rules(asked: Asked) -> shapes.Rules:
    """The rules of the programme."""
    rules = written_rules(asked.programme)
    return shapes.Rules(
        items=[
            shapes.Rule(kind=one.kind, names=list(one.names), count=one.count, share=one.share)
            for one in rules
        ]
    )


def put_rule(asked: Asked) -> shapes.Said:
    """Add a rule to the programme."""
    rule = _rule(asked)
    add_rule(asked.programme, rule, asked.today)
    return shapes.Said(words=f"The rule holds from now on: {rule.words}.")


def end_rule(asked: Asked) -> shapes.Said:
    """Remove a rule from the programme."""
    rule = _rule(asked)
    remove_rule(asked.programme, rule, asked.today)
    return shapes.Said(words=f"No longer a rule: {rule.words}.")


def _rule(asked: Asked) -> WrittenRule:
    body = asked.body
    return WrittenRule(body.kind, tuple(body.names), body.count, body.share)


def show_job(asked: Asked) -> shapes.Job:
    """The long work that is done, or was done last."""
    job = asked.site.jobs.last
    if job is None:
        raise HTTPException(404, "no long work was begun since the server began")
    return shapes.Job(
        kind=job.kind,
        share=job.share,
        part=job.part,
        is_running=job.is_running,
        is_stopped=job.is_stopped,
        wrong=job.wrong,
    )


def start_job(asked: Asked) -> shapes.Job:
    """Begin long work; one thing is worked on at a time."""
    asked.site.jobs.start(asked.body.kind, asked.today, asked.programme.actor)
    return show_job(asked)


def stop_job(asked: Asked) -> shapes.Said:
    """Stop the long work; nothing of it is kept."""
    asked.site.jobs.stop()
    return shapes.Said(words="Nothing is worked on.")


def list_journal(asked: Asked) -> shapes.Page[shapes.JournalLine]:
    """What was done, the last first."""
    query = asked.query
    lines = read_journal(asked.programme, query.after + query.limit + 1)
    own = lines[query.after : query.after + query.limit]
    more = len(lines) > query.after + query.limit
    items = [shapes.JournalLine(at=one.at, by=one.by, words=one.words) for one in own]
    after = query.after + query.limit if more else None
    return shapes.Page(items=items, total=len(lines), next=after)


def holding(site: Site, programme: Programme, worker: str) -> list[StoredPlan]:
    """Return the published plans around today, with the visits of one worker only."""
    today = site.today()
    with programme.store.open().reading() as connection:
        found = plans_between(connection, today - timedelta(weeks=2), today + timedelta(weeks=8))
    return [
        StoredPlan(
            one.date,
            one.policy,
            one.reason,
            {},
            [task for task in one.tasks if task.by == worker],
            one.made,
        )
        for one in found
    ]


_S = shapes
OPERATIONS = (
    Operation("GET", "/programme", READ, programme, _S.Programme),
    Operation("GET", "/people", READ, list_people, _S.Page[_S.PersonLine], _S.PeopleQuery),
    Operation("PUT", "/people", PLAN, put_person, _S.Said, body=_S.PersonIn),
    Operation("GET", "/people/one", READ, one_person, _S.Person, _S.Who),
    Operation("POST", "/people/notes", PLAN, add_note, _S.Said, body=_S.NoteIn),
    Operation("POST", "/absences", PLAN, put_absence, _S.Said, body=_S.AbsenceIn),
    Operation("DELETE", "/absences", PLAN, end_absence, _S.Said, _S.Who),
    Operation("POST", "/leaves", PLAN, put_leave, _S.Said, body=_S.LeaveIn),
    Operation("GET", "/staff", READ, list_staff, _S.Page[_S.Worker], _S.Paged),
    Operation("PUT", "/staff", PLAN, put_worker, _S.Said, body=_S.WorkerIn),
    Operation("POST", "/staff/calendar", PLAN, open_calendar, _S.Calendar, body=_S.Who),
    Operation("DELETE", "/staff/calendar", PLAN, close_calendar, _S.Said, _S.Who),
    Operation("GET", "/plans/{date}", READ, show_plan, _S.Plan),
    Operation("GET", "/plans/{date}/why", READ, why, _S.Why, _S.Who),
    Operation("POST", "/plans/{date}/publication", PLAN, publish, _S.Said, body=_S.Digest),
    Operation("DELETE", "/plans/{date}/publication", PLAN, withdraw, _S.Said, _S.Digest),
    Operation("POST", "/plans/{date}/wishes", PLAN, add_wish, _S.Said, body=_S.Wish),
    Operation("DELETE", "/plans/{date}/wishes", PLAN, remove_wish, _S.Said, _S.Wish),
    Operation("POST", "/plans/{date}/wishes/undo", PLAN, undo, _S.Said),
    Operation("GET", "/records", READ, list_records, _S.Page[_S.Event], _S.Range),
    Operation("POST", "/records", RECORD, record, _S.Recorded, body=_S.RecordIn, is_once=True),
    Operation("GET", "/rules", READ, list_rules, _S.Rules),
    Operation("POST", "/rules", MANAGE, put_rule, _S.Said, body=_S.Rule),
    Operation("DELETE", "/rules", MANAGE, end_rule, _S.Said, body=_S.Rule),
    Operation("GET", "/job", READ, show_job, _S.Job),
    Operation("POST", "/job", MANAGE, start_job, _S.Job, body=_S.JobIn),
    Operation("DELETE", "/job", MANAGE, stop_job, _S.Said),
    Operation("GET", "/journal", MANAGE, list_journal, _S.Page[_S.JournalLine], _S.Paged),
)
