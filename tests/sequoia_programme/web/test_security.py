"""Nobody gets in who should not, and nothing gets out that should not."""

import csv
import io
import re
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path

import pytest
from openpyxl import load_workbook
from starlette.testclient import TestClient
from web_cases import DAY, PASSWORD, csrf, local_page, page_of, send, sign_in, with_accounts

from programme_cases import TRANSITIONS, begin, fill, known, sheet
from sequoia.errors import ProblemError
from sequoia_programme import accounts
from sequoia_programme.accounts import ADMINISTER, PLAN, VIEW, all_accounts
from sequoia_programme.drafts import set_wish
from sequoia_programme.history import read_journal
from sequoia_programme.people import find_people
from sequoia_programme.store import FILE
from sequoia_programme.web import guard
from sequoia_programme.web.app import create_app, serve
from sequoia_programme.web.guard import SESSION
from sequoia_programme.web.routes import ROUTES

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


def test_what_changes_something_needs_the_token_of_the_session(programme):
    client = page_of(programme)
    sign_in(client, ADMINISTER)
    before = len(read_journal(programme, 1000))
    good, of_another = {"csrf": csrf(client)}, {"csrf": csrf(page_of(programme))}
    for path in [_path(one) for one in ROUTES if one.method == "POST"]:
        for data in ({}, {"csrf": "0" * 64}, of_another):
            assert client.post(path, data=data).status_code == 403, path
        other = client.post(path, data=good, headers={"sec-fetch-site": "cross-site"})
        assert other.status_code == 403, path
        form = {"content-type": "text/plain"}
        assert client.post(path, content=f"csrf={good['csrf']}", headers=form).status_code == 403
    assert len(read_journal(programme, 1000)) == before


def test_a_session_begins_with_a_new_token(programme):
    client = page_of(programme)
    client.get("/login")
    given = client.cookies[SESSION]
    answer = sign_in(client, VIEW)
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


def test_wrong_passwords_are_slowed_down(tmp_path):
    client = page_of(with_accounts(tmp_path))
    answers = [sign_in(client, VIEW, "wrong").status_code for _ in range(7)]
    assert answers == [401] * 5 + [429] * 2
    assert sign_in(client, VIEW).status_code == 429


def test_of_many_who_sign_in_at_once_few_passwords_are_looked_at(tmp_path, monkeypatch):
    programme = with_accounts(tmp_path)
    looked = []

    def check(*_):
        looked.append(1)
        time.sleep(0.05)

    monkeypatch.setattr(accounts, "check_password", check)
    client = page_of(programme)
    token = csrf(client)
    data = {"csrf": token, "name": VIEW, "password": "wrong"}
    with ThreadPoolExecutor(20) as pool:
        sent = [pool.submit(client.post, "/login", data=data) for _ in range(20)]
        answers = sorted(one.result().status_code for one in sent)
    assert len(looked) <= 5
    assert answers == [401] * len(looked) + [429] * (20 - len(looked))


def test_a_stranger_locks_nobody_out(tmp_path, monkeypatch):
    monkeypatch.setattr(accounts, "_NAME_FREE", 10)
    programme = with_accounts(tmp_path)
    own = page_of(programme)
    sign_in(own, PLAN)
    send(own, "/logout")
    for number in range(2):
        far = TestClient(
            own.app, "http://localhost", client=(f"192.0.2.{number}", 1), follow_redirects=False
        )
        for _ in range(6):
            last = sign_in(far, PLAN, "wrong")
        assert last.status_code == 429
    # So many wrong passwords lock every browser but those that were signed in with before.
    assert sign_in(page_of(programme), PLAN).status_code == 429
    assert sign_in(own, PLAN).status_code == 303


def test_a_server_that_begins_again_has_forgotten_no_wrong_password(tmp_path):
    programme = with_accounts(tmp_path)
    for _ in range(5):
        sign_in(page_of(programme), "Zoë", "wrong")
    assert sign_in(page_of(programme), unicodedata.normalize("NFD", "zoë")).status_code == 429


def test_signing_in_anew_ends_the_session_before(tmp_path):
    programme = with_accounts(tmp_path)
    client = page_of(programme)
    sign_in(client, VIEW)
    before = client.cookies[SESSION]
    sign_in(client, VIEW)
    other = page_of(programme)
    other.cookies.set(SESSION, before)
    assert other.get("/").headers["location"].startswith("/login")


