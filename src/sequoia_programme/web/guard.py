"""Who gets in: every page is reached through here, and says which role it needs.

The rules: a page of a role is for accounts of that role or a higher one. Where a programme has no
accounts, whoever sits at this machine may do everything, and nobody else anything. What changes
something must come from a form of ours (the token against cross-site request forgery), and from no
other site by what the browser says (Sec-Fetch-Site).
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sequoia.errors import SequoiaError
from sequoia_programme.accounts import ADMINISTER, Account, find_session, has_accounts
from sequoia_programme.settings import read_programme
from sequoia_programme.web.call import ENTER, KEY, LANGUAGE, SESSION, Call, Page, Site
from sequoia_programme.web.metrics import Stopwatch
from sequoia_programme.web.planner import StillComputing
from sequoia_programme.web.words import choose_language, words_in

# The largest form with sheets; those of a roster are far below.
SHEET_BYTES = 20_000_000
# The largest other form: names for all columns of three sheets.
_FORM_BYTES = 2_000_000
# The largest form of somebody who did not sign in: a name and a password.
_STRANGER_BYTES = 10_000
_MOST_FIELDS, _MOST_FILES = 2000, 3
_IN_UTF8 = re.compile(r"charset=\"?utf-?8\"?\s*(;|$)")
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")

# For so many seconds a browser that came by HTTPS comes by nothing else: a month, so that a server
# that loses its certificate is not lost for a year.
_HTTPS_ONLY = 30 * 24 * 3600

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True)
class Guarded:
    """A page, and who may reach it.

    Attributes
    ----------
    method, path
        How it is reached.
    role
        Who may; ``None`` for everybody, signed in or not.
    most_bytes
        How large a form may be.
    """

    method: str
    path: str
    role: str | None
    page: Page
    most_bytes: int = _FORM_BYTES

    def endpoint(self, site: Site) -> Callable[[Request], Awaitable[Response]]:
        """Return what Starlette calls."""

        async def answer(request: Request) -> Response:
            watch, status = Stopwatch(site.metrics, self.method, self.path), 500
            try:
                response = await admitted(request)
                status = response.status_code
                return response
            except HTTPException as error:
                status = error.status_code
                raise
            finally:
                watch.stop(status)

        async def admitted(request: Request) -> Response:
            most = self.most_bytes if self.role else _STRANGER_BYTES
            own = Request(request.scope, limited(request.receive, most))
            token = request.cookies.get(SESSION, "")
            call = await run_in_threadpool(_admit, site, own, token)
            # Nothing is read of whoever is refused anyway.
            refused = self._refusal(call)
            if refused is None and self.method == "POST":
                call = replace(call, form=await _form_of(own))
            try:
                if refused is None and self.method == "POST":
                    _require_own_form(call)
                response = await run_in_threadpool(self._page, call) if refused is None else refused
            finally:
                await call.form.close()
            if not token and not call.request.cookies.get(SESSION):
                set_session(response, call.request, call.request.state.token)
            return response

        return answer

    def _page(self, call: Call) -> Response:
        try:
            return self.page(call)
        except SequoiaError as error:
            return call.page("error.html", 422, lines=error.lines)
        except StillComputing:
            return call.page("error.html", 503, lines=["the plan is still being computed"])

    def _refusal(self, call: Call) -> Response | None:
        if self.role is None or call.may(self.role):
            return None
        if call.account is not None:
            return call.page("refused.html", 403, role=self.role)
        if call.request.headers.get("accept", "").startswith("application/json"):
            raise HTTPException(401)
        if self.method != "GET":
            return call.go("/login", call.words("login.ended"))
        return call.go("/login", next=_local_path(call.request))


def set_session(response: Response, request: Request, token: str) -> None:
    """Give the browser a session's token, which scripts cannot read."""
    set_cookie(response, request, SESSION, token)


