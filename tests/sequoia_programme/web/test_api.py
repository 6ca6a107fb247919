"""The programming interface: what it says of itself is so, and nobody gets in without a token."""

import json
import re
from datetime import timedelta

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from web_cases import DAY, page_of

from programme_cases import known, sheet
from sequoia.errors import ProblemError
from sequoia_programme import repeats, schema, tokens
from sequoia_programme.history import find_events, find_history, read_journal
from sequoia_programme.importing import import_sheets
from sequoia_programme.people import find_people
from sequoia_programme.schema import ARM, answers
from sequoia_programme.tokens import SCOPES, add_token, all_tokens, find_token, remove_token
from sequoia_programme.web.openapi import description
from sequoia_programme.web.operations import OPERATIONS

BASE = "/api/v1"
# Which scope each operation needs: a new one without its entry fails.
SCOPE_OF = {
    "GET /programme": "read",
    "GET /people": "read",
    "PUT /people": "plan",
    "GET /people/one": "read",
    "POST /people/notes": "plan",
    "POST /absences": "plan",
    "DELETE /absences": "plan",
    "POST /leaves": "plan",
    "GET /staff": "read",
    "PUT /staff": "plan",
    "POST /staff/calendar": "plan",
    "DELETE /staff/calendar": "plan",
    "GET /plans/{date}": "read",
    "GET /plans/{date}/why": "read",
    "POST /plans/{date}/publication": "plan",
    "DELETE /plans/{date}/publication": "plan",
    "POST /plans/{date}/wishes": "plan",
    "DELETE /plans/{date}/wishes": "plan",
    "POST /plans/{date}/wishes/undo": "plan",
    "GET /records": "read",
    "POST /records": "record",
    "GET /rules": "read",
    "POST /rules": "manage",
    "DELETE /rules": "manage",
    "GET /job": "read",
    "POST /job": "manage",
    "DELETE /job": "manage",
    "GET /journal": "manage",
}


