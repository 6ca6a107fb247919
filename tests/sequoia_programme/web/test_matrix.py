"""Every address, by every role, with every method: what somebody may is written down here."""

import pytest
from web_cases import csrf, page_of, sign_in, with_accounts

from sequoia_programme.accounts import ROLES
from sequoia_programme.web.operations import OPERATIONS
from sequoia_programme.web.routes import ROUTES

# Who may reach an address: V sees numbers, W visits, P plans, A administers, S is a stranger.
MATRIX = {
    "GET /enter": "SVWPA",
    "GET /login": "SVWPA",
    "POST /login": "SVWPA",
    "POST /language": "SVWPA",
    "GET /offline.js": "SVWPA",
    "POST /logout": "VWPA",
    "GET /account": "VWPA",
    "POST /account/password": "VWPA",
    "POST /account/end": "VWPA",
    "POST /account/calendar": "W",
    "GET /": "VWPA",
    "GET /today/why": "PA",
    "GET /today/compare": "PA",
    "GET /today/file{ending}": "PA",
    "POST /today/wish": "PA",
    "POST /today/undo": "PA",
    "POST /today/stop": "PA",
    "POST /today/publish": "PA",
    "POST /today/withdraw": "PA",
    "GET /my": "WPA",
    "GET /record": "PA",
    "POST /record/send": "WPA",
    "GET /people": "PA",
    "GET /people/names": "PA",
    "GET /people/one": "PA",
    "POST /people/add": "PA",
    "POST /people/pause": "PA",
    "POST /people/leave": "PA",
    "POST /people/note": "PA",
    "GET /staff": "PA",
    "POST /staff/change": "PA",
    "POST /staff/absent": "PA",
    "POST /staff/leave": "PA",
    "POST /staff/rule": "PA",
    "POST /staff/rule/remove": "PA",
    "GET /numbers": "VPA",
    "GET /quality": "VPA",
    "POST /quality/start": "PA",
    "POST /quality/stop": "PA",
    "GET /import": "A",
    "POST /import/check": "A",
    "POST /import/start": "A",
    "GET /accounts": "A",
    "POST /accounts/add": "A",
    "POST /accounts/change": "A",
    "POST /accounts/remove": "A",
    "GET /journal": "A",
}
LETTERS = {None: "S", **{role: role[0].upper() for role in ROLES}}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
# They end or change the session that the test goes on with.
ENDING = ("/login", "/logout", "/account/password", "/account/end")


@pytest.fixture(scope="module")
def programme(tmp_path_factory):
    return with_accounts(tmp_path_factory.mktemp("matrix"))


# What is reached without a session: by a token (tests of the interface), by a secret, by anybody.
OTHERS = {"/health", "/ready", "/metrics", "/static", "/calendar/{secret}.ics"}
OTHERS |= {f"/api/v1{path}" for path in ("/openapi.json", "/export{ending}")}


def test_every_route_has_its_entry(programme):
    assert {f"{one.method} {one.path}" for one in ROUTES} == set(MATRIX)
    pages = {entry.split()[1] for entry in MATRIX}
    operations = {f"/api/v1{one.path}" for one in OPERATIONS}
    there = {route.path for route in page_of(programme).app.routes}
    assert there == pages | operations | OTHERS


@pytest.mark.parametrize("role", [None, *ROLES])
def test_everybody_reaches_what_is_theirs_and_nothing_else(programme, role):
    client = page_of(programme)
    if role:
        assert sign_in(client, role).status_code == 303
    token = csrf(client)
    paths = {entry.split()[1] for entry in MATRIX}
    for path in sorted(paths):
        for method in METHODS:
            entry = f"{method} {path}"
            if method == "POST" and path in ENDING and LETTERS[role] in MATRIX[entry]:
                continue
            data = {"csrf": token} if method == "POST" else None
            answer = client.request(method, path.replace("{ending}", ".csv"), data=data)
            status, there = answer.status_code, answer.headers.get("location", "")
            if entry not in MATRIX:
                assert status == 405, entry
            elif LETTERS[role] in MATRIX[entry]:
                assert status not in (401, 403, 405), entry
                assert not there.startswith("/login"), entry
            elif role:
                assert status == 403, entry
            else:
                assert there.startswith("/login"), entry


@pytest.mark.parametrize("role", ROLES)
def test_without_its_token_no_form_does_anything(programme, role):
    client, other = page_of(programme), page_of(programme)
    sign_in(client, role)
    foreign = csrf(other)
    for entry, who in MATRIX.items():
        method, path = entry.split()
        if method == "POST" and LETTERS[role] in who:
            for data in ({}, {"csrf": foreign}):
                assert client.post(path, data=data).status_code == 403, entry
