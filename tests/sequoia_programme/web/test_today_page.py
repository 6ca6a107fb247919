"""Today's plan on the page: the plan of the command, wishes, publishing, files."""

import re
import threading
from urllib.parse import unquote

import pytest
from web_cases import DAY, local_page, page_of, send

from programme_cases import TRANSITIONS, begin, fill, sheet
from sequoia_programme import output
from sequoia_programme.drafts import set_wish, wishes_for
from sequoia_programme.history import find_history, read_journal
from sequoia_programme.output import plan_bytes
from sequoia_programme.plans import StoredPlan
from sequoia_programme.rules import FLOORS, WrittenRule, add_rule
from sequoia_programme.today import publish
from sequoia_programme.web import today
from sequoia_programme.web.words import LANGUAGES, words_in


def _published(programme):
    return [one.plan for one in find_history(programme, DAY, DAY)]


def _digest(client):
    return re.search(r'name="digest" value="(\w+)"', client.get("/").text)[1]


def _undo(client):
    last = re.search(r'name="last" value="([^"]+)"', client.get("/").text)
    return send(client, "/today/undo", last=last[1] if last else "")


def _withdraw(client):
    return send(client, "/today/withdraw", digest=_digest(client))


def test_a_plan_is_wished_published_and_taken_back(tmp_path):
    programme, client = local_page(tmp_path)
    assert "Nurse Anna" in client.get("/").text
    send(client, "/today/wish", add="absent:Nurse Anna")
    text = client.get("/").text
    assert "is absent" in text
    assert re.search(r"All wishes together cost \d", text)
    send(client, "/today/publish", digest=_digest(client))
    plan = _published(programme)[0]
    assert plan.overrides == {"absent": ["Nurse Anna"]}
    assert {task.by for task in plan.tasks} == {"Nurse Bo"}
    assert "Published" in client.get("/").text
    _withdraw(client)
    assert _published(programme) == []
    assert "is absent" in client.get("/").text


def test_a_plan_that_nobody_saw_is_not_published(tmp_path):
    programme, client = local_page(tmp_path)
    seen = _digest(client)
    other = page_of(programme)
    send(other, "/today/wish", add="absent:Nurse Anna")
    answer = send(client, "/today/publish", digest=seen)
    assert "changed%20meanwhile" in answer.headers["set-cookie"]
    assert _published(programme) == []


def test_a_wish_in_the_moment_of_publishing_is_not_lost(tmp_path, monkeypatch):
    programme, client = local_page(tmp_path)
    seen = _digest(client)
    publish = today.publish_plan

    def publishing(*arguments):
        set_wish(programme, DAY, "never", "Ada")
        return publish(*arguments)

    monkeypatch.setattr(today, "publish_plan", publishing)
    answer = send(client, "/today/publish", digest=seen)
    assert "changed%20meanwhile" in answer.headers["set-cookie"]
    assert _published(programme) == []
    with programme.store.reading() as connection:
        assert wishes_for(connection, DAY) == {"never": ["Ada"]}


def test_two_clicks_take_one_thing_back(tmp_path):
    programme, client = local_page(tmp_path)
    send(client, "/today/publish", digest=_digest(client))
    send(client, "/today/wish", add="never:Ada")
    send(client, "/today/publish", digest=_digest(client))
    seen = _digest(client)
    for _ in range(2):
        send(client, "/today/withdraw", digest=seen)
    assert [dict(plan.overrides) for plan in _published(programme)] == [{}]
    send(client, "/today/wish", add="never:Grace")
    last = re.search(r'name="last" value="([^"]+)"', client.get("/").text)[1]
    for _ in range(2):
        send(client, "/today/undo", last=last)
    with programme.store.reading() as connection:
        assert wishes_for(connection, DAY) == {"never": ["Ada"]}


def _wishes(programme):
    with programme.store.reading() as connection:
        return wishes_for(connection, DAY)


def test_a_wish_that_cannot_be_met_changes_nothing_and_shows_ways_out(tmp_path):
    programme, client = local_page(tmp_path)
    send(client, "/today/wish", add="absent:Nurse Anna")
    send(client, "/today/wish", add="absent:Nurse Bo")
    before = _wishes(programme)
    answer = send(client, "/today/wish", add="must:", text="Grace")
    assert answer.status_code == 422
    assert "This wish cannot be met" in answer.text
    assert _wishes(programme) == before
    assert 'action="/today/publish"' in answer.text
    ways = re.findall(r'name="instead" value="([^"]+)"', answer.text)
    assert ways == ["absent:Nurse Anna", "absent:Nurse Bo"]
    send(client, "/today/wish", add="must:Grace", instead=ways[0])
    assert _wishes(programme) == {"absent": ["Nurse Bo"], "must": ["Grace"]}
    _undo(client)
    assert _wishes(programme) == before