def set_cookie(
    response: Response, request: Request, name: str, value: str, seconds: int | None = None
) -> None:
    """Give the browser a cookie that scripts cannot read, until it is closed unless given."""
    is_safe = request.url.scheme == "https"
    response.set_cookie(
        name, value, seconds, httponly=True, samesite="lax", secure=is_safe, path="/"
    )


def csrf_of(token: str) -> str:
    """Return what the forms of a session carry: nobody gets one from the other."""
    return hashlib.sha256(f"form {token}".encode()).hexdigest()


def _admit(site: Site, request: Request, token: str) -> Call:
    """Say who asks."""
    account: Account | None
    programme = read_programme(site.folder)
    if has_accounts(programme):
        account = find_session(programme, token) if token else None
    else:
        _require_local(request)
        _require_key(site, request)
        account = Account("", ADMINISTER)
    request.state.token = token or secrets.token_urlsafe(32)
    language = choose_language(
        request.cookies.get(LANGUAGE, ""), request.headers.get("accept-language", "")
    )
    return Call(
        request=request,
        site=site,
        programme=replace(programme, actor=account.name if account else ""),
        account=account,
        words=words_in(language),
        csrf=csrf_of(request.state.token),
        form=FormData(),
    )


def _require_local(request: Request) -> None:
    """Refuse other machines, and names that point here only by a trick (DNS rebinding)."""
    client = request.client.host if request.client else ""
    host = request.url.hostname or ""
    try:
        is_here = ip_address(client).is_loopback and host in _LOCAL_NAMES
    except ValueError:
        is_here = False
    if not is_here:
        raise HTTPException(403, "without accounts the page is for this machine only")


def _require_key(site: Site, request: Request) -> None:
    """Refuse whoever reached this machine through another server that seems to be local."""
    sent = request.cookies.get(KEY, "")
    if site.key and request.url.path != ENTER and not is_key(site, sent):
        raise HTTPException(403, "open the address that sequoia serve printed when it began")


def is_key(site: Site, sent: str) -> bool:
    """Whether a text is the key that was printed when the server began."""
    return bool(site.key) and hmac.compare_digest(sent.encode(), site.key.encode())


async def _form_of(request: Request) -> FormData:
    """Read a form in UTF-8, the only encoding of ours: some others decode to what is no text."""
    kind = request.headers.get("content-type", "").lower()
    if "charset" in kind and not _IN_UTF8.search(kind):
        raise HTTPException(415, "the form is not in UTF-8")
    try:
        return await request.form(max_files=_MOST_FILES, max_fields=_MOST_FIELDS)
    except ClientDisconnect:
        raise HTTPException(400, "the form did not arrive whole") from None


def _require_own_form(call: Call) -> None:
    sent = call.form.get("csrf") or call.request.headers.get("x-csrf", "")
    is_own = isinstance(sent, str) and hmac.compare_digest(sent.encode(), call.csrf.encode())
    site = call.request.headers.get("sec-fetch-site", "same-origin")
    if not is_own or site not in ("same-origin", "none"):
        raise HTTPException(403, "the form is not one of ours, or too old; reload the page")


def _local_path(request: Request) -> str:
    query = request.url.query
    return request.url.path + (f"?{query}" if query else "")


def limited(receive: Receive, most: int) -> Receive:
    """Read no more of a request than is allowed."""
    read = 0

    async def counted() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            raise HTTPException(413, f"more than {most:,} bytes were sent")
        return message

    return counted


def headers_for(scope: Scope) -> dict[str, str]:
    """Return what goes with every answer."""
    is_static = scope["path"].startswith("/static/")
    more = {"Cache-Control": "max-age=3600" if is_static else "no-store"}
    if scope["scheme"] == "https":
        more["Strict-Transport-Security"] = f"max-age={_HTTPS_ONLY}"
    return _HEADERS | more


class SafeHeaders:
    """Adds what keeps a browser from being misused; pages are never kept in caches."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        more = headers_for(scope)

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                own = [(key.lower().encode(), value.encode()) for key, value in more.items()]
                message = {**message, "headers": [*message.get("headers", []), *own]}
            await send(message)

        await self._app(scope, receive, sending)
