"""What each role sees: a worker their own visits, a viewer numbers without names."""

import re

import pytest
from web_cases import DAY, PASSWORD, csrf, page_of, send, sign_in, with_accounts

from sequoia_programme.accounts import sessions_of
from sequoia_programme.history import find_events, find_history
from sequoia_programme.people import add_note
from sequoia_programme.plans import PlannedTask, StoredPlan
from sequoia_programme.today import publish
from sequoia_programme.web.call import SESSION

NAMES = ("Ada", "Grace", "Zoë", "Nurse Anna", "Nurse Bo")


def _task(who, by, when="", minutes=20.0):
    return PlannedTask(DAY, by, when, who, "visit", minutes, "good, seen now", 1.0)


@pytest.fixture
def programme(tmp_path):
    found = with_accounts(tmp_path)
    tasks = [_task("Ada", "Nurse Anna"), _task("Zoë", "Nurse Anna"), _task("Grace", "Nurse Bo")]
    assert publish(found, StoredPlan(DAY, "price", "", {}, tasks))
    return found


def _signed_in(programme, name):
    client = page_of(programme)
    assert sign_in(client, name).status_code == 303
    return client


def _states(programme, who):
    return [one.state or one.kind for one in find_events(programme, who, DAY, DAY)[1]]


def test_a_viewer_sees_no_name_anywhere(programme):
    client = _signed_in(programme, "view")
    assert client.get("/").headers["location"] == "/numbers"
    for path in ("/numbers", "/quality", "/account"):
        text = client.get(path).text
        assert not [name for name in NAMES if name in text], path
    text = client.get("/numbers").text
    assert '<td class="number">3</td>' in text
    assert "young" in text


def test_a_worker_sees_their_own_visits_in_order_with_what_is_needed(programme):
    add_note(programme, "Ada", "Rings twice.")
    client = _signed_in(programme, "work")
    assert client.get("/").headers["location"] == "/my"
    text = client.get("/my", params={"by": "Nurse Bo"}).text
    assert "Grace" not in text
    assert "Nurse Bo" not in text
    assert re.findall(r'name="who" value="([^"]+)"', text) == ["Ada", "Zoë"]
    assert re.findall(r"<time[^>]*>([\d:]+)</time>", text) == ["08:30", "08:50"]
    assert "Rings twice." in text


def test_a_worker_records_their_own_visits_and_no_others(programme):
    client = _signed_in(programme, "work")
    token = csrf(client, "/my")
    script = {"accept": "application/json", "x-csrf": token}

    def record(who, state, **more):
        fields = {"who": who, "state": state, "date": str(DAY), **more}
        return client.post("/record/send", data=fields, headers=script)

    assert record("Ada", "good").status_code == 200
    assert _states(programme, "Ada") == ["good"]
    for who, more in (("Grace", {}), ("Ada", {"by": "Nurse Bo"}), ("Ada", {"only_seen": "1"})):
        answer = record(who, "lapsed", **more)
        assert answer.status_code == 422
        assert "not among the visits of Nurse Anna" in answer.json()["error"]
    assert record("Ada", "lapsed").status_code == 422
    assert record("Ada", "lapsed", correct="1").status_code == 200
    assert _states(programme, "Ada") == ["lapsed"]
    assert record("Zoë", "not at home").status_code == 200
    assert find_history(programme, DAY, DAY)[0].outcomes[1].instead.kind == "not at home"


def test_a_visit_that_was_none_after_all_is_taken_back(programme):
    client = _signed_in(programme, "work")
    for state, left in (("good", ["good"]), ("refused", ["refused"]), ("lapsed", ["lapsed"])):
        send(client, "/record/send", who="Ada", state=state, correct="1")
        assert _states(programme, "Ada") == left


def test_a_worker_corrects_until_the_day_is_closed(programme):
    client = _signed_in(programme, "work")
    send(client, "/record/send", who="Ada", state="good")
    later = page_of(programme, DAY.replace(day=5))
    later.cookies.update(client.cookies)
    answer = send(later, "/record/send", who="Ada", state="lapsed", correct="1", date=str(DAY))
    assert answer.status_code == 422
    assert "is closed" in answer.text
    # What waited for a connection arrives all the same.
    assert send(later, "/record/send", who="Zoë", state="good", date=str(DAY)).status_code == 303
    assert _states(programme, "Zoë") == ["good"]


def test_own_password_and_sessions(programme):
    client, other = _signed_in(programme, "work"), _signed_in(programme, "work")
    answer = send(client, "/account/password", old="wrong", password="another password")
    assert answer.status_code == 422
    assert other.get("/my").status_code == 200
    [session] = re.findall(r'name="session" value="(\w+)"', client.get("/account").text)
    send(client, "/account/end", session=session)
    assert other.get("/my").headers["location"].startswith("/login")
    other = _signed_in(programme, "work")
    assert send(client, "/account/password", old=PASSWORD, password="password12").status_code == 422
    send(client, "/account/password", old=PASSWORD, password="another password")
    assert other.get("/my").headers["location"].startswith("/login")
    assert client.get("/my").status_code == 200
    assert sign_in(page_of(programme), "work").status_code == 401


def test_a_worker_has_a_calendar_at_an_address_that_can_be_voided(programme):
    client = _signed_in(programme, "work")
    text = send(client, "/account/calendar").text
    path = re.search(r"(/calendar/[^\"]+\.ics)", text)[1]
    calendar = page_of(programme).get(path).text
    assert calendar.count("BEGIN:VEVENT") == 2
    assert "Grace" not in calendar
    send(client, "/account/calendar", end="1")
    assert page_of(programme).get(path).status_code == 404


def test_nobody_ends_the_session_of_another(programme):
    client, other = _signed_in(programme, "plan"), _signed_in(programme, "work")
    token = other.cookies[SESSION]
    mine = re.findall(r'name="session" value="(\w+)"', client.get("/account").text)
    assert mine == []
    [theirs] = sessions_of(programme, "work", token)
    send(client, "/account/end", session=theirs.digest)
    assert other.get("/my").status_code == 200
