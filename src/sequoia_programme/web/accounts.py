"""Signing in and out, the language, accounts and the journal."""

import hashlib
import math
from ipaddress import ip_address, ip_network

from starlette.exceptions import HTTPException
from starlette.responses import Response

from sequoia.problem.names import composed
from sequoia_programme.accounts import (
    ROLES,
    Account,
    add_account,
    all_accounts,
    change_account,
    change_own_password,
    end_session,
    end_session_of,
    has_accounts,
    mark_device,
    open_session,
    remove_account,
    sessions_of,
    sign_in,
)
from sequoia_programme.history import read_journal
from sequoia_programme.members import members
from sequoia_programme.schema import WORKER
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
    _begin(call, response, found.account)
    set_cookie(response, call.request, device, mark_device(call.programme, found.account), _A_YEAR)
    return response


def _begin(call: Call, response: Response, account: Account) -> None:
    token = open_session(call.programme, account, _device(call))
    set_session(response, call.request, token)


# What browsers say that they are, the ones that pretend to be others first; the same for systems.
_BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome"}
_BROWSERS |= {"Safari": "Safari"}
_SYSTEMS = {"Android": "Android", "iPhone": "iPhone", "iPad": "iPad", "Windows": "Windows"}
_SYSTEMS |= {"Mac OS": "macOS", "Linux": "Linux"}


def _device(call: Call) -> str:
    """Return which browser asks, in a word or two."""
    agent = call.request.headers.get("user-agent", "")
    parts = [
        next((name for sign, name in names.items() if sign in agent), "")
        for names in (_BROWSERS, _SYSTEMS)
    ]
    return ", ".join(part for part in parts if part)


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
        set_cookie(response, call.request, LANGUAGE, language, _A_YEAR)
    return response


def show_own(call: Call) -> Response:
    """Show somebody's own account, and where they are signed in."""
    return _own(call, "")


def _own(call: Call, wrong: str) -> Response:
    name, token = call.programme.actor, call.request.cookies.get(SESSION, "")
    found = sessions_of(call.programme, name, token) if name else []
    return call.page("account.html", 422 if wrong else 200, sessions=found, wrong=wrong)


def change_own(call: Call) -> Response:
    """Give somebody's own account another password; whoever does not know the old one does not."""
    name = call.programme.actor
    if not call.site.sign_ins.acquire(blocking=False):
        return _own(call, call.words("login.wait", n=math.ceil(_BUSY_SECONDS)))
    try:
        old = sign_in(call.programme, name, str(call.form.get("old", "")), _address(call))
        if old.wait:
            return _own(call, call.words("login.wait", n=math.ceil(old.wait)))
        if old.account is None:
            return _own(call, call.words("account.wrong"))
        token = call.request.cookies.get(SESSION, "")
        change_own_password(call.programme, name, str(call.form.get("password", "")), token)
    finally:
        call.site.sign_ins.release()
    return call.go("/account", call.words("account.password changed"))


def end_own_session(call: Call) -> Response:
    """End one of somebody's own sessions."""
    end_session_of(call.programme, call.programme.actor, call.text("session"))
    return call.go("/account", call.words("account.session ended"))


def show(call: Call) -> Response:
    """List the accounts."""
    with call.programme.store.open().reading() as connection:
        staff = [one.name for one in members(connection, WORKER)]
    return call.page(
        "accounts.html", accounts=all_accounts(call.programme), roles=ROLES, staff=staff
    )


def add(call: Call) -> Response:
    """Add an account; who adds the first one is signed in with it."""
    is_first = not has_accounts(call.programme)
    password = str(call.form.get("password", ""))
    account = add_account(
        call.programme, call.text("name"), call.text("role"), password, call.text("worker")
    )
    response = call.go("/accounts", call.words("accounts.added", name=account.name))
    if is_first:
        _begin(call, response, account)
    return response


def change(call: Call) -> Response:
    """Give an account another role or another password."""
    name = call.text("name")
    change_account(
        call.programme,
        name,
        role=call.text("role") or None,
        password=str(call.form.get("password", "")) or None,
        worker=call.text("worker"),
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
