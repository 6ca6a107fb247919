"""How the server is: for whoever starts it again, sends it requests or watches it."""

from collections.abc import Awaitable, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from sequoia.errors import SequoiaError
from sequoia_programme.settings import read_programme
from sequoia_programme.tokens import METRICS, Token, find_token
from sequoia_programme.web.call import Site
from sequoia_programme.web.metrics import KIND


def state_routes(site: Site) -> list[Route]:
    """Return the addresses that say how the server is, and nothing of the programme."""
    return [
        Route("/health", _health),
        Route("/ready", _ready(site)),
        Route("/metrics", _metrics(site)),
    ]


def token_of(site: Site, request: Request) -> Token | None:
    """Return the token that a request carries, if it is a good one."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not secret.strip():
        return None
    return find_token(read_programme(site.folder), secret.strip())


async def _health(_: Request) -> Response:
    """Say that the server answers."""
    return PlainTextResponse("ok\n")


def _ready(site: Site) -> Callable[[Request], Awaitable[Response]]:
    def look() -> Response:
        """Say whether the programme can be opened; why not is in the log only."""
        try:
            with read_programme(site.folder).store.open().reading():
                return PlainTextResponse("ready\n")
        except SequoiaError:
            return PlainTextResponse("the programme cannot be opened\n", 503)

    async def ready(_: Request) -> Response:
        return await run_in_threadpool(look)

    return ready


def _metrics(site: Site) -> Callable[[Request], Awaitable[Response]]:
    def numbers(request: Request) -> Response:
        token = token_of(site, request)
        if token is None:
            headers = {"WWW-Authenticate": "Bearer"}
            return PlainTextResponse("a token is wanted\n", 401, headers)
        if METRICS not in token.scopes:
            return PlainTextResponse(f"the token is not for {METRICS}\n", 403)
        job = site.jobs.last
        text = site.metrics.text(site.planner.line, job is not None and job.is_running)
        return Response(text, media_type=KIND)

    async def metrics(request: Request) -> Response:
        return await run_in_threadpool(numbers, request)

    return metrics