@pytest.mark.parametrize("there", ["//evil.example/", "https://evil.example/", "/\\evil.example"])
def test_signing_in_leads_to_no_other_site(programme, there):
    client = page_of(programme)
    answer = send(client, "/login", name=VIEW, password=PASSWORD, next=there)
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


class _Forms(HTMLParser):
    """The forms of a page: where they go, and what their fields hold; texts apart from choices."""

    def __init__(self, text):
        super().__init__()
        self.forms = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if tag == "form":
            self.forms.append((found.get("method"), found["action"], {}, []))
        if not self.forms or "name" not in found:
            return
        _, _, fields, texts = self.forms[-1]
        if tag in ("input", "button", "textarea"):
            fields.setdefault(found["name"], found.get("value", ""))
        if tag == "textarea" or (
            tag == "input" and found.get("type", "text") in ("text", "search")
        ):
            texts.append(found["name"])
        if tag == "select":
            self._choice = found["name"]
        if tag == "option" and self._choice not in fields:
            fields[self._choice] = found.get("value", "")


# What forms need to be accepted, where the page leaves a field empty.
USUAL = {"name": "Somebody", "who": "Ada", "words": "words", "text": "Ada", "names": "Ada"}
USUAL |= {"password": PASSWORD, "state": "good", "kind": "never"}


def test_every_text_field_is_shown_as_text(tmp_path):
    programme, client = local_page(tmp_path)
    # A wish of before wishes were checked.
    set_wish(programme, DAY, "never", SCRIPT)
    pages = ["/", "/record", "/people", "/people/one?who=Ada", "/staff", "/import", "/accounts"]
    sent = 0
    for page in pages:
        # The first account ends what is for everybody at this machine: its form comes last.
        for method, action, fields, texts in _Forms(client.get(page).text).forms:
            for field in texts:
                values = {name: value or USUAL.get(name, "") for name, value in fields.items()}
                values |= {field: f"{SCRIPT}{sent}"}
                ask = client.get if method == "get" else client.post
                answer = ask(action, **{"params" if method == "get" else "data": values})
                assert answer.status_code in (200, 303, 422), (action, field)
                assert "<script>" not in answer.text, (action, field)
                sent += 1
    assert sent >= 14
    for page in [*pages, "/quality", "/journal", "/today/compare", f"/people/one?who={SCRIPT}"]:
        assert "<script>" not in client.get(page).text, page
    assert "&lt;script&gt;" in client.get("/journal").text


def test_what_a_sheet_says_is_shown_as_text(tmp_path):
    _, client = local_page(tmp_path)
    sheet = f"name,{SCRIPT},cost\n{SCRIPT},{SCRIPT},{SCRIPT}\n"
    files = {"arm": (f"{SCRIPT}.csv", sheet)}
    page = client.post("/import/check", data={"csrf": csrf(client)}, files=files)
    assert "&lt;script&gt;" in page.text
    assert "<script>" not in page.text
    upload = re.search(r'name="upload" value="(\w+)"', page.text)[1]
    fields = {"upload": upload, "csrf": csrf(client), "arm 0": "name", "arm 2": "cost"}
    answer = client.post("/import/start", data=fields)
    assert answer.status_code == 422
    assert "<script>" not in answer.text


def _parameters():
    """Return the name of every parameter that a page reads."""
    source = "".join(path.read_text() for path in Path(guard.__file__).parent.glob("*.py"))
    names = set(re.findall(r'call\.(?:text|day|number|form\.get)\("([^"]+)"', source))
    assert {"who", "names", "upload", "language", "password", "page"} <= names
    return sorted(names | {"date"})


@pytest.mark.parametrize(
    "text",
    ["'; DROP TABLE roster; --", '" OR 1=1 --', "%", "../../etc/passwd", "\x00", "9" * 1100],
)
def test_strange_texts_do_no_harm(tmp_path, text):
    programme, client = local_page(tmp_path)
    token, values = csrf(client), dict.fromkeys(_parameters(), text)
    for route in ROUTES:
        if route.path == "/logout":
            continue
        if route.method == "GET":
            answer = client.get(_path(route), params=values)
        else:
            answer = client.post(_path(route), data={**values, "csrf": token})
        assert answer.status_code < 500, (route.path, text)
    assert find_people(programme, DAY, search="Ada").total == 1
    assert all_accounts(programme) == []


