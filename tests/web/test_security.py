"""Nobody gets in who should not, and nothing gets out that should not."""

import pytest
from web_cases import DAY, PASSWORD, csrf, local_page, page_of, send, sign_in, with_accounts

from programme.programme_cases import begin, fill
from sequoia.errors import ProblemError
from sequoia.programme.accounts import ADMINISTER, PLAN, ROLES, SEE
from sequoia.programme.history import read_journal
from sequoia.programme.people import find_people
from sequoia.web import guard
from sequoia.web.app import serve
from sequoia.web.guard import SESSION
from sequoia.web.routes import ROUTES
from sequoia.web.throttle import Throttle

SCRIPT = "<script>alert(1)</script>"
# Where a path has a part to fill in.
EXAMPLES = {"{ending}": ".csv"}


def _path(route):
    path = route.path
    for part, example in EXAMPLES.items():
        path = path.replace(part, example)
    return path


@pytest.fixture(scope="module")
def programme(tmp_path_factory):
    return with_accounts(tmp_path_factory.mktemp("web"))


@pytest.mark.parametrize("role", [None, *ROLES])
def test_every_route_is_for_its_role_only(programme, role):
    client = page_of(programme)
    if role:
        assert sign_in(client, role).status_code == 303
    for route in ROUTES:
        if route.path in ("/login", "/logout"):
            continue
        path = _path(route)
        token = csrf(client)
        if route.method == "GET":
            answer = client.get(path)
        else:
            answer = client.post(path, data={"csrf": token})
        wanted = route.role
        if wanted is None or (role and ROLES.index(role) >= ROLES.index(wanted)):
            assert answer.status_code not in (401, 403), (route.method, path)
            assert "/login" not in answer.headers.get("location", "")
        elif role:
            assert answer.status_code == 403, (route.method, path)
        else:
            assert answer.headers["location"].startswith("/login"), (route.method, path)


@pytest.mark.parametrize("route", [one for one in ROUTES if one.method == "POST"], ids=_path)
def test_what_changes_something_needs_the_token_of_the_session(programme, route):
    client = page_of(programme)
    sign_in(client, ADMINISTER)
    before = len(read_journal(programme, 1000))
    for data in ({}, {"csrf": "0" * 64}, {"csrf": csrf(page_of(programme))}):
        assert client.post(_path(route), data=data).status_code == 403
    good = {"csrf": csrf(client)}
    other = client.post(_path(route), data=good, headers={"sec-fetch-site": "cross-site"})
    assert other.status_code == 403
    assert len(read_journal(programme, 1000)) == before


def test_a_session_begins_with_a_new_token(programme):
    client = page_of(programme)
    client.get("/login")
    given = client.cookies[SESSION]
    answer = sign_in(client, SEE)
    assert client.cookies[SESSION] != given
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    stolen = page_of(programme)
    stolen.cookies.set(SESSION, given)
    assert stolen.get("/").headers["location"].startswith("/login")


def test_who_signs_out_is_out(programme):
    client = page_of(programme)
    sign_in(client, PLAN)
    token = client.cookies[SESSION]
    assert client.get("/").status_code == 200
    send(client, "/logout")
    client.cookies.set(SESSION, token)
    assert client.get("/").headers["location"].startswith("/login")


def test_wrong_passwords_are_slowed_down(programme):
    client = page_of(programme)
    answers = [sign_in(client, SEE, "wrong").status_code for _ in range(7)]
    assert answers == [401] * 5 + [429] * 2
    assert sign_in(client, SEE).status_code == 429


def test_waiting_grows_and_ends():
    now = [0.0]
    throttle = Throttle(lambda: now[0])
    for _ in range(5):
        assert throttle.wait("a") == 0
        throttle.fail("a")
    assert throttle.wait("a", "b") == 2
    now[0] = 2.0
    assert throttle.wait("a") == 0
    throttle.fail("a")
    assert throttle.wait("a") == 4
    throttle.succeed("a")
    assert throttle.wait("a") == 0


@pytest.mark.parametrize("there", ["//evil.example/", "https://evil.example/", "/\\evil.example"])
def test_signing_in_leads_to_no_other_site(programme, there):
    client = page_of(programme)
    answer = send(client, "/login", name=SEE, password=PASSWORD, next=there)
    assert answer.headers["location"] == "/"


