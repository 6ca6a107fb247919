"""Signing in and out, the language, accounts and the journal."""

import math

from starlette.responses import Response

from sequoia.programme.accounts import (
    ROLES,
    add_account,
    all_accounts,
    change_account,
    check_password,
    end_session,
    has_accounts,
    open_session,
    remove_account,
)
from sequoia.programme.history import read_journal
from sequoia.web.call import LANGUAGE, SESSION, Call
from sequoia.web.guard import set_session
from sequoia.web.words import LANGUAGES

_A_YEAR = 365 * 24 * 3600
_LINES = 200


def show_login(call: Call) -> Response:
    """Ask for a name and a password."""
    return call.page("login.html", next=_safe_path(call.text("next")), wrong="")


def login(call: Call) -> Response:
    """Begin a session: with a new token, so that nobody knows it beforehand."""
    name, password = call.text("name"), str(call.form.get("password", ""))
    client = call.request.client
    keys = (f"name {name.casefold()}", f"from {client.host if client else ''}")
    throttle, next_page = call.site.throttle, _safe_path(call.text("next"))
    wait = throttle.wait(*keys)
    if wait:
        wrong = call.words("login.wait", n=math.ceil(wait))
        return call.page("login.html", 429, next=next_page, wrong=wrong)
    account = check_password(call.programme, name, password)
    if account is None:
        throttle.fail(*keys)
        return call.page("login.html", 401, next=next_page, wrong=call.words("login.wrong"))
    throttle.succeed(*keys)
    response = call.go(next_page)
    set_session(response, call.request, open_session(call.programme, account))
    return response


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
