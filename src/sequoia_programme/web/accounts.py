"""Signing in and out, the language, accounts and the journal."""

import hashlib
import math
from ipaddress import ip_address, ip_network

from starlette.exceptions import HTTPException
from starlette.responses import Response

from sequoia.problem.names import composed
from sequoia_programme.accounts import (
    ROLES,
    add_account,
    all_accounts,
    change_account,
    end_session,
    has_accounts,
    mark_device,
    open_session,
    remove_account,
    sign_in,
)
from sequoia_programme.history import read_journal
from sequoia_programme.web.call import KEY, LANGUAGE, SESSION, Call
from sequoia_programme.web.guard import is_key, set_cookie, set_session
from sequoia_programme.web.words import LANGUAGES

_A_YEAR = 365 * 24 * 3600
_LINES = 200
# When all who look at passwords are busy, a moment later one is not.
_BUSY_SECONDS = 2.0


def enter(call: Call) -> Response:
    """Let whoever has the key in, where there are no accounts."""
    key = call.text("key")
    if not call.site.key:
        raise HTTPException(404)
    if not is_key(call.site, key):
        raise HTTPException(403, "open the address that sequoia serve printed when it began")
    response = call.go("/")
    set_cookie(response, call.request, KEY, key)
    return response


def show_login(call: Call) -> Response:
    """Ask for a name and a password."""
    return call.page("login.html", next=_safe_path(call.text("next")), wrong="")


def login(call: Call) -> Response:
    """Begin a session: with a new token, so that nobody knows it beforehand."""
    next_page = _safe_path(call.text("next"))
    if not call.site.sign_ins.acquire(blocking=False):
        return _wait(call, next_page, _BUSY_SECONDS)
    try:
        return _login(call, next_page)
    finally:
        call.site.sign_ins.release()


def _login(call: Call, next_page: str) -> Response:
    name, password = call.text("name"), str(call.form.get("password", ""))
    device = _device_cookie(name)
    mark = call.request.cookies.get(device, "")
    found = sign_in(call.programme, name, password, _address(call), mark)
    if found.wait:
        return _wait(call, next_page, found.wait)
    if found.account is None:
        return call.page("login.html", 401, next=next_page, wrong=call.words("login.wrong"))
    response = call.go(next_page)
    end_session(call.programme, call.request.cookies.get(SESSION, ""))
    set_session(response, call.request, open_session(call.programme, found.account))
    set_cookie(response, call.request, device, mark_device(call.programme, found.account), _A_YEAR)
    return response


def _wait(call: Call, next_page: str, seconds: float) -> Response:
    """Say when to try again."""
    wrong = call.words("login.wait", n=math.ceil(seconds))
    return call.page("login.html", 429, next=next_page, wrong=wrong)


def _device_cookie(name: str) -> str:
    """Return which cookie marks a browser that an account signed in with."""
    return f"device-{hashlib.sha256(composed(name).strip().encode()).hexdigest()[:16]}"


def _address(call: Call) -> str:
    """Return from where somebody asks: of IPv6 the network, as everybody has one to himself."""
    host = call.request.client.host if call.request.client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    return str(ip_network((address, 64), strict=False)) if address.version == 6 else host


def logout(call: Call) -> Response:
    """End the session."""
    end_session(call.programme, call.request.cookies.get(SESSION, ""))
    response = call.go("/login")
    response.delete_cookie(SESSION, path="/")
    return response


def set_language(call: Call) -> Response:
    """Remember which language somebody reads."""
    response = call.go(_safe_path(call.text("next")))
    language = call.text("language")
    if language in LANGUAGES:
        response.set_cookie(
            LANGUAGE, language, max_age=_A_YEAR, httponly=True, samesite="lax", path="/"
        )
    return response


def show(call: Call) -> Response:
    """List the accounts."""
    return call.page("accounts.html", accounts=all_accounts(call.programme), roles=ROLES)


def add(call: Call) -> Response:
    """Add an account; who adds the first one is signed in with it."""
    is_first = not has_accounts(call.programme)
    password = str(call.form.get("password", ""))
    account = add_account(call.programme, call.text("name"), call.text("role"), password)
    response = call.go("/accounts", call.words("accounts.added", name=account.name))
    if is_first:
        set_session(response, call.request, open_session(call.programme, account))
    return response


def change(call: Call) -> Response:
    """Give an account another role or another password."""
    name = call.text("name")
    change_account(
        call.programme,
        name,
        role=call.text("role") or None,
        password=str(call.form.get("password", "")) or None,
    )
    return call.go("/accounts", call.words("accounts.changed", name=name))


def remove(call: Call) -> Response:
    """Remove an account."""
    name = call.text("name")
    remove_account(call.programme, name)
    return call.go("/accounts", call.words("accounts.removed", name=name))


def show_journal(call: Call) -> Response:
    """Show who did what."""
    return call.page("journal.html", lines=read_journal(call.programme, _LINES))


def _safe_path(text: str) -> str:
    """Return a path of ours; anything else would lead to another site."""
    is_ours = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable()
    return text if is_ours else "/"