def test_every_answer_has_the_headers_that_protect(programme):
    client = page_of(programme)
    for path in ("/", "/login", "/static/page.css", "/nothing"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in policy


def test_no_page_has_script_or_style_inside(tmp_path):
    _, client = local_page(tmp_path)
    for route in ROUTES:
        if route.method == "GET" and "{" not in route.path:
            text = client.get(route.path).text
            assert "style=" not in text
            assert "<style" not in text
            assert "onclick" not in text
            assert text.count("<script") == text.count('<script src="/static/')


def test_without_accounts_the_page_is_for_this_machine_only(tmp_path):
    programme, client = local_page(tmp_path)
    assert client.get("/").status_code == 200
    assert client.get("/", headers={"host": "evil.example"}).status_code == 403
    from starlette.testclient import TestClient

    far = TestClient(client.app, "http://localhost", client=("192.0.2.7", 1))
    assert far.get("/").status_code == 403
    with pytest.raises(ProblemError, match="has no accounts"):
        serve(programme.folder, "0.0.0.0")


def test_the_first_account_signs_in_whoever_made_it(tmp_path):
    _, client = local_page(tmp_path)
    send(client, "/accounts/add", name="anna", role="administer", password=PASSWORD)
    assert client.get("/accounts").status_code == 200
    client.cookies.clear()
    assert client.get("/").headers["location"].startswith("/login")


def test_names_are_text_on_every_page(tmp_path):
    programme = begin(tmp_path)
    name = SCRIPT.replace("/", "")
    roster = f'name,group,cost,x,y\n"{name}",{name},20,1,1\nAda,{name},20,2,2\n'
    fill(programme, tmp_path, roster, f'name,capacity\n"{name}",60\n', "")
    (programme.folder / "transitions.csv").write_text(
        "dose,state,good,at risk,lapsed\n"
        + "".join(f"{d},{s},0.5,0.3,0.2\n" for d in ("none", "visit") for s in programme.states)
    )
    client = page_of(programme)
    send(client, "/today/wish", add="must:Ada", date=str(DAY))
    send(client, "/today/wish", add=f"absent:{SCRIPT}", date=str(DAY))
    send(client, "/today/undo", date=str(DAY))
    send(client, "/people/note", who=name, words=SCRIPT)
    for path in [_path(one) for one in ROUTES if one.method == "GET"]:
        for query in ("", f"?who={name}&view=map&search={SCRIPT}&date={SCRIPT}&next={SCRIPT}"):
            answer = client.get(path + query)
            is_page = answer.headers.get("content-type", "").startswith("text/html")
            if is_page and "content-disposition" not in answer.headers:
                assert "<script>" not in answer.text, path


@pytest.mark.parametrize(
    "text",
    ["'; DROP TABLE roster; --", '" OR 1=1 --', "%", "../../etc/passwd", "\x00", "9" * 2000],
)
def test_strange_texts_do_no_harm(tmp_path, text):
    programme, client = local_page(tmp_path)
    token = csrf(client)
    for route in ROUTES:
        if route.path in ("/logout", "/login"):
            continue
        names = ("who", "date", "search", "view", "text", "add", "remove", "name", "next", "digest")
        names += ("state", "by", "key", "words", "group", "cost", "first", "last", "left", "page")
        values = dict.fromkeys(names, text)
        if route.method == "GET":
            answer = client.get(_path(route), params=values)
        else:
            answer = client.post(_path(route), data={**values, "csrf": token})
        assert answer.status_code < 500, (route.path, text)
    assert find_people(programme, DAY, search="Ada").total == 1


@pytest.mark.parametrize(
    "path",
    ["/static/../guard.py", "/static/%2e%2e/guard.py", "/static/..%2fguard.py", "/today/file.py"],
)
def test_no_path_leads_out(tmp_path, path):
    _, client = local_page(tmp_path)
    assert client.get(path).status_code == 404


def test_too_much_is_refused(tmp_path, monkeypatch):
    _, client = local_page(tmp_path)
    monkeypatch.setattr(guard, "MOST_BYTES", 1000)
    assert send(client, "/today/wish", text="x" * 2000).status_code == 413
