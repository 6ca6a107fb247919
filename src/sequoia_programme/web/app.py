"""The page as an application, and how it is served."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sequoia.errors import ProblemError, SequoiaError
from sequoia_programme.accounts import has_accounts
from sequoia_programme.settings import read_programme
from sequoia_programme.standing import standing
from sequoia_programme.web.api import api_routes
from sequoia_programme.web.call import LANGUAGE, Site
from sequoia_programme.web.connections import TimedConnection
from sequoia_programme.web.guard import SafeHeaders, headers_for
from sequoia_programme.web.jobs import Jobs
from sequoia_programme.web.planner import PlannerProcess
from sequoia_programme.web.routes import ROUTES
from sequoia_programme.web.state import state_routes
from sequoia_programme.web.uploads import Uploads
from sequoia_programme.web.words import choose_language, words_in

_LOG = logging.getLogger("uvicorn.error")
_REQUESTS = logging.getLogger("sequoia.requests")
LOCAL = ("127.0.0.1", "localhost", "::1")


def create_app(
    folder: Path,
    today: date | None = None,
    planner: PlannerProcess | None = None,
    patience: float = Site.patience,
    key: str = "",
) -> Starlette:
    """Return the page of the programme in ``folder``.

    Parameters
    ----------
    today
        What day it is taken to be; the day it is, unless given.
    planner
        Who makes plans; a process of its own, unless given.
    patience, key
        See `Site`.
    """
    planner = PlannerProcess(folder) if planner is None else planner
    clock = date.today if today is None else lambda: today
    site = Site(folder, planner, Jobs(folder), Uploads(folder), clock, patience, key=key)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        site.planner.close()
        site.jobs.close()
        site.uploads.clear()

    async def refuse(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return _refusal(site, request, error)

    async def cannot_open(request: Request, error: Exception) -> Response:
        # Where its folder is, and what is in it, is nothing for whoever did not sign in.
        _LOG.error("%s", error)
        return _refusal(site, request, HTTPException(503, "the programme cannot be opened"))

    async def fail(request: Request, _: Exception) -> Response:
        # Starlette answers this outside of the middleware; the error goes on to the log.
        answer = _refusal(site, request, HTTPException(500, "something went wrong in the server"))
        answer.headers.update(headers_for(request.scope))
        return answer

    static = StaticFiles(packages=[("sequoia_programme.web", "static")])
    routes = [Route(one.path, one.endpoint(site), methods=[one.method]) for one in ROUTES]
    app = Starlette(
        routes=[*routes, *state_routes(site), *api_routes(site), Mount("/static", static)],
        middleware=[Middleware(SafeHeaders)],
        exception_handlers={
            HTTPException: refuse,
            SequoiaError: cannot_open,
            Exception: fail,
        },
        lifespan=lifespan,
    )
    app.state.site = site
    # It would lead to a whole address, of whichever host and scheme the request says.
    app.router.redirect_slashes = False
    return app


def _refusal(site: Site, request: Request, error: HTTPException) -> Response:
    """Say that something is not there or not allowed, to a person or a script."""
    if request.headers.get("accept", "").startswith("application/json"):
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)
    language = choose_language(
        request.cookies.get(LANGUAGE, ""), request.headers.get("accept-language", "")
    )
    content = site.templates.get_template("plain.html").render(
        t=words_in(language), status=error.status_code, detail=error.detail
    )
    return Response(content, error.status_code, error.headers, "text/html")


def serve(
    folder: Path,
    host: str = LOCAL[0],
    port: int = 8000,
    *,
    certificate: Path | None = None,
    key: Path | None = None,
    today: date | None = None,
    proxy: str = "",
    insecure: bool = False,
    logs: bool = False,
    entry: str = "",
    begins: Callable[[], None] = lambda: None,
) -> None:
    """Serve the page until the process is told to end.

    Parameters
    ----------
    certificate, key
        For HTTPS, as PEM files.
    proxy
        The addresses or networks of servers in front of this one, with commas between them, whose
        word on who asks, and how, is believed.
    insecure
        Whether other machines may be let in without TLS.
    logs
        Whether each request is a line of JSON on the standard error.
    entry
        The key of `Site`.
    begins
        Called when nothing speaks against it, before it begins.

    Raises
    ------
    ProblemError
        When other machines could reach a programme that has no accounts, or read passwords on
        their way.
    """
    programme = read_programme(folder)
    standing(programme)
    if (proxy or host not in LOCAL) and not has_accounts(programme):
        raise ProblemError(
            f"{proxy or host} lets other machines in, and the programme has no accounts; "
            f"sequoia programme account add {folder} NAME --role administer adds one."
        )
    if host not in LOCAL and certificate is None and not proxy and not insecure:
        raise ProblemError(
            f"{host} lets other machines in, and without TLS others on the network can read "
            "passwords and records; --certificate with --key, --behind-proxy ADDRESS or, where "
            "that does not matter, --insecure is wanted."
        )
    if logs:
        _REQUESTS.addHandler(logging.StreamHandler())
        _REQUESTS.setLevel(logging.INFO)
        _REQUESTS.propagate = False
    app = create_app(folder, today, key=entry)
    begins()
    options = server_options(proxy)
    uvicorn.run(app, host=host, port=port, ssl_certfile=certificate, ssl_keyfile=key, **options)


def server_options(proxy: str = "") -> dict[str, Any]:
    """Return how the page is served, wherever that is."""
    return {
        "log_level": "warning",
        # Who asked for what is in the journal; addresses of pages may name people.
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": 5,
        "http": TimedConnection,
        # So many are accepted before those that are too many are cut: each takes an open file.
        "backlog": 32,
        # The page has none; whoever asks for one would leave the times and limits above.
        "ws": "none",
        # Anybody can write such a header.
        "proxy_headers": bool(proxy),
        "forwarded_allow_ips": proxy or None,
    }