def test_no_cell_is_a_formula(tmp_path):
    programme = begin(tmp_path)
    evil = ("=1+1", "+1", "-1", "@SUM(A1)")
    roster = "name,group,cost\n" + "".join(f'"{name}",all,10\n' for name in evil)
    fill(programme, tmp_path, roster, 'name,capacity\n"=cmd()",60\n', "")
    sheet(programme.folder, "transitions.csv", TRANSITIONS)
    client = page_of(programme)
    rows = list(csv.DictReader(client.get("/today/file.csv").text.splitlines()))
    assert rows
    for row in rows:
        assert row["who"][0] not in "=+-@\t\r"
        assert row["by"][0] not in "=+-@\t\r"
    book = load_workbook(io.BytesIO(client.get("/today/file.xlsx").content))
    cells = [cell for page in book for row in page.iter_rows() for cell in row]
    assert "=cmd()" in {cell.value for cell in cells}
    assert {cell.data_type for cell in cells} <= {"s", "n", "d", "inlineStr"}


@pytest.mark.parametrize(
    "path",
    ["/static/../guard.py", "/static/%2e%2e/guard.py", "/static/..%2fguard.py", "/today/file.py"],
)
def test_no_path_leads_out(tmp_path, path):
    _, client = local_page(tmp_path)
    assert client.get(path).status_code == 404


def test_too_much_is_refused(tmp_path):
    _, client = local_page(tmp_path)
    assert send(client, "/today/wish", text="x" * 2_000_001).status_code == 413
    assert send(client, "/login", name="x" * 10_001).status_code == 413


def test_nothing_is_read_of_whoever_is_refused(programme):
    client = page_of(programme)

    def body():
        raise AssertionError
        yield b""

    form = {"content-type": "application/x-www-form-urlencoded"}
    answer = client.post("/import/check", content=body(), headers=form)
    assert answer.headers["location"] == "/login"


@pytest.mark.parametrize("charset", ["utf-7", "unicode_escape", "undefined", "idna", '"utf-16"'])
def test_a_form_in_another_encoding_is_refused(programme, charset):
    client = page_of(programme)
    kind = f"multipart/form-data; boundary=b; charset={charset}"
    part = b'--b\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n+2AA-\\ud800\r\n--b--\r\n'
    assert client.post("/login", content=part, headers={"content-type": kind}).status_code == 415
    kind = "application/x-www-form-urlencoded;charset=UTF-8"
    token = f"csrf={csrf(client)}&name=x&password=y"
    assert client.post("/login", content=token, headers={"content-type": kind}).status_code == 401


def test_what_goes_wrong_in_the_server_is_a_page_that_protects(tmp_path, monkeypatch):
    _, client = local_page(tmp_path)
    monkeypatch.setattr(guard, "read_programme", lambda _: 1 / 0)
    failing = TestClient(client.app, "https://localhost", raise_server_exceptions=False)
    answer = failing.get("/")
    assert answer.status_code == 500
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "ZeroDivisionError" not in answer.text
    assert answer.headers["strict-transport-security"].startswith("max-age=")
    assert "strict-transport-security" not in client.get("/static/page.css").headers


def test_a_programme_that_cannot_be_opened_says_so_and_not_where_it_is(tmp_path, caplog):
    programme, client = local_page(tmp_path)
    (programme.folder / FILE).write_bytes(b"")
    answer = client.get("/")
    assert answer.status_code == 503
    assert "cannot be opened" in answer.text
    assert str(tmp_path) not in answer.text
    assert "0 bytes" in caplog.text


def test_no_address_leads_to_another_host(tmp_path):
    _, client = local_page(tmp_path)
    answer = client.get("/accounts/", headers={"host": "evil.example"})
    assert answer.status_code == 404


def test_without_accounts_the_page_is_for_whoever_began_it(tmp_path):
    programme = known(tmp_path)
    app = create_app(programme.folder, DAY, key="secret")
    client = TestClient(
        app, "http://localhost:8000", client=("127.0.0.1", 1), follow_redirects=False
    )
    for path in ("/", "/enter", "/enter?key=wrong", "/accounts"):
        assert client.get(path).status_code == 403
    assert client.get("/enter?key=secret").headers["location"] == "/"
    assert client.get("/accounts").status_code == 200
    with pytest.raises(ProblemError, match="has no accounts"):
        serve(programme.folder, proxy="127.0.0.1")
