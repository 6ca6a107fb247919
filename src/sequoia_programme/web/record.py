"""Record what was seen at today's visits, with one thumb."""

from datetime import date

from starlette.responses import JSONResponse, Response

from sequoia.errors import ProblemError, SequoiaError
from sequoia_programme.accounts import PLAN
from sequoia_programme.history import find_history
from sequoia_programme.members import members
from sequoia_programme.plans import was_planned
from sequoia_programme.recording import record
from sequoia_programme.schema import WORKER
from sequoia_programme.web.call import Call


def show(call: Call) -> Response:
    """Show the visits of the plan that was published, those of one worker or all."""
    calendar = call.programme.calendar
    day = calendar.date_of(calendar.step_of(call.day()))
    found = find_history(call.programme, day, day)
    outcomes = found[0].outcomes if found else []
    with call.programme.store.reading() as connection:
        workers = [one.name for one in members(connection, WORKER) if one.is_member(day)]
    by = call.text("by")
    own = [one for one in outcomes if not by or one.task.by == by]
    return call.page(
        "record.html", day=day, outcomes=own, workers=workers, by=by, is_published=bool(found)
    )


def send(call: Call) -> Response:
    """Record one outcome; sent again with the same key, it is recorded once."""
    who, state = call.text("who"), call.text("state")
    day = call.day()
    try:
        if not call.may(PLAN):
            _require_own(call, who, day)
        done = record(
            call.programme,
            [f"{who}={state}"],
            day,
            by=call.text("by") or (call.account.worker if call.account else ""),
            dose="" if call.text("only_seen") else None,
            correct=bool(call.text("correct")),
            key=call.text("key", longest=100),
            today=call.site.today(),
        )
    except SequoiaError as error:
        if _is_script(call):
            return JSONResponse({"error": " ".join(map(call.words.said, error.lines))}, 422)
        raise
    remarks = [call.words.said(line) for line in done.remarks]
    if _is_script(call):
        return JSONResponse({"words": done.words, "remarks": remarks})
    message = " ".join([call.words("record.done", who=who, state=state), *remarks])
    if not call.may(PLAN):
        return call.go("/my", message)
    return call.go("/record", message, date=day, by=call.text("from"))


def _require_own(call: Call, who: str, day: date) -> None:
    """Raise unless a visit is one that a worker had, and its day is not closed."""
    worker = call.account.worker if call.account else ""
    calendar = call.programme.calendar
    step = calendar.step_of(day)
    with call.programme.store.open().reading() as connection:
        is_own = was_planned(connection, calendar.date_of(step), who, worker)
    if not is_own or call.text("by") not in ("", worker) or call.text("only_seen"):
        raise ProblemError(f"{who!r} on {day} is not among the visits of {worker}.")
    if call.text("correct") and step < calendar.step_of(call.site.today()):
        raise ProblemError(f"{day} is closed; only a planner corrects what is recorded.")


def _is_script(call: Call) -> bool:
    return call.request.headers.get("accept", "").startswith("application/json")