class Client:
    """Another system: a token, and answers that are checked against the description."""

    def __init__(self, programme, scopes=SCOPES):
        self.page = page_of(programme)
        self.description = self.page.get(f"{BASE}/openapi.json").json()
        number = len(all_tokens(programme))
        self.token = add_token(programme, f"system {number}", scopes, 1)

    def ask(self, method, path, body=None, key="", **query):
        headers = {"authorization": f"Bearer {self.token}"}
        headers |= {"idempotency-key": key} if key else {}
        asked = {"headers": headers, "params": query}
        answer = self.page.request(method, f"{BASE}{path}", json=body, **asked)
        pattern = re.sub(r"\d{4}-\d\d-\d\d", "{date}", path)
        said = self.description["paths"][pattern][method.lower()]["responses"]
        of = said["200" if answer.status_code == 200 else "default"]["content"]
        kind = answer.headers["content-type"]
        whole = {**of[kind]["schema"], "components": self.description["components"]}
        jsonschema.validate(answer.json(), whole)
        return answer

    def get(self, path, **query):
        answer = self.ask("GET", path, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def programme(tmp_path_factory):
    return known(tmp_path_factory.mktemp("api"))


@pytest.fixture
def client(tmp_path):
    found = known(tmp_path)
    made = Client(found)
    made.programme = found
    return made


def test_every_operation_has_its_entry():
    assert {f"{one.method} {one.path}": one.scope for one in OPERATIONS} == SCOPE_OF


@pytest.mark.parametrize("scope", [None, "wrong", *SCOPES])
def test_a_token_is_for_its_scopes_only(tmp_path, scope):
    programme = known(tmp_path)
    page = page_of(programme)
    secret = add_token(programme, "other", [scope], 1) if scope in SCOPES else "x" * 43
    headers = {} if scope is None else {"authorization": f"Bearer {secret}"}
    before = len(read_journal(programme, 100))
    for entry, wanted in SCOPE_OF.items():
        method, path = entry.split()
        answer = page.request(method, BASE + path.replace("{date}", str(DAY)), headers=headers)
        if wanted != scope:
            assert answer.status_code == (403 if scope in SCOPES else 401), entry
            assert answer.json()["errors"]
        else:
            assert answer.status_code not in (401, 403, 405), entry
    if scope not in ("plan", "record", "manage"):
        assert len(read_journal(programme, 100)) == before
    export = page.get(f"{BASE}/export.json", headers=headers)
    assert (export.status_code == 200) is (scope == "manage")
    metrics = page.get("/metrics", headers=headers)
    assert (metrics.status_code == 200) is (scope == "metrics")


def test_a_session_is_no_token_and_a_token_no_session(client):
    assert client.page.get("/people").status_code == 200
    assert client.page.get(f"{BASE}/people").status_code == 401


def test_the_description_is_whole():
    made = description(BASE, OPERATIONS)
    assert made["openapi"].startswith("3.1")
    text = json.dumps(made)
    for name in re.findall(r'"#/components/schemas/([^"]+)"', text):
        assert name in made["components"]["schemas"]
    every = [one for path in made["paths"].values() for one in path.values()]
    assert len({one["operationId"] for one in every}) == len(OPERATIONS)
    assert all(one["summary"] for one in every)
    for schema_of in made["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema_of)


def test_a_day_from_wish_to_record(client):
    day = f"/plans/{DAY}"
    plan = client.get(day)
    assert not plan["is_published"]
    assert client.get(f"{day}/why", who="Ada")["cost"] is not None
    wish = {"option": "never", "text": "Grace"}
    assert client.ask("POST", f"{day}/wishes", wish).status_code == 200
    old = client.ask("POST", f"{day}/publication", {"digest": plan["digest"]})
    assert old.status_code == 409
    plan = client.get(day)
    assert plan["wishes"] == [wish]
    assert client.ask("POST", f"{day}/publication", {"digest": plan["digest"]}).status_code == 200
    plan = client.get(day)
    assert plan["is_published"]
    who = plan["visits"][0]["who"]
    done = client.ask("POST", "/records", {"who": who, "state": "good", "date": str(DAY)})
    assert done.status_code == 200
    assert client.get(day)["visits"][0]["became"] == "good"
    records = client.get("/records", first=str(DAY), last=str(DAY))
    assert [one["who"] for one in records["items"]] == [who]
    assert client.ask("DELETE", f"{day}/publication", digest=plan["digest"]).status_code == 200
    assert find_history(client.programme, DAY, DAY) == []
    assert read_journal(client.programme, 1)[0].by == "token system 0"


def test_people_staff_rules_and_lists(client):
    person = {"name": "Noor", "group": "young", "facts": {"cost": "20"}}
    assert client.ask("PUT", "/people", person).status_code == 200
    away = {"who": "Noor", "first": str(DAY), "last": str(DAY + timedelta(3))}
    assert client.ask("POST", "/absences", away).status_code == 200
    assert (
        client.ask("POST", "/people/notes", {"who": "Noor", "words": "Rings."}).status_code == 200
    )
    noor = client.get("/people/one", who="Noor")
    assert (noor["standing"], noor["notes"][0]["words"]) == ("away", "Rings.")
    assert client.ask("DELETE", "/absences", who="Noor").status_code == 200
    assert client.ask("POST", "/leaves", {"who": "Noor", "left": str(DAY)}).status_code == 200
    assert client.get("/people/one", who="Noor")["standing"] == "gone"
    names, after = [], 0
    while after is not None:
        page = client.get("/people", limit=3, after=after)
        names += [one["name"] for one in page["items"]]
        after = page["next"]
    assert sorted(names) == ["Ada", "Grace", "Noor", "Zoë"]
    assert (
        client.ask("PUT", "/staff", {"name": "Cy", "facts": {"capacity": "60"}}).status_code == 200
    )
    assert [one["name"] for one in client.get("/staff")["items"]][-1] == "Cy"
    rule = {"kind": "never", "names": ["Grace"]}
    assert client.ask("POST", "/rules", rule).status_code == 200
    assert client.get("/rules")["items"][0]["names"] == ["Grace"]
    assert client.ask("DELETE", "/rules", rule).status_code == 200
    assert client.get("/journal", limit=2)["next"] == 2


def test_a_request_that_is_sent_again_is_done_once(client):
    note = {"who": "Ada", "words": "Rings twice."}
    for _ in range(2):
        assert client.ask("POST", "/people/notes", note, key="k").status_code == 200
    assert len(client.get("/people/one", who="Ada")["notes"]) == 1
    other = client.ask("POST", "/people/notes", {**note, "words": "Other"}, key="k")
    assert other.status_code == 409
    record = {"who": "Ada", "state": "good", "date": str(DAY)}
    for _ in range(2):
        assert client.ask("POST", "/records", record, key="r").status_code == 200
    assert len(find_events(client.programme, "Ada", DAY, DAY)[1]) == 1
    # A server that was killed before it answered: a record is done again, a note is asked about.
    with client.programme.store.writing() as connection:
        connection.execute(answers.update().values(status=None))
    assert client.ask("POST", "/records", record, key="r").status_code == 200
    cut = client.ask("POST", "/people/notes", note, key="k")
    assert "no answer yet" in cut.json()["errors"][0]
    # What was refused did nothing, and may be sent again with its key.
    for _ in range(2):
        assert client.ask("POST", "/people/notes", {**note, "who": "X"}, key="n").status_code == 422


@pytest.mark.parametrize(
    ("method", "path", "body", "said"),
    [
        ("POST", "/records", {"who": "Adda", "state": "good"}, "perhaps 'Ada'"),
        ("POST", "/records", {"who": "Ada", "state": "fine"}, "one of good"),
        ("POST", "/records", {"who": "Ada"}, "state: Field required"),
        ("POST", "/records", {"who": "Ada", "state": "good", "x": 1}, "x: Extra"),
        ("POST", "/records", None, "what was sent"),
        ("POST", f"/plans/{DAY}/wishes", {"option": "maybe", "text": "Ada"}, "one of absent"),
        ("GET", "/plans/2026-13-01", None, "is no date"),
        ("GET", "/people?limit=0", None, "limit"),
        ("PUT", "/people", {"name": "x" * 201}, "at most 200"),
    ],
)
def test_what_is_wrong_is_said(client, method, path, body, said):
    headers = {"authorization": f"Bearer {client.token}"}
    answer = client.page.request(method, f"{BASE}{path}", json=body, headers=headers)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert said in " ".join(answer.json()["errors"])


def test_too_much_and_half_a_request_are_refused(client):
    headers = {"authorization": f"Bearer {client.token}"}
    much = client.page.post(f"{BASE}/records", content=b"x" * 100_001, headers=headers)
    assert much.status_code == 413


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)
_TEXTS = st.sampled_from(["", "Ada", "good", "must", "\x00", "=cmd|' /C calc'!A0", "‮", "9" * 300])


@pytest.mark.parametrize(
    "operation",
    [one for one in OPERATIONS if one.path != "/job"],
    ids=lambda one: f"{one.method} {one.path}",
)
def test_nothing_that_is_sent_breaks_the_server(programme, operation):
    client = Client(programme)
    fields = [*(operation.body or operation.query).model_fields]

    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.dictionaries(st.sampled_from(fields or ["x"]), _TEXTS | _JSON) | _JSON, _TEXTS)
    def ask(body, date):
        path = operation.path.replace("{date}", str(DAY) if "Ada" in date else "x")
        query = {}
        if operation.body is None and isinstance(body, dict):
            query = {key: str(value) for key, value in body.items()}
        sent = json.dumps(body).encode()
        headers = {"authorization": f"Bearer {client.token}"}
        answer = client.page.request(
            operation.method, BASE + path, content=sent, params=query, headers=headers
        )
        assert answer.status_code < 500, answer.text

    ask()
    assert find_people(programme, DAY, search="Grace").total == 1


