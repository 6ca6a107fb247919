"""What a page knows when it is asked for: who asks, for which programme, in which language."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from sequoia.errors import ProblemError
from sequoia_programme.accounts import Account
from sequoia_programme.calendar import UnreadableDate
from sequoia_programme.outcomes import ATTEMPTS, CANCELLED
from sequoia_programme.settings import Programme
from sequoia_programme.web.jobs import Jobs
from sequoia_programme.web.metrics import Metrics
from sequoia_programme.web.planner import PlannerProcess
from sequoia_programme.web.uploads import Uploads
from sequoia_programme.web.words import LANGUAGES, Words

SESSION, LANGUAGE, SAID, KEY = "session", "language", "said", "key"
# The path at which the key is shown.
ENTER = "/enter"
# A message waits so many seconds for the page that shows it.
_MESSAGE_SECONDS = 60
# Those who sign in at once, and wait for each other; others keep the threads that answer pages.
_MOST_SIGN_INS = 8


@dataclass(frozen=True, eq=False)
class Site:
    """What all pages share.

    Attributes
    ----------
    today
        Says what day it is.
    patience
        How many seconds a page waits for a plan before it says that one is being made.
    sign_ins
        Held by each who signs in.
    key
        What lets in whoever sits at this machine, where there are no accounts; empty where nothing
        is asked.
    """

    folder: Path
    planner: PlannerProcess
    jobs: Jobs
    uploads: Uploads
    today: Callable[[], date] = date.today
    patience: float = 0.1
    sign_ins: threading.Semaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(_MOST_SIGN_INS)
    )
    key: str = ""
    metrics: Metrics = field(default_factory=Metrics)
    templates: Environment = field(default_factory=lambda: _templates())


def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("sequoia_programme.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["not_visited"] = (*ATTEMPTS, CANCELLED)
    made.filters["zip_same"] = lambda names: [(name, name) for name in names]
    return made


@dataclass(frozen=True, eq=False)
class Call:
    """One request.

    Attributes
    ----------
    account
        Who asks; ``None`` where nobody signed in. Where there are no accounts, whoever sits at
        this machine may do everything.
    csrf
        What forms of this session carry.
    form
        What was sent.
    """

    request: Request
    site: Site
    programme: Programme
    account: Account | None
    words: Words
    csrf: str
    form: FormData

    def page(self, template: str, status: int = 200, /, **values: Any) -> Response:
        """Return a page."""
        content = self.site.templates.get_template(template).render(
            t=self.words,
            call=self,
            account=self.account,
            programme=self.programme,
            csrf=self.csrf,
            languages=LANGUAGES,
            here=self.request.url.path,
            said=unquote(self.request.cookies.get(SAID, "")),
            today=self.site.today(),
            unit=self.programme.unit or self.words("unit"),
            **values,
        )
        response = HTMLResponse(content, status)
        if SAID in self.request.cookies:
            response.delete_cookie(SAID)
        return response

    def go(self, path: str, message: str = "", **query: object) -> Response:
        """Go to another page, which shows a message."""
        asked = "&".join(f"{key}={quote(str(value))}" for key, value in query.items())
        response = RedirectResponse(f"{path}?{asked}" if asked else path, 303)
        if message:
            response.set_cookie(
                SAID,
                quote(message),
                max_age=_MESSAGE_SECONDS,
                httponly=True,
                samesite="strict",
                secure=self.request.url.scheme == "https",
            )
        return response

    def text(self, name: str, *, longest: int = 1000) -> str:
        """Return a text that was sent, or asked for."""
        value = self.form.get(name, self.request.query_params.get(name, ""))
        if not isinstance(value, str) or len(value) > longest:
            raise ProblemError(f"{name} is no text of at most {longest} characters.")
        return value.strip()

    def day(self, name: str = "date") -> date:
        """Return a date that was sent, or asked for; today unless given."""
        text = self.text(name)
        if not text:
            return self.site.today()
        try:
            return self.programme.calendar.read_date(text)
        except UnreadableDate as error:
            raise ProblemError(f"{error}.") from None

    def number(self, name: str, usual: int, *, least: int = 0, most: int = 10**6) -> int:
        """Return a whole number that was asked for."""
        text = self.text(name)
        if not text:
            return usual
        if not text.isdecimal() or not least <= int(text) <= most:
            raise ProblemError(f"{name} is {text!r}; a number from {least} to {most} is wanted.")
        return int(text)

    def may(self, role: str) -> bool:
        """Whether who asks may do what ``role`` may."""
        return self.account is not None and self.account.may(role)


Page = Callable[[Call], Response]


def static_file(name: str, kind: str) -> Response:
    """Return one of the files of the page at an address of its own."""
    content = files("sequoia_programme.web").joinpath("static", name).read_bytes()
    return Response(content, media_type=kind)


def download(content: bytes, kind: str, name: str) -> Response:
    """Return a file to keep."""
    plain = "".join(c if (c.isalnum() and c.isascii()) or c in "-._" else "-" for c in name)
    headers = {"Content-Disposition": f'attachment; filename="{plain}"'}
    return Response(content, media_type=kind, headers=headers)
