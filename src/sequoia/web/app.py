"""The page as an application, and how it is served."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sequoia.errors import ProblemError
from sequoia.programme.accounts import has_accounts
from sequoia.programme.settings import read_programme
from sequoia.programme.standing import standing
from sequoia.web.call import LANGUAGE, Site
from sequoia.web.guard import SafeHeaders
from sequoia.web.jobs import Jobs
from sequoia.web.planner import PlannerProcess
from sequoia.web.routes import ROUTES
from sequoia.web.uploads import Uploads
from sequoia.web.words import choose_language, words_in

LOCAL = ("127.0.0.1", "localhost", "::1")


def create_app(
    folder: Path,
    today: date | None = None,
    planner: PlannerProcess | None = None,
    patience: float = Site.patience,
) -> Starlette:
    """Return the page of the programme in ``folder``.

    Parameters
    ----------
    today
        What day it is taken to be; the day it is, unless given.
    planner
        Who makes plans; a process of its own, unless given.
    patience
        See `Site`.
    """
    planner = PlannerProcess(folder) if planner is None else planner
    clock = date.today if today is None else lambda: today
    site = Site(folder, planner, Jobs(folder), Uploads(folder), clock, patience)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        site.planner.close()
        site.jobs.close()
        site.uploads.clear()

    async def refuse(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return _refusal(site, request, error)

    static = StaticFiles(packages=[("sequoia.web", "static")])
    routes = [Route(one.path, one.endpoint(site), methods=[one.method]) for one in ROUTES]
    return Starlette(
        routes=[*routes, Mount("/static", static)],
        middleware=[Middleware(SafeHeaders)],
        exception_handlers={HTTPException: refuse},
        lifespan=lifespan,
    )


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
) -> None:
    """Serve the page until the process is told to end.

    Parameters
    ----------
    certificate, key
        For HTTPS, as PEM files.

    Raises
    ------
    ProblemError
        When other machines could reach a programme that has no accounts.
    """
    programme = read_programme(folder)
    standing(programme)
    if host not in LOCAL and not has_accounts(programme):
        raise ProblemError(
            f"{host} can be reached from other machines, and the programme has no accounts; "
            f"sequoia programme account add {folder} NAME --role administer adds one."
        )
    uvicorn.run(
        create_app(folder, today),
        host=host,
        port=port,
        log_level="warning",
        # Who asked for what is in the journal; addresses of pages may name people.
        access_log=False,
        server_header=False,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        timeout_graceful_shutdown=5,
    )
