"""People, recording and staff on the page."""

import re

import pytest
from web_cases import DAY, csrf, local_page, page_of, send

from programme_cases import begin, fill
from sequoia_programme.history import find_events, read_journal
from sequoia_programme.people import find_people, find_person
from sequoia_programme.recording import record
from sequoia_programme.situation import find_situation


def _events(programme, who):
    return [(str(one.date), one.state, one.by) for one in find_person(programme, who, DAY).events]


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ({}, ["Ada", "Grace", "Zoë"]),
        ({"search": "ZO"}, ["Zoë"]),
        ({"search": "ë"}, ["Zoë"]),
        ({"search": "%"}, []),
        ({"group": "old"}, ["Grace", "Zoë"]),
        ({"state": "at risk"}, ["Grace", "Zoë"]),
        ({"standing": "gone"}, []),
        ({"first": 1, "most": 1}, ["Grace"]),
    ],
)
def test_people_are_found(tmp_path, asked, names):
    programme, _ = local_page(tmp_path)
    found = find_people(programme, DAY, **asked)
    assert [one.name for one in found.people] == names
    assert found.groups == ["old", "young"]


def test_what_is_believed_of_somebody_is_what_the_plan_believes(tmp_path):
    programme, _ = local_page(tmp_path)
    situation = find_situation(programme, DAY)
    for number, one in enumerate(situation.arms):
        person = find_person(programme, one.name, DAY)
        assert person.dates[-1] == DAY
        assert person.belief[-1] == pytest.approx(situation.belief[number])


def test_somebody_joins_pauses_and_leaves(tmp_path):
    programme, client = local_page(tmp_path)
    send(client, "/people/add", name="Mary", group="old", cost="25")
    assert find_person(programme, "Mary", DAY).member.facts["cost"] == "25"
    send(client, "/people/pause", who="Mary", first="2026-11-04", last="2026-11-06")
    assert find_person(programme, "Mary", DAY).standing == "away"
    send(client, "/people/pause", who="Mary", back="1")
    assert find_person(programme, "Mary", DAY).standing == "here"
    send(client, "/people/leave", who="Mary", left="2026-11-04")
    assert find_person(programme, "Mary", DAY).standing == "gone"
    send(client, "/people/note", who="Mary", words="rings twice")
    assert "rings twice" in client.get("/people/one?who=Mary").text


def test_a_cost_that_is_no_number_is_refused(tmp_path):
    programme, client = local_page(tmp_path)
    answer = send(client, "/people/add", name="Mary", group="old", cost="many")
    assert answer.status_code == 422
    assert find_people(programme, DAY, search="Mary").total == 0


def test_an_outcome_is_recorded_once_whatever_is_sent_again(tmp_path):
    programme, client = local_page(tmp_path)
    headers = {"accept": "application/json", "x-csrf": csrf(client)}
    first = {"who": "Ada", "state": "lapsed", "by": "Nurse Bo", "date": str(DAY), "key": "a1"}
    for _ in range(3):
        assert client.post("/record/send", data=first, headers=headers).status_code == 200
    better = {**first, "state": "good", "correct": "1", "key": "a2"}
    assert client.post("/record/send", data=better, headers=headers).status_code == 200
    late = client.post("/record/send", data=first, headers=headers)
    assert late.json()["words"] == "1 new sighting and 1 new visit"
    assert _events(programme, "Ada")[0] == (str(DAY), "good", "Nurse Bo")
    assert len(find_events(programme, "Ada", DAY, DAY)[1]) == 1


def test_a_contradiction_is_said_and_nothing_changes(tmp_path):
    programme, client = local_page(tmp_path)
    record(programme, ["Ada=good"], DAY, by="Nurse Bo")
    headers = {"accept": "application/json", "x-csrf": csrf(client)}
    other = {"who": "Ada", "state": "lapsed", "by": "Nurse Bo", "date": str(DAY), "key": "b"}
    answer = client.post("/record/send", data=other, headers=headers)
    assert answer.status_code == 422
    assert "has the state 'good' already" in answer.json()["error"]
    assert _events(programme, "Ada")[0] == (str(DAY), "good", "Nurse Bo")


def test_hours_and_absences_of_staff_change_the_plan(tmp_path):
    programme, client = local_page(tmp_path)
    send(client, "/staff/change", name="Nurse Bo", **{"fact capacity": "45"})
    send(client, "/staff/absent", who="Nurse Anna", first=str(DAY))
    situation = find_situation(programme, DAY)
    assert situation.absences.absent == ("Nurse Anna",)
    assert {one.name: one.facts["capacity"] for one in situation.workers}["Nurse Bo"] == "45"
    assert read_journal(programme, 1)[0].words == f"Nurse Anna is absent from {DAY} to {DAY}."
    assert "capacity" in client.get("/staff").text


def test_a_worker_can_be_wished_for_and_half_a_day(tmp_path):
    _, client = local_page(tmp_path)
    send(client, "/today/wish", add="lock:", worker="Nurse Bo", who="Grace")
    send(client, "/today/wish", add="hours:Nurse Anna=30")
    text = client.get("/").text
    assert re.search("<b>Grace</b> *<span[^>]*>is visited by Nurse Bo", text)
    assert "of 30 min" in text
    assert "There is no plan" not in text


def test_half_a_day_is_offered_wherever_hours_are_counted(tmp_path):
    programme = begin(tmp_path, kind="rota", slots=("am", "pm"))
    roster = "name,group,minutes,visits,am,pm\nAda,x,30,1,1,1\nGrace,x,30,1,1,1\n"
    fill(programme, tmp_path, roster=roster, staff="name,am,pm\nAnna,60,0\nBo,60,60\n", log="")
    client = page_of(programme)
    for half in ("Anna=0.5", "Bo=1"):
        assert f'name="add" value="hours:{half}"' in client.get("/").text
    send(client, "/today/wish", add="hours:Bo=1")
    text = client.get("/").text
    assert 'name="remove" value="hours:Bo=1"' in text
    assert "of 1 min" not in text
    assert "There is no plan" not in text


def test_a_day_without_a_plan_is_compared_by_what_was_done(tmp_path):
    _, client = local_page(tmp_path)
    text = client.get("/today/compare?date=2026-11-03").text
    assert "There is no plan of Monday 2 November" in text
    done = re.findall(r"<td>([^<]*)</td>\s*<td><span class=.chip good.>([^<]*)<", text)
    assert set(done) == {("Nurse Anna", "good"), ("Nurse Bo", "at risk")}
