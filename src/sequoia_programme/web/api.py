"""The programming interface: who gets in, what is checked, and what an error looks like.

Shapes are checked by pydantic, what they mean by the functions that the page calls, too. The same
shapes are the description (OpenAPI 3.1), so that it cannot say anything else.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import date

from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sequoia.errors import SequoiaError
from sequoia.problem.spreadsheet import csv_text, xlsx_bytes
from sequoia_programme.calendar import EARLIEST, LAST
from sequoia_programme.exporting import SHEETS, sheets_of
from sequoia_programme.output import calendars_text
from sequoia_programme.repeats import Repeated, begin_answer, drop_answer, keep_answer
from sequoia_programme.settings import read_programme
from sequoia_programme.tokens import MANAGE, Token, find_feed
from sequoia_programme.web import shapes
from sequoia_programme.web.call import Site, download
from sequoia_programme.web.guard import limited
from sequoia_programme.web.metrics import Stopwatch
from sequoia_programme.web.openapi import description
from sequoia_programme.web.operations import OPERATIONS, Asked, Operation, holding
from sequoia_programme.web.planner import StillComputing
from sequoia_programme.web.state import token_of

BASE = "/api/v1"
# What is sent is a few names and notes.
_MOST_BYTES = 100_000
_LONGEST_KEY = 100
_PROBLEM = "application/problem+json"
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_TITLES = {
    400: "The request cannot be read",
    401: "A token is wanted",
    403: "The token is not for that",
    404: "Not found",
    409: "Something changed meanwhile",
    413: "Too much was sent",
    422: "That cannot be done",
    503: "Not now",
}


def api_routes(site: Site) -> list[Route]:
    """Return all addresses of the interface."""

    async def described(_: Request) -> Response:
        return JSONResponse(description(BASE, OPERATIONS))

    routes = [
        Route(f"{BASE}{one.path}", _answering(site, one), methods=[one.method])
        for one in OPERATIONS
    ]
    return [
        Route(f"{BASE}/openapi.json", described, methods=["GET"]),
        Route(f"{BASE}/export{{ending}}", _exporting(site), methods=["GET"]),
        Route("/calendar/{secret}.ics", _calendar(site), methods=["GET"]),
        *routes,
    ]


def _problem(status: int, lines: list[str], headers: dict[str, str] | None = None) -> Response:
    title = _TITLES.get(status, "That went wrong")
    content = shapes.Problem(title=title, status=status, errors=lines).model_dump()
    return JSONResponse(content, status, headers, _PROBLEM)


def _answering(site: Site, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        watch = Stopwatch(site.metrics, operation.method, BASE + operation.path)
        response = await _guarded(site, request, operation.scope, read)
        watch.stop(response.status_code)
        return response

    async def read(request: Request, token: Token) -> Response:
        body = b""
        if operation.body is not None:
            try:
                body = await Request(request.scope, limited(request.receive, _MOST_BYTES)).body()
            except ClientDisconnect:
                raise HTTPException(400, "the request did not arrive whole") from None
        return await run_in_threadpool(_run, site, request, token, operation, body)

    return answer


async def _guarded(
    site: Site,
    request: Request,
    scope: str,
    run: Callable[[Request, Token], Awaitable[Response]],
) -> Response:
    """Let in whoever has a token for it, and turn every error into a problem."""
    try:
        token = await run_in_threadpool(token_of, site, request)
        if token is None:
            return _problem(401, ["a token is wanted"], {"WWW-Authenticate": "Bearer"})
        if scope not in token.scopes:
            return _problem(403, [f"the token is for {', '.join(token.scopes)}, not for {scope}"])
        return await run(request, token)
    except HTTPException as error:
        return _problem(error.status_code, [error.detail])
    except ValidationError as error:
        wrong = [(".".join(map(str, one["loc"])), one["msg"]) for one in error.errors()]
        lines = [f"{where or 'what was sent'}: {said}" for where, said in wrong]
        return _problem(422, lines)
    except SequoiaError as error:
        return _problem(422, list(error.lines))
    except StillComputing:
        return _problem(503, ["the plan is still being computed"], {"Retry-After": "2"})


def _run(site: Site, request: Request, token: Token, operation: Operation, sent: bytes) -> Response:
    programme = replace(read_programme(site.folder), actor=f"token {token.name}")
    body = None
    if operation.body is not None:
        body = operation.body.model_validate_json(sent or b"null")
    asked = Asked(
        site=site,
        programme=programme,
        path={key: _date(text) for key, text in request.path_params.items()},
        query=operation.query.model_validate(dict(request.query_params)),
        body=body,
    )
    key = request.headers.get("idempotency-key", "")
    if len(key) > _LONGEST_KEY:
        raise HTTPException(422, f"the key has more than {_LONGEST_KEY} characters")
    if operation.method == "GET" or not key:
        return _json(operation.run(asked))
    asked = replace(asked, key=f"{token.name} {key}")
    what = hashlib.sha256(
        b"\0".join((operation.method.encode(), str(request.url).encode(), sent))
    ).hexdigest()
    try:
        before = begin_answer(programme, asked.key, what, is_once=operation.is_once)
    except Repeated as error:
        raise HTTPException(409, str(error)) from None
    if before is not None:
        return Response(before.body, before.status, media_type="application/json")
    try:
        answer = _json(operation.run(asked))
    except BaseException:
        # Nothing was done: whoever sends it again tries again.
        drop_answer(programme, asked.key)
        raise
    keep_answer(programme, asked.key, answer.status_code, bytes(answer.body).decode())
    return answer


def _json(answer: BaseModel) -> Response:
    return Response(answer.model_dump_json(), media_type="application/json")


def _date(text: str) -> date:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        raise HTTPException(422, f"{text!r} is no date; one such as 2026-11-02 is wanted") from None
    if not EARLIEST <= found <= LAST:
        raise HTTPException(422, f"{found} is not between {EARLIEST} and {LAST}")
    return found


def _exporting(site: Site) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        watch = Stopwatch(site.metrics, "GET", f"{BASE}/export{{ending}}")
        response = await _guarded(site, request, MANAGE, export)
        watch.stop(response.status_code)
        return response

    async def export(request: Request, _: Token) -> Response:
        return await run_in_threadpool(made, request)

    def made(request: Request) -> Response:
        """Return all sheets as JSON or XLSX, or one of them as CSV."""
        ending, name = request.path_params["ending"], request.query_params.get("sheet", "log")
        if ending not in (".json", ".xlsx", ".csv") or name not in SHEETS:
            raise HTTPException(404, f"one of .json, .xlsx and .csv, of {', '.join(SHEETS)}")
        sheets = sheets_of(read_programme(site.folder))
        if ending == ".xlsx":
            return download(xlsx_bytes(sheets), _XLSX, "programme.xlsx")
        if ending == ".csv":
            return download(csv_text(sheets[name]).encode(), "text/csv", f"{name}.csv")
        rows = {
            key: [dict(zip(map(str, sheet[0]), row, strict=True)) for row in sheet[1:]]
            for key, sheet in sheets.items()
        }
        content = json.dumps(rows, default=str, ensure_ascii=False).encode()
        return download(content, "application/json", "programme.json")

    return answer


def _calendar(site: Site) -> Callable[[Request], Awaitable[Response]]:
    def made(request: Request) -> Response:
        """Return somebody's calendar to whoever knows its secret."""
        programme = read_programme(site.folder)
        worker = find_feed(programme, request.path_params["secret"])
        if worker is None:
            raise HTTPException(404)
        text = calendars_text(programme, holding(site, programme, worker))
        return Response(text, media_type="text/calendar")

    async def answer(request: Request) -> Response:
        watch = Stopwatch(site.metrics, "GET", "/calendar/{secret}.ics")
        try:
            response = await run_in_threadpool(made, request)
        except HTTPException as error:
            watch.stop(error.status_code)
            raise
        watch.stop(response.status_code)
        return response

    return answer