def test_a_calendar_is_at_a_secret_address_until_it_is_void(tmp_path):
    programme = known(tmp_path)
    roster = 'name,cost,address,lat,lon\nAda,20,"Hill St 5, town",47.1,8.5\n'
    import_sheets(programme, {ARM: sheet(tmp_path, "places.csv", roster)}, None)
    client = Client(programme)
    plan = client.get(f"/plans/{DAY}")
    client.ask("POST", f"/plans/{DAY}/publication", {"digest": plan["digest"]})
    by = next(one["by"] for one in plan["visits"] if one["who"] == "Ada")
    old = client.ask("POST", "/staff/calendar", {"who": by}).json()["path"]
    path = client.ask("POST", "/staff/calendar", {"who": by}).json()["path"]
    stranger = page_of(programme)
    assert stranger.get(old).status_code == 404
    text = stranger.get(path).text.replace("\r\n ", "")
    assert "SUMMARY:visit: Ada" in text
    assert "LOCATION:Hill St 5\\, town" in text
    assert "GEO:47.100000;8.500000" in text
    others = {one["who"] for one in plan["visits"] if one["by"] != by}
    assert not [name for name in others if f": {name}" in text]
    client.ask("DELETE", "/staff/calendar", who=by)
    assert stranger.get(path).status_code == 404


@pytest.mark.parametrize("ending", [".json", ".xlsx", ".csv"])
def test_everything_can_be_taken_along(client, ending):
    headers = {"authorization": f"Bearer {client.token}"}
    answer = client.page.get(f"{BASE}/export{ending}", headers=headers)
    assert answer.status_code == 200
    assert "attachment" in answer.headers["content-disposition"]
    if ending == ".json":
        assert {one["name"] for one in answer.json()["roster"]} == {"Ada", "Grace", "Zoë"}


def test_a_token_ends(tmp_path, monkeypatch):
    programme = known(tmp_path)
    secret = add_token(programme, "other", ["read"], 1)
    assert find_token(programme, secret).scopes == ("read",)
    later = schema.now() + timedelta(days=2)
    monkeypatch.setattr(tokens, "now", lambda: later)
    assert find_token(programme, secret) is None
    monkeypatch.undo()
    remove_token(programme, "other")
    assert find_token(programme, secret) is None
    assert secret not in (programme.folder / "records.db").read_bytes().decode("latin-1")


@pytest.mark.parametrize(
    ("scopes", "days", "said"),
    [(["all"], 1, "scope is 'all'"), ([], 1, "no scope"), (["read"], 0, "lasts 0 days")],
)
def test_bad_tokens_are_refused(tmp_path, scopes, days, said):
    with pytest.raises(ProblemError, match=said):
        add_token(known(tmp_path), "other", scopes, days)


def test_answers_are_forgotten(tmp_path, monkeypatch):
    programme = known(tmp_path)
    assert repeats.begin_answer(programme, "k", "r") is None
    later = schema.now() + timedelta(days=2)
    monkeypatch.setattr(repeats, "now", lambda: later)
    assert repeats.begin_answer(programme, "k", "other") is None