def test_wishes_that_cannot_be_any_more_leave_what_is_published(tmp_path):
    programme, client = local_page(tmp_path)
    send(client, "/today/publish", digest=_digest(client))
    names = {task.who for task in _published(programme)[0].tasks}
    set_wish(programme, DAY, "absent", "Nurse Anna")
    set_wish(programme, DAY, "absent", "Nurse Bo")
    set_wish(programme, DAY, "must", "Ada")
    text = client.get("/").text
    assert "There is no plan for these wishes" in text
    assert "What was published holds" in text
    assert all(name in text for name in names)
    _undo(client)
    assert "There is no plan" not in client.get("/").text


def test_wishes_and_publishing_at_the_same_moment_lose_nothing(tmp_path):
    programme, _ = local_page(tmp_path)
    names = ["Ada", "Grace", "Zoë"]

    def wishing():
        for name in names:
            set_wish(programme, DAY, "never", name)

    def publishing():
        for _ in range(10):
            wishes = _wishes(programme)
            publish(programme, StoredPlan(DAY, "price", "", wishes, ()))

    threads = [threading.Thread(target=one) for one in (wishing, publishing, publishing)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(_wishes(programme)["never"]) == names


def test_a_programme_without_people_shows_the_way_to_a_plan(tmp_path):
    client = page_of(begin(tmp_path))
    answer = client.get("/")
    assert answer.status_code == 200
    for way in ('href="/import"', 'href="/staff"', "serve --demo"):
        assert way in answer.text


def test_numbers_are_in_the_unit_of_the_programme(tmp_path):
    programme, client = local_page(tmp_path)
    assert "points of reward" in client.get("/").text
    settings = programme.folder / "programme.toml"
    settings.write_text('unit = "weeks in good health"\n' + settings.read_text())
    text = client.get("/").text
    assert re.search(r"worth \+[\d.]+ weeks in good health more than doing nothing", text)
    who = unquote(re.search(r'today/why[^"]+who=([^"]+)"', text)[1])
    why = client.get("/today/why", params={"who": who}).text
    assert re.search(r"would cost [\d.]+ weeks in good health", why)


def test_a_worker_has_the_same_colour_in_the_list_and_on_the_map(tmp_path):
    programme = begin(tmp_path)
    roster = "name,group,cost,lat,lon\nAda,all,20,47.0,8.0\nGrace,all,20,47.1,8.0\n"
    fill(programme, tmp_path, roster, "name,capacity\nNurse Anna,5\nNurse Bo,60\n", "")
    sheet(programme.folder, "transitions.csv", TRANSITIONS)
    client = page_of(programme)
    in_list = re.search(r'dot (w\d)" aria-hidden="true"></span>Nurse Bo', client.get("/").text)[1]
    text = client.get("/", params={"view": "map"}).text
    assert set(re.findall(r'<(?:g|polyline) class="(w\d)"', text)) == {in_list}
    assert re.search(rf'dot {in_list}" aria-hidden="true"></span>Nurse Bo', text)
    assert "2 km" in text
    assert "North is at the top" in text


@pytest.mark.parametrize("ending", [".csv", ".html", ".ics"])
def test_a_file_is_that_of_the_command(tmp_path, ending):
    programme, client = local_page(tmp_path)
    send(client, "/today/publish", digest=_digest(client))
    answer = client.get(f"/today/file{ending}")
    assert answer.content == plan_bytes(programme, _published(programme)[0], ending)
    assert "attachment" in answer.headers["content-disposition"]


def test_a_plan_is_printed_where_a_browser_is(tmp_path, monkeypatch):
    _, client = local_page(tmp_path)
    monkeypatch.setattr(output, "pdf_bytes", lambda page: page.encode())
    monkeypatch.setattr(today, "find_browser", lambda: "chromium")
    assert "/today/file.pdf" in client.get("/").text
    answer = client.get("/today/file.pdf")
    assert answer.headers["content-type"] == "application/pdf"
    assert b"Nurse Anna" in answer.content
    monkeypatch.setattr(today, "find_browser", lambda: None)
    assert "/today/file.pdf" not in client.get("/").text


def test_every_visit_says_why(tmp_path):
    programme, client = local_page(tmp_path)
    send(client, "/today/publish", digest=_digest(client))
    for task in _published(programme)[0].tasks:
        text = client.get("/today/why", params={"who": task.who}).text
        assert re.search(rf"Leaving {task.who} out would cost \d", text)


def test_the_journal_says_what_was_done_on_the_page(tmp_path):
    programme, client = local_page(tmp_path)
    send(client, "/today/wish", add="never:Ada")
    assert read_journal(programme, 1)[0].words == f"Wished for {DAY}: never Ada."
    assert "never Ada" in client.get("/journal").text


def test_all_languages_say_the_same_things():
    english = words_in("en")
    for language in LANGUAGES:
        words = words_in(language)
        assert set(words.texts) == set(english.texts)
        for key, text in words.texts.items():
            parts = re.compile(r"\{\w+\}")
            assert sorted(parts.findall(text)) == sorted(parts.findall(english.texts[key])), key


def test_a_page_is_in_the_language_of_its_reader(tmp_path):
    _, client = local_page(tmp_path)
    german = {"accept-language": "de-AT,en;q=0.5"}
    assert "Mittwoch, 4. November 2026" in client.get("/", headers=german).text
    send(client, "/language", language="de")
    assert "Mittwoch" in client.get("/").text


def test_what_the_library_says_is_in_the_language_too(tmp_path):
    programme, client = local_page(tmp_path)
    client.headers["accept-language"] = "de"
    add_rule(programme, WrittenRule(FLOORS, ("old",), share=0.5), DAY)
    send(client, "/today/wish", add="never:Ada")
    send(client, "/today/publish", digest=_digest(client))
    send(client, "/people/add", name="Noor", group="old", cost="20")
    send(client, "/record/send", who="Ada", state="good")
    said = words_in("de").said
    for line in read_journal(programme, 100):
        assert said(line.words) != line.words
    text = client.get("/journal").text
    assert "Regel hinzugefügt: mindestens 50 % der Besuche gehen an old." in text
    assert f"Plan für {DAY} durch price veröffentlicht, Aufgaben: 2 (nicht besuchen: Ada)." in text
    assert "Erfasst, 1 neue Beobachtung, 1 neuer Besuch: Ada good am 2026-11-04." in text
    assert "Niemand heißt &#39;Adda&#39;; vielleicht ist" in client.get("/people/one?who=Adda").text
    send(client, "/today/wish", add="must:Noor")
    assert "pro Schritt in 2 durchgespielten Verläufen" in client.get("/").text
    assert "2 Personen mit 30 bis 60 Minuten (90 insgesamt)" in client.get("/staff").text


def test_every_saying_is_found_by_its_words():
    german = words_in("de")
    usual = dict.fromkeys(("day", "first", "last"), "2026-11-04") | {"n": 2, "m": 3}
    sayings = {k: text for k, text in words_in("en").texts.items() if k.startswith("said.")}
    for key, text in sayings.items():
        values = {name: usual.get(name, name) for name in re.findall(r"\{(\w+)\}", text)}
        assert german.said(text.format(**values)) == german(key, **values)


@pytest.mark.parametrize(
    ("text", "german"),
    [
        (
            "likely poor (71 %), last seen 12 days ago",
            "wohl poor (71 %), vor 12 Tagen gesehen",
        ),
        ("good, seen now", "good, gerade gesehen"),
        ("likely good (51 %), never seen", "wohl good (51 %), nie gesehen"),
        ("lapsed, last seen 1 week ago", "lapsed, vor einer Woche gesehen"),
    ],
)
def test_beliefs_are_said_in_the_language(text, german):
    assert words_in("de").belief(text) == german


@pytest.mark.parametrize(
    ("add", "text", "said"),
    [
        ("must:Adda", "", "names no arm"),
        ("absent:Ada", "", "names no worker"),
        ("lock:", "Nurse Anna=Nobody", "names no arm"),
        ("hours:", "Nurse Anna=soon", "gives no hours"),
        ("order:", "Ada", "is no order"),
    ],
)
def test_a_wish_that_says_nothing_is_not_kept(tmp_path, add, text, said):
    programme, client = local_page(tmp_path)
    answer = send(client, "/today/wish", add=add, text=text)
    assert answer.status_code == 422
    assert said in answer.text
    assert "Nurse Bo" in answer.text
    assert 'action="/today/publish"' in answer.text
    assert _wishes(programme) == {}
    assert client.get("/today/file.csv").status_code == 200


def test_a_file_for_wishes_without_a_plan_says_why(tmp_path):
    programme, client = local_page(tmp_path)
    set_wish(programme, DAY, "must", "Nobody Here")
    answer = client.get("/today/file.csv")
    assert answer.status_code == 422
    assert "names no arm" in answer.text


def test_the_hours_that_were_said_last_hold(tmp_path):
    programme, client = local_page(tmp_path)
    for hours in (30, 20):
        send(client, "/today/wish", add=f"hours:Nurse Anna={hours}")
    with programme.store.reading() as connection:
        assert wishes_for(connection, DAY) == {"hours": ["Nurse Anna=20"]}
